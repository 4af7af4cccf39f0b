package io.postroom.archive;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.journal.Batch;
import io.postroom.journal.Filter;
import io.postroom.journal.Journal;
import io.postroom.journal.LanePosition;
import io.postroom.postgres.Database;
import io.postroom.subscription.Act;
import java.sql.Connection;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The archive of old days: archives what is old enough, shows it, reads it, drops it. Reading by position needs none of this: relays, read
 * models and {@code postroom.read} find archived messages by themselves.
 *
 * <p>Any number of processes may archive and drop at once; one of them does. A process that dies leaves whole steps behind. Safe for use by
 * many threads.
 */
public final class Archive {
    /** How many days are shown or archived at once. */
    public static final int DAYS_MAX = 40_000;

    private static final int BATCH_MESSAGES = 1_000;
    private static final long BATCH_BYTES = 16_777_216;

    /** Others wait behind whoever waits for a lock, so it is not tried more often than this in one run. */
    private static final int LOCKED_MAX = 3;

    /** Longer than any day is kept. */
    private static final Duration FOR_EVER = Duration.ofDays(100_000);

    private static final Duration LOCKED_PAUSE = Duration.ofMillis(500);

    private final Database database;
    private final Journal journal;
    private final Audit audit;
    private final ArchiveTable table;

    public Archive(Database database, Journal journal, Audit audit) {
        this.database = database;
        this.journal = journal;
        this.audit = audit;
        this.table = new ArchiveTable(database.schema());
    }

    /** Archived days, newest first; also those that were dropped, if they are wanted. */
    public List<ArchivedDay> days(boolean dropped) {
        return database.run(tx -> table.list(tx, dropped, DAYS_MAX));
    }

    /** Days that are old enough to be archived and are not, oldest first. */
    public List<HotDay> due(Duration olderThan) {
        requireRetention(olderThan);
        return database.transact(tx -> table.listDue(tx, olderThan, DAYS_MAX));
    }

    /** One step, one transaction; nothing if no day is old enough. */
    public Optional<ArchiveStep> step(Duration olderThan) {
        return step(olderThan, null);
    }

    /**
     * Archives every day that is old enough, oldest first, up to one that cannot go yet. Returns what became of each; the last may be one
     * that stays.
     */
    public List<ArchiveStep> run(Duration olderThan) {
        return runAs(olderThan, null);
    }

    /** The same by an operator: each day is in the audit once it is archived. */
    public List<ArchiveStep> run(Duration olderThan, Act act) {
        requireAct(act, "archive");
        return runAs(olderThan, act);
    }

    private List<ArchiveStep> runAs(Duration olderThan, @Nullable Act act) {
        List<ArchiveStep> done = new ArrayList<>();
        int locked = 0;
        // Each day takes three steps, and a lock is not waited for without end.
        for (int steps = 0; steps < 3 * DAYS_MAX; steps++) {
            ArchiveStep step = step(olderThan, act).orElse(null);
            if (step == null) {
                return done;
            }
            if (step.outcome() == ArchiveStep.Outcome.LOCKED && ++locked < LOCKED_MAX) {
                LockSupport.parkNanos(LOCKED_PAUSE.toNanos());
                continue;
            }
            if (step.outcome() != ArchiveStep.Outcome.BOUNDED && step.outcome() != ArchiveStep.Outcome.CHECKED) {
                done.add(step);
            }
            if (!step.outcome().goesOn()) {
                return done;
            }
        }
        return done;
    }

    private static void requireRetention(Duration olderThan) {
        new Retention(olderThan, null);
    }

    private Optional<ArchiveStep> step(Duration olderThan, @Nullable Act act) {
        requireRetention(olderThan);
        return database.transact(tx -> {
            table.takeTime(tx);
            Optional<ArchiveStep> step = table.step(tx, olderThan);
            step.filter(done -> act != null && done.outcome() == ArchiveStep.Outcome.ARCHIVED)
                    .ifPresent(done -> audit.record(
                            tx,
                            act.actor(),
                            "archive run",
                            "archived day " + done.day(),
                            act.reason(),
                            Map.of("olderThan", olderThan.toString())));
            return step;
        });
    }

    /**
     * Reads the messages of an archived day in the order of their positions: those stamped on it, then those published on it and stamped
     * later, which would be gone with it. No day is dropped meanwhile. Returns how many there were.
     */
    public long read(LocalDate day, Consumer<Batch.Item> reader) {
        return database.transact(tx -> {
            table.keep(tx);
            ArchivedDay archived = find(day, "read");
            journal.refreshHead();
            Long first = archived.firstPosition();
            Long last = archived.lastPosition();
            long end = last == null ? endBefore(day) : last;
            long count = first == null ? 0 : read(first - 1, end, item -> true, reader);
            return count
                    + read(end, archived.passedAt(), item -> item.place().day().equals(day), reader);
        });
    }

