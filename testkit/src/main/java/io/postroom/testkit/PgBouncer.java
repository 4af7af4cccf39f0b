package io.postroom.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A real PgBouncer that pools transactions in front of a PostgreSQL, where it is installed ({@code apt-get install pgbouncer}): each
 * transaction of a client may run in another session of the server. Ends with {@link #close}, and with this JVM.
 */
public final class PgBouncer implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("jdbc:postgresql://([^:/?]+)(?::(\\d+))?/([^?]*)(.*)");
    private static final Pattern VERSION = Pattern.compile("PgBouncer (\\d+)\\.(\\d+)");
    private static final long PATIENCE_SECONDS = 30;

    /** From this version on it knows the statements that a driver prepares. */
    private static final int PREPARES_FROM = 121;

    private final Process process;
    private final int port;
    private final int version;
    private final Path folder;
    private final Thread end = new Thread(this::kill, "pgbouncer-end");

    private PgBouncer(Process process, int port, int version, Path folder) {
        this.process = process;
        this.port = port;
        this.version = version;
        this.folder = folder;
        Runtime.getRuntime().addShutdownHook(end);
    }

    public static boolean isInstalled() {
        return program().isPresent();
    }

    /**
     * Starts one in front of the server of a URL, on a free port of loopback.
     *
     * @param sessions how many sessions of the server the transactions of all clients share, for each database
     */
    public static PgBouncer start(String url, int sessions) throws InterruptedException {
        String program = program()
                .orElseThrow(() -> new IllegalStateException("pgbouncer is not installed: apt-get install pgbouncer"))
                .toString();
        try {
            int version = version(program);
            int port = FreePort.find();
            Path folder = Files.createTempDirectory("postroom-pgbouncer");
            write(folder, url, port, sessions, version);
            List<String> command = new ArrayList<>(List.of(program));
            if ("root".equals(System.getProperty("user.name"))) {
                // It refuses to run as root, and changes to another user by itself.
                command.addAll(List.of("-u", "nobody"));
            }
            command.add(folder.resolve("pgbouncer.ini").toString());
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            PgBouncer started = new PgBouncer(process, port, version, folder);
            started.awaitUp();
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same URL through this pooler, with what the driver must be told: to prepare nothing, if the pooler is too old for that. */
    public String url(String url) {
        Matcher parts = parts(url);
        String settings = parts.group(4);
        return "jdbc:postgresql://127.0.0.1:" + port + "/" + parts.group(3) + settings
                + (knowsPrepared() ? "" : (settings.isEmpty() ? "?" : "&") + "prepareThreshold=0");
    }

    /** Whether statements that the driver prepares work behind it. */
    public boolean knowsPrepared() {
        return version >= PREPARES_FROM;
    }

    private static void write(Path folder, String url, int port, int sessions, int version) throws IOException {
        Matcher parts = parts(url);
        Path users = folder.resolve("users.txt");
        String serverPort = parts.group(2) == null ? "5432" : parts.group(2);
        List<String> lines = new ArrayList<>(List.of(
                "[databases]",
                "* = host=" + parts.group(1) + " port=" + serverPort,
                "[pgbouncer]",
                "listen_addr = 127.0.0.1",
                "listen_port = " + port,
                "unix_socket_dir =",
                "auth_type = trust",
                "auth_file = " + users,
                "pool_mode = transaction",
                "default_pool_size = " + sessions,
                "max_client_conn = 200",
                // What pgjdbc sends when it connects.
                "ignore_startup_parameters = extra_float_digits"));
        if (version >= PREPARES_FROM) {
            lines.add("max_prepared_statements = 200");
        }
        Files.write(folder.resolve("pgbouncer.ini"), lines);
        String user = setting(parts.group(4), "user").orElse("postgres");
        String password = setting(parts.group(4), "password").orElse("");
        Files.write(users, List.of('"' + user + "\" \"" + password + '"'));
        // For whoever it runs as.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (Path file : List.of(folder.resolve("pgbouncer.ini"), users)) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        }
    }

    private static Optional<String> setting(String settings, String name) {
        Matcher found = Pattern.compile("[?&]" + name + "=([^&]*)").matcher(settings);
        return found.find() ? Optional.of(found.group(1)) : Optional.empty();
    }

    private static Matcher parts(String url) {
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException(url + " is not a URL of PostgreSQL's driver");
        }
        return parts;
    }

    private static Optional<Path> program() {
        String path = System.getenv().getOrDefault("PATH", "");
        return Stream.concat(Stream.of(path.split(":")), Stream.of("/usr/sbin", "/usr/local/sbin"))
                .filter(each -> !each.isEmpty())
                .map(each -> Path.of(each, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static int version(String program) throws IOException {
        Process asked = new ProcessBuilder(program, "--version")
                .redirectErrorStream(true)
                .start();
        String answer = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher found = VERSION.matcher(answer);
        if (!found.find()) {
            throw new IllegalStateException(program + " --version says " + answer);
        }
        return Integer.parseInt(found.group(1)) * 100 + Integer.parseInt(found.group(2));
    }

    /** It says so in its log, which is read to its end in any case: nobody else would, and it would stand still. */
    private void awaitUp() throws IOException, InterruptedException {
        BufferedReader log =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        StringBuilder said = new StringBuilder();
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            said.append(line).append('\n');
            if (line.contains("process up")) {
                Thread reader = new Thread(() -> log.lines().forEach(ignored -> {}), "pgbouncer-log");
                reader.setDaemon(true);
                reader.start();
                return;
            }
        }
        throw new IllegalStateException("pgbouncer ended with " + process.waitFor() + ": " + said);
    }

    private void kill() {
        process.destroyForcibly();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                kill();
            }
            Runtime.getRuntime().removeShutdownHook(end);
            Files.deleteIfExists(folder.resolve("pgbouncer.ini"));
            Files.deleteIfExists(folder.resolve("users.txt"));
            Files.deleteIfExists(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
        }
    }
}
