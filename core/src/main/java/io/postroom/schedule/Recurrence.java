package io.postroom.schedule;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Instants that go on for ever, each the next one after another. Immutable: safe for use by many threads. */
public sealed interface Recurrence permits Cron, FixedRate, UnreadableRecurrence {
    int COUNT_MAX = 1_000;

    /** The first instant after the given one. There always is one; only an {@link UnreadableRecurrence} does not know it, and throws. */
    Instant next(Instant after);

    /** What it is in plain English, such as {@code at 02:30 every Monday, Europe/Berlin}. */
    String describe();

    /** The first so many instants after the given one, 1 to {@link #COUNT_MAX}. */
    default List<Instant> next(Instant after, int count) {
        if (count < 1 || count > COUNT_MAX) {
            throw new IllegalArgumentException("count is " + count + ", the range is 1 to " + COUNT_MAX);
        }
        List<Instant> all = new ArrayList<>(count);
        Instant last = after;
        for (int i = 0; i < count; i++) {
            last = next(last);
            all.add(last);
        }
        return all;
    }
}