    /** The last position of earlier days: where to look for what was stamped after a day on which nothing was. */
    private long endBefore(LocalDate day) {
        return database.run(tx -> table.findEndBefore(tx, day));
    }

    private long read(long after, long upTo, Predicate<Batch.Item> wanted, Consumer<Batch.Item> reader) {
        Journal.Lane all = new Journal.Lane(0, 1, Filter.ALL);
        LanePosition at = after < upTo ? journal.locate(after) : new LanePosition(upTo, LocalDate.EPOCH);
        long count = 0;
        while (at.position() < upTo) {
            Batch batch = journal.read(all, at, upTo, BATCH_MESSAGES, BATCH_BYTES);
            for (Batch.Item item : batch.items()) {
                if (wanted.test(item)) {
                    reader.accept(item);
                    count++;
                }
            }
            at = batch.next();
        }
        return count;
    }

    /** An archived day. */
    public ArchivedDay find(LocalDate day, String verb) {
        ArchivedDay found = database.run(tx -> table.find(tx, day))
                .orElseThrow(() ->
                        refused("unknown-day", verb, day, "it is not archived; postroom archive list shows what is"));
        if (found.isDropped()) {
            throw refused("dropped", verb, day, "it was dropped at " + found.droppedAt());
        }
        return found;
    }

    /** How many days are archived, and how many are not where a retention wants them; without one, none is. */
    public DayCount count(@Nullable Retention retention) {
        Duration olderThan = retention == null ? FOR_EVER : retention.archiveAfter();
        Duration dropAfter = retention == null ? null : retention.dropAfter();
        return database.run(tx -> table.count(tx, olderThan, dropAfter == null ? FOR_EVER : dropAfter));
    }

    /** Archived days that are older than they are kept, oldest first. */
    public List<LocalDate> droppable(Duration kept) {
        return database.run(tx -> table.listDroppable(tx, kept, DAYS_MAX));
    }

    /** Refuses what {@link #drop} would refuse. */
    public ArchivedDay planDrop(LocalDate day) {
        ArchivedDay found = find(day, "drop");
        ArchiveTable.Needs needs = database.run(tx -> table.findNeeds(tx, day))
                .orElseThrow(() -> refused("dropped", "drop", day, "it was dropped just now"));
        if (needs.oldest().isBefore(day)) {
            throw earlier(day, needs.oldest().toString());
        }
        if (needs.need() != null) {
            throw needed(day, needs.need());
        }
        return found;
    }

    /** Drops the oldest archived day for good, in the transaction of its audit entry; refused while somebody needs it. */
    public void drop(LocalDate day, Act act) {
        requireAct(act, "drop archived day " + day);
        ArchivedDay found = find(day, "drop");
        database.transact(tx -> {
            requireDropped(tx, day);
            audit.record(
                    tx,
                    act.actor(),
                    "archive drop",
                    "archived day " + day,
                    act.reason(),
                    Map.of("messages", found.messages(), "bytes", found.bytes(), "passedAt", found.passedAt()));
            return true;
        });
    }

    /** The same without an operator. */
    public void drop(LocalDate day) {
        database.transact(tx -> {
            requireDropped(tx, day);
            return true;
        });
    }

    private void requireDropped(Connection tx, LocalDate day) {
        table.takeTime(tx);
        ArchiveTable.Dropped dropped = table.drop(tx, day);
        String need = String.valueOf(dropped.need());
        switch (dropped.outcome()) {
            case "dropped" -> {}
            case "none" -> throw refused("dropped", "drop", day, "it was dropped just now");
            case "earlier" -> throw earlier(day, need);
            case "needed" -> throw needed(day, need);
            default ->
                throw refused(
                        "locked",
                        "drop",
                        day,
                        "somebody reads the archive and holds a lock for longer than we wait; try again");
        }
    }

    private static void requireAct(Act act, String attempt) {
        List<String> problems = Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw new PostroomException("audit.invalid", "could not " + attempt + ": " + String.join("; ", problems));
        }
    }

    private static PostroomException earlier(LocalDate day, String oldest) {
        return refused("not-oldest", "drop", day, "day " + oldest + " is older and still there; drop that one first");
    }

    private static PostroomException needed(LocalDate day, String need) {
        return refused(
                "needed", "drop", day, "it is needed by " + need + "; wait, or remove who does not want it any longer");
    }

    private static PostroomException refused(String code, String verb, LocalDate day, String fact) {
        return new PostroomException("archive." + code, "could not " + verb + " archived day " + day + ": " + fact);
    }
}
