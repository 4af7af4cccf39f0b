package io.postroom.server.message;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The newest messages, for all who watch them: whoever asks first after a second looks for everybody, and nobody looks while nobody
 * watches. Positions are dense, so that what is not here is known in number. Thread-safe.
 */
final class LiveMessages {
    /** So many positions one look reads, and so many are kept for those who come back. */
    static final int LOOK_MAX = 2_000;

    /** So much of payloads one look reads, for those who watch a field of them. */
    private static final int PAYLOAD_BYTES_MAX = 4_000_000;

    private static final Duration EVERY = Duration.ofSeconds(1);
    private static final Logger LOG = LoggerFactory.getLogger(LiveMessages.class);

    private final Postroom reading;
    private final BrowseTable table;
    private final Map<List<String>, Integer> watched = new LinkedHashMap<>();
    private final Deque<Live> kept = new ArrayDeque<>();
    /** All after it and up to {@code reached} are kept; below zero before the first look. */
    private long floor = -1;

    private long reached = -1;
    /** Where somebody wants to go on, further back than what is kept. */
    private long wanted = Long.MAX_VALUE;

    private long lookedAt;
    private boolean isStale;

    LiveMessages(Postroom reading, BrowseTable table) {
        this.reading = reading;
        this.table = table;
    }

    /** A message and what stands at the paths that were watched; null if its payload was too much to read. */
    record Live(MessageRow row, @Nullable Map<List<String>, @Nullable String> found) {}

    /** What is new, oldest first. {@code leftOut} were not looked at. {@code isStale}: the database does not answer. */
    record Seen(List<Live> rows, long reached, long leftOut, boolean isStale) {}

    /** Begins to watch, after a position; from now on without one. Each beginning has its {@link #end}. */
    synchronized long begin(@Nullable Long after, @Nullable List<String> path) {
        boolean isNew = path != null && watched.merge(path, 1, Integer::sum) == 1;
        look();
        if (after != null && after > reached) {
            // Somebody has just seen more than the last look did; nobody shall see it twice.
            lookedAt -= EVERY.toNanos();
            look();
        }
        if (after == null || after >= reached) {
            return Math.max(0, reached);
        }
        if (after < floor || isNew) {
            wanted = Math.min(wanted, after);
        }
        return after;
    }

    synchronized void end(@Nullable List<String> path) {
        if (path != null) {
            watched.computeIfPresent(path, (same, viewers) -> viewers == 1 ? null : viewers - 1);
        }
    }

    /** What came after a position. */
    synchronized Seen since(long after) {
        look();
        if (wanted <= after) {
            // It comes with the next look.
            return new Seen(List.of(), after, 0, isStale);
        }
        List<Live> rows =
                kept.stream().filter(live -> live.row().position() > after).toList();
        return new Seen(rows, Math.max(after, reached), Math.max(0, floor - after), isStale);
    }

    private void look() {
        if (reached >= 0 && System.nanoTime() - lookedAt < EVERY.toNanos()) {
            return;
        }
        lookedAt = System.nanoTime();
        try {
            if (reached < 0) {
                floor = reading.journal().refreshHead().position();
                reached = floor;
            }
            read();
            isStale = false;
        } catch (PostroomException e) {
            if (!isStale) {
                LOG.warn("could not look for new messages: {}", e.getMessage());
            }
            isStale = true;
        }
    }

    private void read() {
        long after = Math.min(reached, wanted);
        List<List<String>> paths = List.copyOf(watched.keySet());
        List<BrowseTable.Entry> entries =
                reading.database().run(tx -> table.entries(tx, after, Long.MAX_VALUE, null, LOOK_MAX));
        List<BrowseTable.Live> rows = entries.isEmpty()
                ? List.of()
                : reading.database()
                        .run(tx -> table.live(tx, entries, paths.isEmpty() ? List.of() : heavy(entries), paths));
        if (wanted < reached) {
            kept.clear();
            floor = after;
        }
        wanted = Long.MAX_VALUE;
        if (entries.isEmpty()) {
            return;
        }
        long first = entries.get(entries.size() - 1).position();
        if (first > after + 1) {
            kept.clear();
            floor = first - 1;
        }
        rows.forEach(live -> kept.addLast(new Live(live.row(), found(paths, live.found()))));
        reached = entries.get(0).position();
        while (kept.size() > LOOK_MAX) {
            floor = kept.removeFirst().row().position();
        }
    }

    /** Those after the newest ones that are little enough to be read. */
    private static List<BrowseTable.Entry> heavy(List<BrowseTable.Entry> entries) {
        long bytes = 0;
        for (int i = 0; i < entries.size(); i++) {
            bytes += entries.get(i).bytes();
            if (bytes > PAYLOAD_BYTES_MAX) {
                return entries.subList(Math.max(1, i), entries.size());
            }
        }
        return List.of();
    }

    private static @Nullable Map<List<String>, @Nullable String> found(
            List<List<String>> paths, @Nullable List<@Nullable String> values) {
        if (values == null) {
            return null;
        }
        Map<List<String>, @Nullable String> found = new HashMap<>();
        for (int i = 0; i < paths.size(); i++) {
            found.put(paths.get(i), values.get(i));
        }
        return found;
    }
}
