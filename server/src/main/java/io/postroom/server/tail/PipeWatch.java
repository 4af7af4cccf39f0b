package io.postroom.server.tail;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Notices that the reader of a pipe on standard output is gone even while nothing is written, so that {@code tail | head -5}
 * ends with the fifth line and not with the first that nobody reads.
 *
 * <p>Opening a pipe for writing waits until there is a reader; one that does not open at once has none. Works on Linux, where a
 * process can open its own pipe again; elsewhere the next line that is written notices.
 */
final class PipeWatch {
    private static final Path STDOUT = Path.of("/proc/self/fd/1");
    private static final Duration OPENS_WITHIN = Duration.ofSeconds(1);

    private final boolean possible = isPipe();

    /** Whether it is certain that nobody reads standard output. */
    boolean isReaderGone() {
        if (!possible) {
            return false;
        }
        CompletableFuture<Void> opened = new CompletableFuture<>();
        Thread opener = new Thread(() -> open(opened), "postroom-pipe-watch");
        opener.setDaemon(true);
        opener.start();
        try {
            opened.get(OPENS_WITHIN.toMillis(), TimeUnit.MILLISECONDS);
            return false;
        } catch (TimeoutException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException e) {
            return false;
        }
    }

    private static void open(CompletableFuture<Void> opened) {
        try {
            FileChannel.open(STDOUT, StandardOpenOption.WRITE).close();
        } catch (IOException | RuntimeException e) {
            // Not ours to open, for example after a change of user: then nothing is certain.
        }
        opened.complete(null);
    }

    private static boolean isPipe() {
        try {
            return Files.readSymbolicLink(STDOUT).toString().startsWith("pipe:");
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }
}
