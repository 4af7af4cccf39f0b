package io.postroom.server.message;

import io.postroom.Postroom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Looks through the journal for messages, newest first, a window of positions at a time, for as long as it may.
 *
 * <p>There is no index on what people search for, and there shall be none: it would cost every publisher. But the journal has a hash of
 * each key, and its rows are narrow: where the whole key is asked for, a hundred thousand of them are looked through at once, and only
 * what fits is read from the outbox.
 */
final class MessageSearch {
    /** So many positions one window has whose messages have to be read. */
    static final int WINDOW = 5_000;

    /** So many it has where their entries in the journal are enough. */
    static final int FAR_WINDOW = 100_000;

    /** So much of payloads one window reads. */
    static final int BYTES_MAX = 16_000_000;

    /** No further window is begun after so long. */
    static final Duration PATIENCE = Duration.ofMillis(120);

    /** The same, for those who say that they want to wait. */
    static final Duration PATIENCE_MAX = Duration.ofMillis(1_500);

    private static final int SAMPLE = 20;

    private final Postroom reading;
    private final BrowseTable table;

    MessageSearch(Postroom reading, BrowseTable table) {
        this.reading = reading;
        this.table = table;
    }

    /**
     * A page of what was found among some positions. {@code next} is where the search goes on; null at the beginning of the journal, or of
     * the time asked for. {@code ofTenants} is false where some windows had only messages without a tenant looked at.
     */
    record Found(
            List<MessageRow> rows,
            long newest,
            long oldest,
            @Nullable Long next,
            boolean ofTenants) {}

    Found search(
            MessageQuery query,
            @Nullable Long before,
            @Nullable Instant from,
            @Nullable Instant until,
            int limit,
            Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        long newest = newest(before, until);
        // Older days are gone: nobody shall look for something there, window by window.
        long floor = reading.database().run(table::floor);
        if (from != null) {
            floor = Math.max(floor, reading.journal().positionAt(from) + 1);
        }
        List<MessageRow> found = new ArrayList<>();
        Integer keyHash = null;
        boolean ofTenants = true;
        long next = newest + 1;
        while (found.size() <= limit && next > floor) {
            long above = next;
            long after =
                    Math.max(floor - 1, above - 1 - (query.isAll() ? limit : keyHash == null ? WINDOW : FAR_WINDOW));
            Integer hash = keyHash;
            int max = hash == null ? WINDOW : limit + 1;
            List<BrowseTable.Entry> entries = reading.database().run(tx -> table.entries(tx, after, above, hash, max));
            List<BrowseTable.Entry> looked = query.path() == null ? entries : light(entries);
            found.addAll(reading.database().run(tx -> table.rows(tx, looked, query)));
            boolean isWhole = looked.size() == entries.size() && (hash == null || entries.size() < max);
            next = isWhole ? after + 1 : looked.get(looked.size() - 1).position();
            if (query.isAll() || System.nanoTime() - deadline > 0) {
                break;
            }
            if (keyHash == null && query.aggregateType() != null && query.aggregateId() != null) {
                keyHash = keyHash(query, entries);
                ofTenants = keyHash == null || query.tenant() != null;
            }
        }
        List<MessageRow> shown = found.size() > limit ? found.subList(0, limit) : found;
        long end = found.size() > limit ? shown.get(limit - 1).position() : next;
        return new Found(List.copyOf(shown), newest, end, end <= floor ? null : Long.valueOf(end), ofTenants);
    }

    /** Null if it cannot be known: a tenant is a part of it, and there are some, and none is given. */
    private @Nullable Integer keyHash(MessageQuery query, List<BrowseTable.Entry> entries) {
        String type = Objects.requireNonNull(query.aggregateType());
        String id = Objects.requireNonNull(query.aggregateId());
        List<BrowseTable.Entry> sample = entries.subList(0, Math.min(SAMPLE, entries.size()));
        boolean hasTenants = query.tenant() == null
                && reading.database().run(tx -> table.rows(tx, sample, MessageQuery.ALL)).stream()
                        .anyMatch(row -> row.tenantId() != null);
        return hasTenants ? null : reading.database().run(tx -> table.keyHash(tx, query.tenant(), type, id));
    }

    /** Where a search begins: below a position, or at the last one before a time, or at the newest. */
    private long newest(@Nullable Long before, @Nullable Instant until) {
        long head = until == null
                ? reading.journal().refreshHead().position()
                : reading.journal().positionAt(until);
        return before == null ? head : Math.min(head, before - 1);
    }

    /** The first of some entries, at least one: payloads have to be read to be searched, and some are a thousand times as large as others. */
    static List<BrowseTable.Entry> light(List<BrowseTable.Entry> entries) {
        long bytes = 0;
        for (int i = 0; i < entries.size(); i++) {
            bytes += entries.get(i).bytes();
            if (bytes > BYTES_MAX) {
                return entries.subList(0, Math.max(1, i));
            }
        }
        return entries;
    }
}
