package io.postroom.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Collects figures and writes them as Markdown with bar charts, and says which targets were met. */
final class Report {
    private final Map<String, List<String>> sections = new LinkedHashMap<>();
    private final Map<String, Chart> charts = new LinkedHashMap<>();
    private final List<String> missed = new ArrayList<>();
    private int judged;

    /** A figure by itself. */
    void figure(String section, String what, double value, String unit) {
        row(section, what, number(value) + " " + unit, "", "", "");
        chart(section, unit).bar(what, value);
    }

    /** A ratio of two figures of this run, with the least it should be. */
    void ratio(String section, String what, double ratio, double least) {
        judge(section, what, String.format(Locale.ROOT, "%.2f", ratio), "at least " + least, ratio >= least);
    }

    /** A figure with the most it should be. */
    void atMost(String section, String what, double value, String unit, double most) {
        judge(section, what, number(value) + " " + unit, "at most " + number(most) + " " + unit, value <= most);
    }

    /** A ratio that could not be measured, and why: a target that nobody knows of is missed. */
    void absent(String section, String what, double least, String why) {
        judged++;
        missed.add(section + ": " + what + " was not measured: " + why);
        row(section, what, "not measured", "at least " + least, "**no**", "");
        note(section, what + " was not measured: " + why);
    }

    /** A scenario that came to no end: what it should have found is missed. */
    void broken(String scenario, Throwable why) {
        judged++;
        missed.add(scenario + " came to no end: " + why);
    }

    /** A remark under a section's table. */
    void note(String section, String text) {
        sections.computeIfAbsent(section, ignored -> new ArrayList<>()).add("\n" + text + "\n");
        System.out.println("  " + text);
    }

    private void judge(String section, String what, String value, String target, boolean met) {
        judged++;
        if (!met) {
            missed.add(section + ": " + what + " is " + value + ", should be " + target);
        }
        row(section, what, value, target, met ? "yes" : "**no**", "");
    }

    private void row(String section, String what, String value, String target, String met, String ignored) {
        sections.computeIfAbsent(section, key -> {
            System.out.println(key);
            return new ArrayList<>(List.of("| what | measured | target | met |", "|---|---:|---|---|"));
        });
        sections.get(section).add("| " + what + " | " + value + " | " + target + " | " + met + " |");
        System.out.printf(
                Locale.ROOT, "  %-70s %16s  %s %s%n", what, value, target, met.equals("**no**") ? "MISSED" : "");
    }

    private Chart chart(String section, String unit) {
        return charts.computeIfAbsent(section + " (" + unit + ")", Chart::new);
    }

    /** Writes the report into a folder; returns whether every target was met. */
    boolean write(Path folder, String intro) throws IOException {
        Files.createDirectories(folder);
        StringBuilder text = new StringBuilder("# Benchmarks\n\n").append(intro).append('\n');
        text.append(
                missed.isEmpty()
                        ? "All " + judged + " targets were met.\n"
                        : missed.size() + " of " + judged + " targets were missed:\n\n- " + String.join("\n- ", missed)
                                + "\n");
        sections.forEach((section, rows) -> {
            text.append("\n## ")
                    .append(section)
                    .append("\n\n")
                    .append(String.join("\n", rows))
                    .append('\n');
            charts.forEach((title, chart) -> {
                if (title.startsWith(section + " (") && chart.isWorthwhile()) {
                    text.append("\n![")
                            .append(title)
                            .append("](")
                            .append(chart.file())
                            .append(")\n");
                }
            });
        });
        Files.writeString(folder.resolve("README.md"), text);
        for (Chart chart : charts.values()) {
            if (chart.isWorthwhile()) {
                Files.writeString(folder.resolve(chart.file()), chart.svg());
            }
        }
        return missed.isEmpty();
    }

    static String number(double value) {
        if (value >= 1000) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, value >= 10 ? "%.1f" : "%.3f", value);
    }
}
