package io.postroom.lock;

import io.postroom.PostroomException;
import io.postroom.lock.HoldTable.Named;
import io.postroom.lock.HoldTable.Shared;
import io.postroom.postgres.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds names of locks that share a number, among those that this process has used and those that others have noted in the database.
 * Two such names hold each other up, which is slow but never wrong, so that they are only told.
 *
 * <p>Names are noted by a thread of its own, a moment after their first use and once a day after that: whoever takes a lock has a connection already, and must not
 * need a second one. Safe for use by many threads.
 */
final class LockNames {
    /** So many names are remembered and noted; of what a process uses beyond that nothing is told. */
    static final int NAMES_MAX = 10_000;

    private static final Logger LOG = LoggerFactory.getLogger(LockNames.class);
    private static final int STEP_MAX = 1_000;
    private static final long SOON_MILLIS = 200;

    /** Far less than a name is kept that nobody uses. */
    private static final Duration NOTE_AGAIN = Duration.ofDays(1);

    private final Database database;
    private final HoldTable table;
    private final long noteAgainNanos;
    private final Map<Long, Seen> seen = new ConcurrentHashMap<>();
    private final Map<Long, String> sharers = new ConcurrentHashMap<>();
    private final Queue<Named> fresh = new ConcurrentLinkedQueue<>();
    private final ScheduledThreadPoolExecutor thread = Timers.make("postroom-lock-names");

    LockNames(Database database, HoldTable table) {
        this(database, table, NOTE_AGAIN);
    }

    /** {@code noteAgain}: what is used so long after it was noted is noted anew. */
    LockNames(Database database, HoldTable table, Duration noteAgain) {
        this.database = database;
        this.table = table;
        this.noteAgainNanos = noteAgain.toNanos();
    }

    /** The first name of a number, and when this process noted it last. */
    private static final class Seen {
        private final String name;
        private volatile long notedNanos = System.nanoTime();

        Seen(String name) {
            this.name = name;
        }
    }

    void used(String name, long key) {
        Seen known = seen.get(key);
        if (known == null && seen.size() < NAMES_MAX) {
            known = seen.putIfAbsent(key, new Seen(name));
            if (known == null) {
                noteSoon(new Named(key, name));
            }
        }
        if (known == null) {
            return;
        }
        if (!known.name.equals(name)) {
            tell(new Shared(new Named(key, name), known.name));
        }
        long now = System.nanoTime();
        if (now - known.notedNanos > noteAgainNanos) {
            known.notedNanos = now;
            noteSoon(new Named(key, known.name));
        }
    }

    private void noteSoon(Named named) {
        fresh.add(named);
        thread.schedule(this::note, SOON_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** The end of a sentence about a lock that is busy: that another name may be the reason. */
    String suspicion(long key) {
        String other = sharers.get(key);
        return other == null ? "" : "; " + other;
    }

    private void note() {
        List<Named> batch = new ArrayList<>();
        while (batch.size() < STEP_MAX && !fresh.isEmpty()) {
            batch.add(fresh.remove());
        }
        if (batch.isEmpty()) {
            return;
        }
        try {
            // Noted first: of two who note at once, the second to commit finds the first.
            database.run(tx -> {
                        table.note(tx, batch);
                        return table.findSharers(tx, batch);
                    })
                    .forEach(this::tell);
        } catch (PostroomException e) {
            LOG.warn(
                    "could not note the names of {} locks: {}; they work, but a number that two names share is not told",
                    batch.size(),
                    e.getMessage());
        }
    }

    private void tell(Shared shared) {
        String fact = "locks " + LockName.shown(shared.named().name()) + " and " + LockName.shown(shared.other())
                + " share the number " + shared.named().key()
                + ", so that whoever holds one holds up the other; rename one of them";
        if (sharers.putIfAbsent(shared.named().key(), fact) == null) {
            LOG.warn("{}", fact);
        }
    }
}
