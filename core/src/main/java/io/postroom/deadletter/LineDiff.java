package io.postroom.deadletter;

import java.util.ArrayList;
import java.util.List;

/** What changed between two texts, line by line: {@code - } was there, {@code + } is there now, with some lines around. */
final class LineDiff {
    private static final int CONTEXT_LINES = 2;

    /** Beyond this the lines in the middle are not compared one by one: it would take too long, and nobody reads it. */
    private static final int COMPARED_LINES_MAX = 1_000;

    private LineDiff() {}

    static List<String> of(String before, String after) {
        List<String> old = before.lines().toList();
        List<String> now = after.lines().toList();
        int head = 0;
        while (head < Math.min(old.size(), now.size()) && old.get(head).equals(now.get(head))) {
            head++;
        }
        int tail = 0;
        while (tail < Math.min(old.size(), now.size()) - head
                && old.get(old.size() - 1 - tail).equals(now.get(now.size() - 1 - tail))) {
            tail++;
        }
        List<String> lines = new ArrayList<>();
        old.subList(0, head).forEach(line -> lines.add("  " + line));
        middle(lines, old.subList(head, old.size() - tail), now.subList(head, now.size() - tail));
        old.subList(old.size() - tail, old.size()).forEach(line -> lines.add("  " + line));
        return shortened(lines);
    }

    private static void middle(List<String> lines, List<String> old, List<String> now) {
        if (old.size() > COMPARED_LINES_MAX || now.size() > COMPARED_LINES_MAX) {
            old.forEach(line -> lines.add("- " + line));
            now.forEach(line -> lines.add("+ " + line));
            return;
        }
        int[][] common = common(old, now);
        int i = 0;
        int j = 0;
        while (i < old.size() || j < now.size()) {
            if (i < old.size() && j < now.size() && old.get(i).equals(now.get(j))) {
                lines.add("  " + old.get(i));
                i++;
                j++;
            } else if (j == now.size() || i < old.size() && common[i + 1][j] >= common[i][j + 1]) {
                lines.add("- " + old.get(i++));
            } else {
                lines.add("+ " + now.get(j++));
            }
        }
    }

    /** How many lines two ends of the texts can have in common at most. */
    private static int[][] common(List<String> old, List<String> now) {
        int[][] common = new int[old.size() + 1][now.size() + 1];
        for (int i = old.size() - 1; i >= 0; i--) {
            for (int j = now.size() - 1; j >= 0; j--) {
                common[i][j] = old.get(i).equals(now.get(j))
                        ? common[i + 1][j + 1] + 1
                        : Math.max(common[i + 1][j], common[i][j + 1]);
            }
        }
        return common;
    }

    private static List<String> shortened(List<String> lines) {
        boolean[] kept = new boolean[lines.size()];
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).startsWith("  ")) {
                int last = Math.min(lines.size() - 1, i + CONTEXT_LINES);
                for (int near = Math.max(0, i - CONTEXT_LINES); near <= last; near++) {
                    kept[near] = true;
                }
            }
        }
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (kept[i]) {
                shown.add(lines.get(i));
            } else if (i == 0 || kept[i - 1]) {
                shown.add("  …");
            }
        }
        return shown;
    }
}
