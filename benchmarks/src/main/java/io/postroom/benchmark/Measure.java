package io.postroom.benchmark;

import java.util.Arrays;

/** Fair comparisons on a machine that is never quite still: two things in turn, many short rounds, the median of each. */
final class Measure {
    private Measure() {}

    /** One round of something, answering with its rate. */
    @FunctionalInterface
    interface Round {
        double run() throws Exception;
    }

    /** The median rates of two rounds that are run in turn, and the median of their ratios: what disturbs both cancels out. */
    record Pair(double first, double second, double ratio) {}

    static Pair inTurn(int rounds, Round first, Round second) throws Exception {
        // Both are long-lived code paths: what counts is how they run once the compiler is done with them.
        for (int i = 0; i < rounds; i++) {
            first.run();
            second.run();
        }
        double[] firsts = new double[rounds];
        double[] seconds = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            // Who goes first changes, so that a checkpoint or another process does not always hit the same one.
            if (i % 2 == 0) {
                firsts[i] = first.run();
                seconds[i] = second.run();
            } else {
                seconds[i] = second.run();
                firsts[i] = first.run();
            }
        }
        return new Pair(median(firsts), median(seconds), ratio(firsts, seconds));
    }

    /** The median of the ratios of rounds that were run side by side. */
    static double ratio(double[] firsts, double[] seconds) {
        double[] ratios = new double[firsts.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = firsts[i] / seconds[i];
        }
        return median(ratios);
    }

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted.length % 2 == 1
                ? sorted[sorted.length / 2]
                : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
    }

    static double percentile(long[] sorted, double share) {
        return sorted[(int) Math.min(sorted.length - 1, Math.ceil(sorted.length * share))];
    }
}
