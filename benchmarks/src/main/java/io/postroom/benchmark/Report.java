package io.postroom.benchmark;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;

/** Collects figures and writes them as Markdown with bar charts, and says which targets were met. */
final class Report implements Serializable {
    private static final long serialVersionUID = 1L;

    private String intro = "";
    private final LinkedHashMap<String, ArrayList<String>> sections = new LinkedHashMap<>();
    private final LinkedHashMap<String, Chart> charts = new LinkedHashMap<>();
    private final ArrayList<String> missed = new ArrayList<>();
    private int judged;

    /** What a reader must know of all figures. */
    void begin(String intro) {
        this.intro = intro;
    }

    /** Takes over what another has found, about sections of its own. */
    void add(Report other) {
        intro = other.intro.isEmpty() ? intro : other.intro;
        sections.putAll(other.sections);
        charts.putAll(other.charts);
        missed.addAll(other.missed);
        judged += other.judged;
    }

    void save(Path file) throws IOException {
        try (ObjectOutputStream out = new ObjectOutputStream(Files.newOutputStream(file))) {
            out.writeObject(this);
        }
    }

    static Report load(Path file) throws IOException {
        try (ObjectInputStream in = new ObjectInputStream(Files.newInputStream(file))) {
            return (Report) in.readObject();
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

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
    void broken(String scenario, String why) {
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
    boolean write(Path folder) throws IOException {
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
