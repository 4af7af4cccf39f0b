package io.postroom.micrometer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Something for each value of a tag, made once. A look-up makes no objects. Beyond a number of values all share one, {@code other}, so
 * that nobody's names can fill the memory or the database of metrics. Safe for use by many threads.
 */
final class PerValue<M> {
    /** How many values one tag has. */
    static final int VALUES_MAX = 100;

    static final String OTHER = "other";

    private final Map<String, M> made = new ConcurrentHashMap<>();
    private final Function<String, M> make;

    PerValue(Function<String, M> make) {
        this.make = make;
    }

    M of(String value) {
        M found = made.get(value);
        return found == null ? make(value) : found;
    }

    private synchronized M make(String value) {
        boolean hasRoom = made.containsKey(value) || made.size() < VALUES_MAX;
        return made.computeIfAbsent(hasRoom ? value : OTHER, make);
    }
}
