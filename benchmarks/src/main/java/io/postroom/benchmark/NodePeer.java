package io.postroom.benchmark;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A job queue for Node.js, run by a script beside the Java sources; npm fetches it, and the Node.js it wants, when it is first measured. */
final class NodePeer implements JobPeer {
    private static final Path SOURCES = Path.of("benchmarks", "src", "main", "node");
    private static final Path FOLDER = Path.of("benchmarks", "target", "node");

    private final String name;
    private final String script;

    NodePeer(String name, String script) {
        this.name = name;
        this.script = script;
    }

    @Override
    public String name() {
        return name;
    }

    /** Fetches what the scripts need; false where there is no npm, or where it cannot fetch it. */
    static boolean install() throws IOException, InterruptedException {
        Files.createDirectories(FOLDER);
        try (var scripts = Files.list(SOURCES)) {
            for (Path file : scripts.toList()) {
                Files.write(FOLDER.resolve(file.getFileName()), Files.readAllBytes(file));
            }
        }
        try {
            Process npm = new ProcessBuilder("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
                    .directory(FOLDER.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(FOLDER.resolve("npm.log").toFile())
                    .start();
            return npm.waitFor(5, TimeUnit.MINUTES) && npm.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** Each time it is another process. */
    @Override
    public boolean warmsUp() {
        return false;
    }

    @Override
    public double burn(BenchDatabase database, int many) throws Exception {
        return Double.parseDouble(run(database, script, String.valueOf(many)));
    }

    /** Makes its tables; returns the statement that it takes a job with, if it is not a function of theirs. */
    static String prepare(BenchDatabase database, String script) throws Exception {
        return run(database, script, "sql");
    }

    private static String run(BenchDatabase database, String script, String what) throws Exception {
        URI jdbc = URI.create(database.url().substring("jdbc:".length()));
        String url = "postgres://postgres@" + jdbc.getHost() + ":" + jdbc.getPort() + jdbc.getPath();
        Path node = FOLDER.resolve("node_modules/.bin/node").toAbsolutePath();
        Process process = new ProcessBuilder(List.of(node.toString(), script, url, what))
                .directory(FOLDER.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (InputStream output = process.getInputStream()) {
            String text = new String(output.readAllBytes(), StandardCharsets.UTF_8).trim();
            if (process.waitFor() != 0) {
                throw new IllegalStateException(script + " ended with " + process.exitValue() + ": " + text);
            }
            return text;
        }
    }
}
