package io.postroom.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The program in a JVM of its own, as a user runs it. Closing it kills it. */
public final class Program implements AutoCloseable {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final Process process;
    private final Thread reader;
    private final BlockingQueue<String> talk = new LinkedBlockingQueue<>();
    private final List<String> said = new CopyOnWriteArrayList<>();

    private Program(Process process) {
        this.process = process;
        reader = new Thread(() -> read(process.getErrorStream()), "program-err");
        reader.setDaemon(true);
        reader.start();
    }

    public static Program start(String... arguments) {
        return start(Map.of(), arguments);
    }

    /** Starts it with these variables on top of a bare environment. */
    public static Program start(Map<String, String> environment, String... arguments) {
        return start(ProcessBuilder.Redirect.PIPE, environment, arguments);
    }

    /** Starts it with its standard output going to a file, as after {@code >}. */
    public static Program startInto(Path file, String... arguments) {
        return start(ProcessBuilder.Redirect.appendTo(file.toFile()), Map.of(), arguments);
    }

    private static Program start(ProcessBuilder.Redirect out, Map<String, String> environment, String... arguments) {
        Path target = Path.of("target").toAbsolutePath();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                target.resolve("classes") + ":" + target.resolve("lib") + "/*",
                "io.postroom.server.Main"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectOutput(out);
        builder.environment().keySet().removeIf(name -> name.startsWith("PG") || name.startsWith("POSTROOM"));
        builder.environment().putAll(environment);
        try {
            return new Program(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public InputStream out() {
        return process.getInputStream();
    }

    public BufferedReader lines() {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Everything it writes to standard output until it ends. */
    public String outToEnd() {
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until it says such a line on standard error. */
    public String awaitTalk(Predicate<String> wanted) throws InterruptedException {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (true) {
            String line = talk.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new AssertionError("never said; it said " + said);
            }
            if (wanted.test(line)) {
                return line;
            }
        }
    }

    /** What it has said on standard error so far. */
    public String said() {
        return String.join("\n", said);
    }

    public int awaitExit() throws InterruptedException {
        return awaitExit(DEADLINE);
    }

    public int awaitExit(Duration patience) throws InterruptedException {
        if (!process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("still running after " + patience + "; it said " + said);
        }
        // What it said last is to be heard too.
        reader.join(DEADLINE.toMillis());
        return process.exitValue();
    }

    /** SIGTERM. Through the handle, since a Process closes the streams that are still to be read. */
    public void terminate() {
        process.toHandle().destroy();
    }

    /** Ctrl-C. SIGTERM instead where whoever started the tests made their processes deaf to it, as a shell does in the background. */
    public void interrupt() throws IOException, InterruptedException {
        if (isDeafToInterrupts()) {
            terminate();
        } else {
            new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                    .start()
                    .waitFor();
        }
    }

    private boolean isDeafToInterrupts() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        return Files.exists(status)
                && Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("SigIgn:"))
                        // The second signal.
                        .anyMatch(line ->
                                (Long.parseUnsignedLong(line.substring(7).trim(), 16) & 2) != 0);
    }

    /** SIGKILL. */
    public void kill() {
        process.toHandle().destroyForcibly();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void read(InputStream stream) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said.add(line);
                talk.add(line);
            }
        } catch (IOException e) {
            // It was killed.
        }
    }
}
