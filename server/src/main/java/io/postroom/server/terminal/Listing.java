package io.postroom.server.terminal;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Rows with named columns, written as a table, as one JSON array or as JSON lines. The names are part of the program's promise:
 * scripts read them.
 */
public final class Listing {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int CELL_LENGTH_MAX = 200;
    private static final String GAP = "  ";

    private final List<String> columns;
    private final List<@Nullable Object[]> rows = new ArrayList<>();

    public Listing(String... columns) {
        this.columns = List.of(columns);
    }

    /** Adds a row: strings, numbers, booleans, times, durations (as seconds), collections, maps, or null. */
    public Listing row(@Nullable Object... values) {
        if (values.length != columns.size()) {
            throw new IllegalArgumentException("there are " + columns.size() + " columns, not " + values.length);
        }
        rows.add(values.clone());
        return this;
    }

    public void print(Terminal terminal, OutputFormat format) {
        terminal.print(
                switch (format) {
                    case TABLE -> table();
                    case JSON -> "[" + rows.stream().map(this::json).collect(Collectors.joining(",\n ")) + "]\n";
                    case JSONL -> rows.stream().map(row -> json(row) + "\n").collect(Collectors.joining());
                });
    }

    /** Each row as names and values that JSON has. */
    public List<Map<String, @Nullable Object>> objects() {
        return rows.stream().map(this::object).toList();
    }

    private Map<String, @Nullable Object> object(@Nullable Object[] row) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        for (int i = 0; i < row.length; i++) {
            object.put(columns.get(i), plain(row[i]));
        }
        return object;
    }

    private String json(@Nullable Object[] row) {
        return JSON.writeValueAsString(object(row));
    }

    /** A value as JSON has it: durations are seconds, times and identifiers text. */
    private static @Nullable Object plain(@Nullable Object value) {
        if (value instanceof Duration duration) {
            return duration.toMillis() / 1000.0;
        }
        boolean isPlain = value == null
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof Collection<?>
                || value instanceof Map<?, ?>;
        return isPlain ? value : value.toString();
    }

    /** As columns for people. */
    public String table() {
        List<List<String>> lines = new ArrayList<>();
        lines.add(columns.stream().map(Listing::heading).toList());
        rows.forEach(row -> lines.add(Arrays.stream(row).map(Listing::cell).toList()));
        int[] widths = new int[columns.size()];
        lines.forEach(line -> {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        });
        return lines.stream().map(line -> line(line, widths)).collect(Collectors.joining());
    }

    private String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String space = " ".repeat(widths[i] - cells.get(i).length());
            line.append(i == 0 ? "" : GAP);
            line.append(isNumeric(i) ? space + cells.get(i) : cells.get(i) + space);
        }
        return line.toString().stripTrailing() + "\n";
    }

    private boolean isNumeric(int column) {
        return !rows.isEmpty()
                && rows.stream()
                        .allMatch(row -> row[column] == null
                                || row[column] instanceof Number
                                || row[column] instanceof Duration);
    }

    /** {@code appliedAt} becomes {@code APPLIED AT}. */
    private static String heading(String column) {
        return column.replaceAll("([A-Z])", " $1").toUpperCase(Locale.ROOT);
    }

    private static String cell(@Nullable Object value) {
        if (value == null) {
            return "-";
        }
        if (value instanceof Duration duration) {
            return Durations.show(duration);
        }
        if (value instanceof Instant time) {
            return time.truncatedTo(ChronoUnit.MILLIS).toString();
        }
        if (value instanceof Collection<?> values) {
            return Quoted.text(values.stream().map(String::valueOf).collect(Collectors.joining(",")), CELL_LENGTH_MAX);
        }
        return Quoted.text(value.toString(), CELL_LENGTH_MAX);
    }
}
