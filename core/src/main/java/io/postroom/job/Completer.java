package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Has what became of claims written: whatever has gathered while the last batch was written goes with the next. While more gathers than one
 * connection can write, a second one writes too: the database works for one of the two while the other's commit is flushed.
 *
 * <p>Without a database both wait and try again; handlers go on until too much waits to be written, then their threads wait too.
 */
final class Completer {
    /** How much may wait to be written. */
    private static final int PENDING_MAX = 20_000;

    /** How many jobs that are done end with one statement. */
    private static final int BATCH_MAX = 1_000;

    /** From so many on the second one helps. */
    private static final int SHARED_MIN = 300;

    private static final Duration IDLE = Duration.ofMillis(50);
    private static final Duration SECOND_IDLE = Duration.ofSeconds(10);

    private final String name;
    private final BlockingQueue<Ended> pending = new LinkedBlockingQueue<>(PENDING_MAX);
    private final EndWriter first;
    private final EndWriter second;
    private final Signal secondSignal = new Signal();
    private @Nullable Thread firstThread;
    private @Nullable Thread secondThread;

    /** {@code seatFree} takes the limit of a job that has ended. */
    Completer(
            Database database,
            Settler settler,
            Held held,
            Consumer<String> seatFree,
            Telemetry telemetry,
            String name) {
        this.name = name;
        this.first = new EndWriter(database, settler, held, seatFree, telemetry, name);
        this.second = new EndWriter(database, settler, held, seatFree, telemetry, name);
    }

    void start() {
        firstThread = Threads.start("postroom-complete-" + name, () -> first.run(new All()));
        secondThread = Threads.start("postroom-complete-too-" + name, () -> second.run(new Surplus()));
    }

    /** Takes a verdict; waits while too much is to be written. Deaf to interrupts: those are meant for handlers. */
    void submit(Ended ended) {
        boolean interrupted = false;
        while (true) {
            try {
                pending.put(ended);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether so many verdicts can be taken without waiting. */
    boolean hasRoom(int verdicts) {
        return pending.remainingCapacity() >= verdicts;
    }

    /** Writes what is there, and ends; what cannot be written within the grace is left to whoever takes the jobs away. */
    void stop(Duration grace) {
        long began = System.nanoTime();
        first.stop(grace);
        second.stop(grace);
        secondSignal.raise();
        Threads.join(firstThread, grace.plusSeconds(1));
        Threads.join(secondThread, grace.plusSeconds(1).minusNanos(System.nanoTime() - began));
    }

    /** Writes what is there, on the caller's thread; for workers that were not started. */
    void writeNow() throws InterruptedException {
        List<Ended> batch = new ArrayList<>();
        pending.drainTo(batch);
        first.write(batch);
    }

    /** After {@link #writeNow}. */
    void closeLine() {
        first.closeLine();
    }

    /** For the first: whatever there is. */
    private final class All implements EndWriter.Source {
        @Override
        public void take(List<Ended> batch) throws InterruptedException {
            Ended one = pending.poll(IDLE.toMillis(), TimeUnit.MILLISECONDS);
            if (one != null) {
                batch.add(one);
                pending.drainTo(batch, BATCH_MAX - 1);
            }
            if (pending.size() >= SHARED_MIN) {
                secondSignal.raise();
            }
        }

        @Override
        public boolean isEmpty() {
            return pending.isEmpty();
        }
    }

    /** For the second: as long as there is much of it. Otherwise it sleeps, and has no connection after a while. */
    private final class Surplus implements EndWriter.Source {
        @Override
        public void take(List<Ended> batch) throws InterruptedException {
            boolean soon = second.hasLater() || second.isStopped();
            long wait = soon ? IDLE.toNanos() : SECOND_IDLE.toNanos();
            if (isEmpty()) {
                boolean heard = secondSignal.await(wait);
                if (!heard && !soon) {
                    second.closeLine();
                }
            }
            if (isEmpty()) {
                return;
            }
            // First a connection: what is taken without one would wait for it.
            if (second.connects()) {
                pending.drainTo(batch, BATCH_MAX);
            } else {
                secondSignal.await(wait);
            }
        }

        /** What it leaves is the first one's. */
        @Override
        public boolean isEmpty() {
            return pending.size() < SHARED_MIN;
        }
    }
}
