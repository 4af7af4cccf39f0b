package io.postroom.deadletter;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at what was given up on, and plans what to do about it. Nothing here changes anything; {@link #redrives} does.
 *
 * <p>Safe for use by many threads.
 */
public final class DeadLetters {
    public static final int PAGE_MAX = 1_000;
    public static final int GROUPS_MAX = 1_000;
    public static final int SAMPLES_MAX = 100;

    /** So many open dead letters of one owner are counted by {@link #countOpen}. */
    public static final int COUNT_MAX = 10_000;

    /** So many owners have their open dead letters counted. */
    public static final int OWNERS_MAX = 1_000;

    private static final int IDS_PAGE = 1_000;
    /** A dead letter is some megabytes at most. */
    private static final int WHOLE_PAGE = 16;

    /** A plan that does not look at all counts no further. */
    public static final int PLAN_MAX = 10_000;

    /** Where there are more, it looks for order conflicts among so many of the newest. */
    private static final int CONFLICT_SAMPLE = 1_000;

    /** How far back from its end the journal is searched for later messages of the same keys. */
    private static final long ENTRIES_MAX = 1_000_000;

    /** The same for whoever waits for a page. */
    private static final long PLAN_ENTRIES_MAX = 200_000;

    private final Database database;
    private final DeadLetterTable table;
    private final List<Redriver> redrivers;
    private final Redrives redrives;

    public DeadLetters(Database database, Audit audit, Collection<Redriver> redrivers) {
        this.database = database;
        this.table = new DeadLetterTable(database.schema());
        this.redrivers = List.copyOf(redrivers);
        this.redrives = new Redrives(database, audit, this.redrivers);
    }

    /** Puts them back on their way, or ends them. */
    public Redrives redrives() {
        return redrives;
    }

    /**
     * A page of open dead letters, newest first, without their payloads.
     *
     * @param before the id of the last one of the page before, or null for the first page
     */
    public List<DeadLetterRow> list(DeadLetterFilter filter, @Nullable Long before, int limit) {
        within("list dead letters", "the page", limit, PAGE_MAX);
        return database.run(tx -> table.list(tx, filter, before, limit));
    }

    /**
     * A page of dead letters that were redriven or discarded, last resolved first, without their payloads.
     *
     * @param resolution only those that were redriven, or only those that were discarded; null: both
     * @param before the id of the last one of the page before, or null for the first page
     */
    public List<ResolvedLetter> listResolved(
            DeadLetterFilter filter, @Nullable RedriveAction resolution, @Nullable Long before, int limit) {
        within("list dead letters", "the page", limit, PAGE_MAX);
        return database.run(tx -> table.listResolved(tx, filter, resolution, before, limit));
    }

    /** Open dead letters by what they have in common, the greatest groups first. */
    public List<DeadLetterGroup> groups(DeadLetterFilter filter, Set<GroupBy> by, int limit) {
        within("group dead letters", "the page", limit, GROUPS_MAX);
        if (by.isEmpty()) {
            throw new PostroomException(
                    "deadletter.group-missing",
                    "could not group dead letters: no group is named; choose some of " + EnumSet.allOf(GroupBy.class));
        }
        return database.run(tx -> table.groups(tx, filter, by, limit));
    }

    /** How many are open, by owner, type and cause, up to {@link #COUNT_MAX} for each owner: cheap enough to ask often. */
    public List<OpenLetters> countOpen() {
        return database.run(tx -> table.countOpen(tx, COUNT_MAX, OWNERS_MAX));
    }

    /** How many open ones fit. It looks at all of them. */
    public long count(DeadLetterFilter filter) {
        return database.run(tx -> table.count(tx, filter)).letters();
    }

    /** Those that a filter names by their ids and does not mean: they are not there, not open, or do not fit the rest of it. */
    public List<Long> notMeant(DeadLetterFilter filter) {
        if (filter.ids().isEmpty()) {
            return List.of();
        }
        SortedSet<Long> ids = new TreeSet<>(filter.ids());
        database.run(tx -> table.findIds(tx, filter, 0, Long.MAX_VALUE, DeadLetterFilter.IDS_MAX))
                .forEach(found -> ids.remove(found.id()));
        return List.copyOf(ids);
    }

    /** A dead letter, whole, whether it is open or not. */
    public Optional<DeadLetter> get(long id) {
        return database.run(tx -> table.read(tx, new long[] {id})).stream().findFirst();
    }

    /**
     * What a redrive with this filter would mean. It looks at every open dead letter that fits, and at as much of the journal as its
     * owners deem reasonable.
     */
    public RedrivePlan plan(DeadLetterFilter filter) {
        return database.transact(tx -> {
            RedrivePlan plan = table.count(tx, filter);
            OrderConflicts conflicts = OrderConflicts.NONE;
            for (Redriver redriver : plan.letters() == 0 ? List.<Redriver>of() : redrivers) {
                conflicts = conflicts.plus(redriver.conflicts(tx, filter, ENTRIES_MAX));
            }
            return plan.with(conflicts);
        });
    }

    /**
     * The same without looking at all: however many fit, no more than a limit are counted, and order conflicts are looked for among the
     * newest, and in less of the journal. What is asked for with such a plan is counted then, all of it.
     */
    public RedrivePlan plan(DeadLetterFilter filter, int lettersMax) {
        within("plan a redrive", "the limit of letters", lettersMax, PLAN_MAX);
        return database.transact(tx -> {
            DeadLetterTable.Counted counted = table.countUpTo(tx, filter, lettersMax);
            RedrivePlan plan = counted.plan();
            if (plan.letters() == 0) {
                return plan;
            }
            // By their ids, which are known now: the filter may have to look at every dead letter again.
            List<Long> newest = counted.ids()
                    .subList(
                            0,
                            Math.min(
                                    plan.exact() ? lettersMax : CONFLICT_SAMPLE,
                                    counted.ids().size()));
            DeadLetterFilter looked = DeadLetterFilter.builder().ids(newest).build();
            OrderConflicts conflicts = OrderConflicts.NONE;
            for (Redriver redriver : redrivers) {
                conflicts = conflicts.plus(redriver.conflicts(tx, looked, PLAN_ENTRIES_MAX));
            }
            return plan.with(
                    plan.exact() ? conflicts : new OrderConflicts(conflicts.keys(), false, conflicts.samples()));
        });
    }

    /** What a patch would make of the first open dead letters that fit. */
    public List<PatchPreview> preview(DeadLetterFilter filter, JsonPatch patch, int samples) {
        within("preview a patch", "the number of samples", samples, SAMPLES_MAX);
        return database.run(tx -> {
            long[] ids = ids(table.findIds(tx, filter, 0, Long.MAX_VALUE, samples));
            return table.readPayloads(tx, ids, Redrives.PATCH_BYTES_MAX).stream()
                    .map(found -> PatchPreview.of(found.id(), found.payload(), patch))
                    .toList();
        });
    }

    /**
     * Hands over every open dead letter that fits, whole, in the order of their ids. Few are in memory at a time, and no transaction is
     * open while the caller works: one that is resolved meanwhile may come or not.
     */
    public void export(DeadLetterFilter filter, Consumer<DeadLetter> letters) {
        long reached = 0;
        // Ends at the newest one of now, however many come meanwhile.
        long last = database.run(tx -> table.list(tx, filter, null, 1)).stream()
                .mapToLong(DeadLetterRow::id)
                .findFirst()
                .orElse(0);
        while (reached < last) {
            long after = reached;
            long[] ids = database.run(tx -> ids(table.findIds(tx, filter, after, last, IDS_PAGE)));
            for (int from = 0; from < ids.length; from += WHOLE_PAGE) {
                long[] page = Arrays.copyOfRange(ids, from, Math.min(ids.length, from + WHOLE_PAGE));
                database.run(tx -> table.read(tx, page)).forEach(letters);
            }
            reached = ids.length < IDS_PAGE ? last : ids[ids.length - 1];
        }
    }

    static long[] ids(List<DeadLetterTable.Found> found) {
        return found.stream().mapToLong(DeadLetterTable.Found::id).toArray();
    }

    private static void within(String verb, String name, int value, int max) {
        if (value < 1 || value > max) {
            throw new PostroomException(
                    "deadletter.page-invalid",
                    "could not " + verb + ": " + name + " is " + value + ", the range is 1 to " + max);
        }
    }
}
