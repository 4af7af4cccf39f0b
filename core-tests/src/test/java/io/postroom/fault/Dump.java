package io.postroom.fault;

import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A whole database, carried to another cluster by {@code pg_dump} and {@code pg_restore}, where there are some that know the server. */
final class Dump {
    private static final Pattern VERSION = Pattern.compile("\\(PostgreSQL\\) (\\d+)");

    private Dump() {}

    /** Programs of one version. */
    private record Tools(Path folder, int version) {}

    /** Why a database cannot be dumped here, if so. */
    static Optional<String> missing(TestDatabase source) throws IOException, InterruptedException {
        return tools(source).isPresent()
                ? Optional.empty()
                : Optional.of("there is no pg_dump of version " + version(source)
                        + " or newer here: apt-get install postgresql-client, where it is new enough");
    }

    /** Puts all that a database has in the place of what another has. */
    static void copy(TestDatabase source, TestDatabase copy) throws IOException, InterruptedException {
        Path folder = tools(source).orElseThrow().folder();
        Path file = Files.createTempFile("postroom", ".dump");
        try {
            run(folder.resolve("pg_dump"), "--format=custom", "--file=" + file, "--dbname=" + address(source));
            copy.execute("drop schema postroom cascade");
            run(folder.resolve("pg_restore"), "--exit-on-error", "--dbname=" + address(copy), file.toString());
        } finally {
            Files.delete(file);
        }
    }

    private static String address(TestDatabase database) {
        return database.url().substring("jdbc:".length());
    }

    private static long version(TestDatabase database) {
        return database.queryLong("select current_setting('server_version_num')::int / 10000");
    }

    /** The oldest that know the server: a dump of a newer one may say what an older server does not understand. */
    private static Optional<Tools> tools(TestDatabase source) throws IOException, InterruptedException {
        List<Path> folders = new ArrayList<>();
        Path debian = Path.of("/usr/lib/postgresql");
        if (Files.isDirectory(debian)) {
            try (DirectoryStream<Path> versions = Files.newDirectoryStream(debian)) {
                versions.forEach(each -> folders.add(each.resolve("bin")));
            }
        }
        for (String each : System.getenv("PATH").split(":")) {
            folders.add(Path.of(each));
        }
        List<Tools> found = new ArrayList<>();
        for (Path folder : folders) {
            if (Files.isExecutable(folder.resolve("pg_dump")) && Files.isExecutable(folder.resolve("pg_restore"))) {
                Matcher version = VERSION.matcher(run(folder.resolve("pg_dump"), "--version"));
                if (version.find()) {
                    found.add(new Tools(folder, Integer.parseInt(version.group(1))));
                }
            }
        }
        long server = version(source);
        return found.stream().filter(each -> each.version() >= server).min(Comparator.comparingInt(Tools::version));
    }

    private static String run(Path program, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(program + " ended with " + process.exitValue() + ": " + said);
        }
        return said;
    }
}
