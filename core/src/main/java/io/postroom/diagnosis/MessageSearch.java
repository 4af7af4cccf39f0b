package io.postroom.diagnosis;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Finds a message by its id, which no index has. What it does in which order is told in the package's own words. */
final class MessageSearch {
    private static final int COPIES_MAX = 10;

    /** How far the clock of a writer and that of the database may differ, and a message may wait to be inserted. */
    private static final List<Duration> AROUND =
            List.of(Duration.ofSeconds(10), Duration.ofMinutes(2), Duration.ofHours(1));

    /** PostgreSQL ended a statement that took too long. */
    private static final String QUERY_CANCELED = "57014";

    /** What a restamp writes in place of a transaction id that means nothing any more. */
    private static final String FROZEN = "3";

    private final Database database;
    private final SearchTable table;
    private final Duration statementMax;
    private final Duration searchMax;

    MessageSearch(Database database, SearchTable table, Duration statementMax, Duration searchMax) {
        this.database = database;
        this.table = table;
        this.statementMax = statementMax;
        this.searchMax = searchMax;
    }

    /**
     * What was found, newest first, and what was not searched.
     *
     * @param oldestDay the first day that the outbox has a partition for
     * @param unsearched days that were left out because the time was up
     */
    record Result(List<SearchTable.Row> rows, @Nullable LocalDate oldestDay, List<SearchTable.Days> unsearched) {}

    /** Where a message stands in the journal; both null: it has not been stamped. */
    record Place(SearchTable.@Nullable Entry entry, boolean unknown) {}

    /** When an id was made, if it says so. */
    static Optional<Instant> madeAt(UUID id) {
        return id.version() == 7
                ? Optional.of(Instant.ofEpochMilli(id.getMostSignificantBits() >>> 16))
                : Optional.empty();
    }

    Result find(UUID id) {
        long deadline = System.nanoTime() + searchMax.toNanos();
        Optional<Instant> made = madeAt(id);
        List<SearchTable.Days> days = database.transact(tx -> {
            table.begin(tx, statementMax);
            return table.days(tx);
        });
        LocalDate oldest = days.stream()
                .map(SearchTable.Days::first)
                .min(LocalDate::compareTo)
                .orElse(null);
        if (made.isPresent()) {
            for (Duration around : AROUND) {
                List<SearchTable.Row> rows = near(id, made.get(), around);
                if (!rows.isEmpty()) {
                    return new Result(rows, oldest, List.of());
                }
            }
        }
        List<SearchTable.Days> unsearched = new ArrayList<>();
        Deque<SearchTable.Days> left = new ArrayDeque<>(inOrder(stretches(days), made.orElse(null)));
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            List<SearchTable.Row> rows = search(id, left, unsearched, deadline);
            if (!rows.isEmpty()) {
                return new Result(rows, oldest, List.of());
            }
        }
        unsearched.addAll(left);
        return new Result(List.of(), oldest, unsearched);
    }

    /** Among the seqs that were drawn around a time; a transaction of its own, because it may take too long. */
    private List<SearchTable.Row> near(UUID id, Instant made, Duration around) {
        Instant first = made.minus(around);
        Instant last = made.plus(around);
        SearchTable.Days days =
                new SearchTable.Days(day(first).minusDays(1), day(last).plusDays(2));
        return bounded(() -> database.transact(tx -> {
                    table.begin(tx, statementMax);
                    Long after = table.ticksAround(tx, first).seqBefore();
                    Long to = table.ticksAround(tx, last).seqAfter();
                    return table.findBySeq(
                            tx,
                            id,
                            days,
                            new SearchTable.Seqs(after == null ? 0 : after, to == null ? Long.MAX_VALUE : to),
                            COPIES_MAX);
                }))
                .orElse(List.of());
    }

    /** Goes through days, each removed once it was searched, until something is found, the time is up, or one took too long. */
    private List<SearchTable.Row> search(
            UUID id, Deque<SearchTable.Days> left, List<SearchTable.Days> unsearched, long deadline) {
        Optional<List<SearchTable.Row>> found = bounded(() -> database.transact(tx -> {
            table.begin(tx, statementMax);
            List<SearchTable.Row> rows = List.of();
            while (rows.isEmpty() && !left.isEmpty() && System.nanoTime() < deadline) {
                rows = table.findByDay(tx, id, left.getFirst(), COPIES_MAX);
                left.removeFirst();
            }
            return rows;
        }));
        if (found.isEmpty()) {
            unsearched.add(left.removeFirst());
        }
        return found.orElse(List.of());
    }

    /** Where a message stands in the journal. */
    Place place(SearchTable.Row row) {
        if (!row.xid().equals(FROZEN)) {
            Optional<Place> place = bounded(() -> database.transact(tx -> {
                table.begin(tx, statementMax);
                SearchTable.Stretch stamped = table.findStamp(tx, row);
                return stamped.upTo() == null
                        ? new Place(null, false)
                        : new Place(table.findEntry(tx, row, stamped).orElse(null), true);
            }));
            if (place.isPresent()
                    && (place.get().entry() != null || !place.get().unknown())) {
                return place.get();
            }
        }
        // Its transaction id does not tell: it was stamped later than its seq was drawn, that is all.
        Optional<Optional<SearchTable.Entry>> entry = bounded(() -> database.transact(tx -> {
            table.begin(tx, statementMax);
            return table.findEntry(tx, row, table.after(tx, row.seq()));
        }));
        boolean searched = entry.isPresent();
        return new Place(
                entry.flatMap(found -> found).orElse(null),
                !searched || !row.xid().equals(FROZEN));
    }

    private interface Question<T> {
        T ask();
    }

    /** The answer, or nothing if it took too long. */
    private static <T> Optional<T> bounded(Question<T> question) {
        try {
            return Optional.of(question.ask());
        } catch (DatabaseException e) {
            if (e.sqlState().equals(QUERY_CANCELED)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Every partition, and the gaps between them, whose days are in the default partition; newest first. */
    static List<SearchTable.Days> stretches(List<SearchTable.Days> partitions) {
        List<SearchTable.Days> sorted = partitions.stream()
                .sorted(Comparator.comparing(SearchTable.Days::first).reversed())
                .toList();
        List<SearchTable.Days> stretches = new ArrayList<>();
        LocalDate end = LocalDate.MAX;
        for (SearchTable.Days days : sorted) {
            if (days.last().isBefore(end)) {
                stretches.add(new SearchTable.Days(days.last(), end));
            }
            stretches.add(days);
            end = days.first();
        }
        stretches.add(new SearchTable.Days(LocalDate.MIN, end));
        return stretches;
    }

    private static List<SearchTable.Days> inOrder(List<SearchTable.Days> stretches, @Nullable Instant made) {
        if (made == null) {
            return stretches;
        }
        SearchTable.Days likely =
                new SearchTable.Days(day(made).minusDays(1), day(made).plusDays(2));
        return stretches.stream()
                .sorted(Comparator.comparing(days -> !days.overlaps(likely)))
                .toList();
    }

    static LocalDate day(Instant time) {
        return LocalDate.ofInstant(time, ZoneOffset.UTC);
    }
}
