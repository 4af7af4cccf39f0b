package io.postroom.server.terminal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Lets a command end in its own way when the process is asked to end (Ctrl-C, SIGTERM).
 *
 * <p>While it is open, the JVM waits for the whole command to end, for the given time at most, and then exits with the command's own
 * code: 0 if it could finish, since a stop that was asked for is no failure. A command that is killed with SIGKILL gets no such
 * chance, and needs none.
 */
public final class StopSignal implements AutoCloseable {
    /** The command's exit code, once it has given everything back and said its last word. There is one command in a process. */
    private static final CompletableFuture<Integer> ENDED = new CompletableFuture<>();

    private final CountDownLatch requested = new CountDownLatch(1);
    private final Thread hook;

    private StopSignal(Duration patience) {
        hook = new Thread(
                () -> {
                    requested.countDown();
                    try {
                        Runtime.getRuntime().halt(ENDED.get(patience.toNanos(), TimeUnit.NANOSECONDS));
                    } catch (InterruptedException | ExecutionException | TimeoutException e) {
                        // It took too long: the JVM ends without it, with the code of its signal.
                    }
                },
                "postroom-stop");
    }

    /** Begins to listen. {@code patience} is how long the command may take to end. */
    public static StopSignal listen(Duration patience) {
        StopSignal signal = new StopSignal(patience);
        Runtime.getRuntime().addShutdownHook(signal.hook);
        return signal;
    }

    public boolean isRequested() {
        return requested.getCount() == 0;
    }

    /** Waits until the stop is requested, or the time is over; says whether it is requested. */
    public boolean await(Duration time) {
        return await(requested, time);
    }

    /** The same as if somebody had pressed Ctrl-C. */
    public void request() {
        requested.countDown();
    }

    /** The command of this process has ended, with everything it had to close and to say. */
    public static void commandEnded(int exitCode) {
        ENDED.complete(exitCode);
    }

    /** No stop is waited for any more. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is going down already, and waits for the end of the command.
        }
    }

    private static boolean await(CountDownLatch latch, Duration time) {
        try {
            return latch.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
