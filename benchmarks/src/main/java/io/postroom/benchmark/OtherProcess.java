package io.postroom.benchmark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A JVM of its own that prints {@code ready}, and then a name and a time for each thing it handles. */
final class OtherProcess implements AutoCloseable {
    private final Map<String, Long> handled = new ConcurrentHashMap<>();
    private final Process process;

    OtherProcess(Class<?> main, String url) throws IOException {
        process = new ProcessBuilder(List.of(
                        System.getProperty("java.home") + "/bin/java",
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName(),
                        url))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        if (!"ready".equals(lines.readLine())) {
            throw new IllegalStateException(main.getSimpleName() + " did not start in another process");
        }
        Thread reader = new Thread(() -> lines.lines().forEach(line -> {
            String[] parts = line.split(" ");
            handled.putIfAbsent(parts[0], Long.parseLong(parts[1]));
        }));
        reader.setDaemon(true);
        reader.start();
    }

    Map<String, Long> handled() {
        return handled;
    }

    /** The moment in microseconds, the same in all processes of this machine. */
    static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    /** Waits until all that was committed is handled; answers with how long each took, the shortest first. */
    static long[] latencies(Map<String, Long> committed, Map<String, Long> handled) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!handled.keySet().containsAll(committed.keySet())) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("only " + handled.size() + " of " + committed.size() + " were handled");
            }
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return committed.entrySet().stream()
                .mapToLong(entry -> handled.get(entry.getKey()) - entry.getValue())
                .sorted()
                .toArray();
    }

    @Override
    public void close() {
        process.destroy();
    }
}
