package io.postroom.server.terminal;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Guesses what somebody meant who wrote a word that does not exist. */
public final class Suggestion {
    private Suggestion() {}

    /** The known word nearest to a given one, if it is near enough to be meant. */
    public static Optional<String> nearest(String word, Collection<String> known) {
        String given = word.toLowerCase(Locale.ROOT);
        return known.stream()
                .min(Comparator.comparingInt((String candidate) -> distance(given, candidate.toLowerCase(Locale.ROOT)))
                        .thenComparing(Comparator.naturalOrder()))
                .filter(best -> distance(given, best.toLowerCase(Locale.ROOT)) <= Math.max(1, given.length() / 3));
    }

    /** The end of a sentence about an unknown word: empty, or a question. */
    public static String didYouMean(String word, Collection<String> known) {
        return nearest(word, known).map(best -> "; did you mean " + best + "?").orElse("");
    }

    /** How many letters must be inserted, left out, replaced or swapped with their neighbour. */
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int same = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                cost[i][j] = Math.min(Math.min(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + same);
                boolean swapped =
                        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
                if (swapped) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[a.length()][b.length()];
    }
}
