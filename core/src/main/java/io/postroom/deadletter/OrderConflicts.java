package io.postroom.deadletter;

import java.util.List;

/**
 * Keys whose later messages were delivered before the dead letters that are to be redriven: their consumer will see old news.
 *
 * @param keys how many keys; about so many, if it is not exact
 * @param exact false where there were too many to look at or to compare by name, or the journal is too long to read all of
 *     it
 * @param samples some of them, as aggregate type and id
 */
public record OrderConflicts(long keys, boolean exact, List<String> samples) {
    /** There are none. */
    public static final OrderConflicts NONE = new OrderConflicts(0, true, List.of());

    public OrderConflicts {
        samples = List.copyOf(samples);
    }

    /** Those of two owners. */
    public OrderConflicts plus(OrderConflicts other) {
        return new OrderConflicts(keys + other.keys, exact && other.exact, samples.isEmpty() ? other.samples : samples);
    }
}
