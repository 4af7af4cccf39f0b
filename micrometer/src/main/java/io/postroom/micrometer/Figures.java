package io.postroom.micrometer;

import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** What one look has found. For one thread. */
public final class Figures {
    private final Map<Key, Double> values = new LinkedHashMap<>();
    private final Map<String, Set<String>> seen = new HashMap<>();

    Figures() {}

    /** A figure and its tags. */
    record Key(Figure figure, Tags tags) {}

    /** Enters a value; {@code tags} are names and values in turn. A tag has {@value PerValue#VALUES_MAX} values at most. */
    public void put(Figure figure, double value, String... tags) {
        String[] bounded = tags.clone();
        for (int i = 1; i < bounded.length; i += 2) {
            Set<String> known = seen.computeIfAbsent(bounded[i - 1], ignored -> new LinkedHashSet<>());
            if (!known.contains(bounded[i]) && known.size() >= PerValue.VALUES_MAX) {
                bounded[i] = PerValue.OTHER;
            } else {
                known.add(bounded[i]);
            }
        }
        values.merge(
                new Key(figure, Tags.of(bounded)),
                value,
                (one, two) -> figure.together().applyAsDouble(one, two));
    }

    Map<Key, Double> values() {
        return values;
    }
}
