package io.postroom.server.terminal;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a command end in its own way when the process is asked to end (Ctrl-C, SIGTERM).
 *
 * <p>While it is open, the JVM waits for the command to finish, for the given time at most, and then exits with 0: a stop that
 * was asked for is no failure. A command that is killed with SIGKILL gets no such chance, and needs none.
 */
public final class StopSignal implements AutoCloseable {
    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private final Thread hook;

    private StopSignal(Duration patience) {
        hook = new Thread(
                () -> {
                    requested.countDown();
                    if (await(finished, patience)) {
                        Runtime.getRuntime().halt(ExitCode.OK);
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

    /** The command is done; what it held is given back. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is going down and waits for this.
            finished.countDown();
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
