package io.postroom.advice;

import java.util.List;

/**
 * What to do about one thing, and why.
 *
 * @param verdict in a sentence
 * @param reasons the steps to it: each a figure, its threshold, and where the threshold comes from
 */
public record Advice(Topic topic, Urgency urgency, String verdict, List<Reason> reasons) {
    /** How soon. */
    public enum Urgency {
        /** It is right as it is. */
        STAY,
        /** Nothing to do yet; look again. */
        WATCH,
        /** A threshold was passed. */
        ACT;

        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /**
     * One step of the reasoning.
     *
     * @param figure what was measured or wished, with its unit
     * @param threshold what it is compared with
     * @param source where the threshold comes from
     * @param passed whether the figure is beyond the threshold
     */
    public record Reason(String name, String figure, String threshold, String source, boolean passed) {}

    public Advice {
        reasons = List.copyOf(reasons);
    }
}
