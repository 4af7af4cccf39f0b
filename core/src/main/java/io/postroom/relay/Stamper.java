package io.postroom.relay;

import io.postroom.journal.Journal;
import io.postroom.postgres.DatabaseException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for committed messages: often while there are some, seldom while there are none, at once when nudged.
 *
 * <p>Every relay has one; PostgreSQL lets one of them stamp at a time and the others learn how far it got.
 */
final class Stamper {
    private static final Logger LOG = LoggerFactory.getLogger(Stamper.class);

    private final Journal journal;
    private final RelaySettings settings;
    private final Moved moved;
    private final Signal signal = new Signal();
    private volatile boolean stopped;
    private volatile boolean expected;
    private @Nullable Thread thread;
    private boolean failing;

    /** Hears that the journal's end has moved. */
    @FunctionalInterface
    interface Moved {
        /** {@code byUs} if this relay stamped, and others may not know yet. */
        void moved(boolean byUs);
    }

    Stamper(Journal journal, RelaySettings settings, Moved moved) {
        this.journal = journal;
        this.settings = settings;
        this.moved = moved;
    }

    void start() {
        thread = Threads.keep("postroom-stamp-" + settings.name(), this::run);
    }

    /** Something was committed: look at once. */
    void nudge() {
        expected = true;
        signal.raise();
    }

    /** Something was inserted and will soon be committed: look often for a while. */
    void expect() {
        if (!expected) {
            expected = true;
            signal.raise();
        }
    }

    void stop() {
        stopped = true;
        signal.raise();
        Threads.join(thread, settings.stopGrace());
    }

    /** Ends when stopped; trouble with the database, and whatever else is thrown, makes it wait, not end. */
    private void run() {
        long min = settings.pollMin().toNanos();
        long max = settings.pollMax().toNanos();
        long wait = min;
        int failures = 0;
        // Its own memory of the end: another relay of this process may have moved the journal's.
        long known = -1;
        while (!stopped) {
            try {
                Journal.Stamped stamped = journal.stamp();
                boolean more = stamped.more();
                long position = journal.head().position();
                boolean found = position != known;
                if (found) {
                    known = position;
                    moved.moved(stamped.messages() > 0);
                }
                found |= expected;
                expected = false;
                // Grows by an eighth for each look in vain: a short lull costs no latency, a long one costs little
                // load.
                wait = more ? 0 : found ? min : Math.min(Math.max(wait, min) + wait / 8 + 1, max);
                failures = 0;
                recovered();
            } catch (RuntimeException | Error e) {
                wait = Math.min(settings.backoff().after(++failures).toNanos(), 1_000_000_000L);
                failed(e);
            }
            await(wait);
        }
    }

    private void await(long nanos) {
        try {
            if (nanos > 0) {
                signal.await(nanos);
            }
        } catch (InterruptedException e) {
            stopped = true;
        }
    }

    private void failed(Throwable e) {
        if (!failing) {
            failing = true;
            LOG.warn(
                    "relay {} stopped stamping: {}",
                    settings.name(),
                    e.getMessage(),
                    e instanceof DatabaseException ? null : e);
        }
    }

    private void recovered() {
        if (failing) {
            failing = false;
            LOG.info("relay {} stamps again", settings.name());
        }
    }
}
