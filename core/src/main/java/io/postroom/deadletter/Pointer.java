package io.postroom.deadletter;

import java.util.ArrayList;
import java.util.List;

/** A place in a JSON value (RFC 6901): {@code /items/0/price}; the empty text is the whole. */
record Pointer(String text, List<String> steps) {

    /** Reads one; throws an {@link IllegalArgumentException} that says what is wrong with it. */
    static Pointer parse(String text) {
        if (!text.isEmpty() && text.charAt(0) != '/') {
            throw new IllegalArgumentException("it does not begin with /");
        }
        List<String> steps = new ArrayList<>();
        if (!text.isEmpty()) {
            for (String step : text.substring(1).split("/", -1)) {
                if (step.matches("(?s).*~(?![01]).*")) {
                    throw new IllegalArgumentException("it has a ~ that is neither ~0 (for ~) nor ~1 (for /)");
                }
                // In this order: ~01 is ~1, not a slash.
                steps.add(step.replace("~1", "/").replace("~0", "~"));
            }
        }
        return new Pointer(text, List.copyOf(steps));
    }

    boolean isWhole() {
        return steps.isEmpty();
    }

    String last() {
        return steps.get(steps.size() - 1);
    }

    boolean isAbove(Pointer other) {
        return other.steps.size() > steps.size()
                && other.steps.subList(0, steps.size()).equals(steps);
    }
}
