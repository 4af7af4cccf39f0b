package io.postroom.job;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Claims beside the claimer while there is more than it can fetch: the database works for one of the two while the other's answer is read
 * and its commit is flushed. Not while ends wait to be written: two who claim would leave the database too little time for the one who ends.
 * Otherwise asleep, and without a connection.
 */
final class SecondClaimer {
    private static final long IDLE_NANOS = Duration.ofSeconds(10).toNanos();

    private final Claiming claiming;
    private final BooleanSupplier allowed;
    private final Consumer<Throwable> trouble;
    private final Signal signal = new Signal();
    private volatile boolean stopped;
    private volatile boolean busy;
    private @Nullable Thread thread;

    /** {@code allowed} is asked before each claim; {@code trouble} is told of what failed: a claim may have been made all the same. */
    SecondClaimer(Claiming claiming, BooleanSupplier allowed, Consumer<Throwable> trouble) {
        this.claiming = claiming;
        this.allowed = allowed;
        this.trouble = trouble;
    }

    void add(Crew crew, Front front) {
        claiming.add(crew, front);
    }

    void start(String name) {
        thread = Threads.start("postroom-claim-too-" + name, this::run);
    }

    /** There is more: claim too. */
    void wake() {
        if (!busy) {
            signal.raise();
        }
    }

    /** Whether it may have claimed what it has not told of yet. Once it is not allowed to claim, this will soon be false and stays so. */
    boolean isBusy() {
        return busy;
    }

    /** Claims nothing more; returns when the last claim was given to its crew. */
    void stop(Duration patience) {
        stopped = true;
        signal.raise();
        Threads.join(thread, patience);
    }

    private void run() {
        try (claiming) {
            while (!stopped) {
                if (signal.await(IDLE_NANOS)) {
                    takeAll();
                } else {
                    claiming.close();
                }
            }
        } catch (InterruptedException e) {
            // The claimer goes on alone.
            Thread.currentThread().interrupt();
        }
    }

    private void takeAll() {
        // Before anybody is asked: whoever forbids it, and then sees that this is not busy, can be sure.
        busy = true;
        try {
            while (!stopped && allowed.getAsBoolean() && claiming.take().full()) {
                // As long as it gets all that it asks for.
            }
        } catch (RuntimeException | Error e) {
            claiming.close();
            trouble.accept(e);
        } finally {
            busy = false;
        }
    }
}
