package io.postroom.retry;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Guesses what somebody meant who wrote a word that does not exist. */
public final class Spelling {
    private static final int WORD_LENGTH_MAX = 50;

    private Spelling() {}

    /** The end of a sentence about an unknown word: a question, or empty if no known word is near. */
    public static String didYouMean(String word, List<String> known) {
        if (word.isEmpty() || word.length() > WORD_LENGTH_MAX) {
            return "";
        }
        String given = word.toLowerCase(Locale.ROOT);
        return known.stream()
                .min(Comparator.comparingInt(candidate -> distance(given, candidate)))
                .filter(best -> distance(given, best) <= Math.max(1, best.length() / 3))
                .map(best -> "; did you mean " + best + "?")
                .orElse("");
    }

    /** How many letters must be put in, left out or replaced; two that changed places count as one. */
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int replace = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                cost[i][j] = Math.min(Math.min(cost[i - 1][j], cost[i][j - 1]) + 1, replace);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[a.length()][b.length()];
    }
}
