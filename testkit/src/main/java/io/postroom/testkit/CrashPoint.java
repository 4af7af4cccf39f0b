package io.postroom.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A moment at which this very process is killed, or stands still, to prove that nothing depends on what it would have done next.
 *
 * <p>Whoever passes the moment calls {@link #reach}: {@link CrashingDataSource} and {@link CrashingSink} do, and so may a test's own
 * code. The chosen time the process says so on standard error and sends itself the signal. A kill is SIGKILL: nothing is flushed, no
 * hook runs, connections are closed by the operating system, and a parent sees the exit code 137. The thread that reached the point
 * never goes on; others may, for the few milliseconds that the signal takes. For a {@link ChildJvm}, never for the process that runs
 * the tests. Needs a {@code kill} command. Safe for use by many threads.
 *
 * <p>Processes are slow to start. {@link #hold} lets one process come to many points, on a thread each, before it is killed from outside at
 * all of them at once.
 *
 * <p>{@link #act} is for the process that runs the tests: something else breaks there, such as the way to the database.
 */
public final class CrashPoint {
    /** What a process that was killed by SIGKILL ends with, as its parent sees it. */
    public static final int EXIT_CODE = 137;

    private static final String REACHED = "crash point reached: ";
    private static final String HOLD = "HOLD";

    private final String name;
    private final String signal;
    private final int time;
    private final @Nullable Runnable act;
    private final AtomicInteger times = new AtomicInteger();

    private CrashPoint(String name, String signal, int time, @Nullable Runnable act) {
        this.name = Objects.requireNonNull(name, "name");
        this.signal = signal;
        this.time = time;
        this.act = act;
        if (time < 1) {
            throw new IllegalArgumentException(
                    "could not make crash point " + name + ": time is " + time + ", the first is 1");
        }
    }

    /** Kills the process the first time. */
    public static CrashPoint kill(String name) {
        return kill(name, 1);
    }

    /** Kills the process the n-th time. */
    public static CrashPoint kill(String name, int time) {
        return new CrashPoint(name, "KILL", time, null);
    }

    /** Makes the process stand still the n-th time, with its connections open, until somebody sends SIGCONT. */
    public static CrashPoint freeze(String name, int time) {
        return new CrashPoint(name, "STOP", time, null);
    }

    /**
     * Makes the thread that reaches it the n-th time stand still for good, with its connections open, while the process goes on. Says so
     * like the others.
     */
    public static CrashPoint hold(String name, int time) {
        return new CrashPoint(name, HOLD, time, null);
    }

    /** Does something the n-th time, on the thread that reaches the point, which then goes on. */
    public static CrashPoint act(String name, int time, Runnable act) {
        return new CrashPoint(name, "ACT", time, Objects.requireNonNull(act, "act"));
    }

    /** Counts; the chosen time it does not return, or only when the process was thawed or what was to be done is done. */
    public void reach() {
        if (times.incrementAndGet() != time) {
            return;
        }
        if (act != null) {
            act.run();
            return;
        }
        System.err.println(REACHED + name);
        System.err.flush();
        if (!signal.equals(HOLD)) {
            signalOneself();
        }
        if (!signal.equals("STOP")) {
            awaitTheEnd();
        }
    }

    /** How often it was reached so far. */
    public int times() {
        return times.get();
    }

    /** What a process prints when a point of this name ends it. */
    public static String lineOf(String name) {
        return REACHED + name;
    }

    private void signalOneself() {
        try {
            Process kill = new ProcessBuilder(
                            "kill",
                            "-" + signal,
                            Long.toString(ProcessHandle.current().pid()))
                    .inheritIO()
                    .start();
            int code = kill.waitFor();
            if (code != 0) {
                throw new IllegalStateException("could not reach crash point " + name + ": kill ended with " + code);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("could not reach crash point " + name + ": there is no command kill", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Deaf to interrupts: what comes after the point must not happen. */
    private static void awaitTheEnd() {
        CountDownLatch never = new CountDownLatch(1);
        while (true) {
            try {
                never.await();
            } catch (InterruptedException e) {
                // The signal is on its way.
            }
        }
    }

    @Override
    public String toString() {
        return "crash point " + name + " (" + signal + " at time " + time + ")";
    }
}
