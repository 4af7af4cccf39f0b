package io.postroom.postgres;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A plan that has been run. */
public final class Plan {
    public static final String GENERIC = "force_generic_plan";
    public static final String CUSTOM = "force_custom_plan";

    private final String text;
    private final JsonNode root;

    /**
     * Runs a statement from its file beside a class, with its parameters as {@code name type} and their values as SQL text, and rolls
     * it back.
     */
    public static Plan explain(
            TestDatabase database, String mode, Class<?> owner, String file, List<String> parameters, Object... values)
            throws SQLException {
        String text = source(owner, file).replaceAll("--.*", "");
        for (int i = 0; i < parameters.size(); i++) {
            text = text.replaceAll("(?<!:):" + parameters.get(i).split(" ")[0] + "\\b", "\\$" + (i + 1));
        }
        String types = parameters.stream().map(each -> each.split(" ")[1]).collect(Collectors.joining(", "));
        String arguments = Stream.of(values).map(String::valueOf).collect(Collectors.joining(", "));
        boolean any = !parameters.isEmpty();
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("set local plan_cache_mode = " + mode);
            statement.execute("prepare hot" + (any ? "(" + types + ")" : "") + " as " + text);
            try (ResultSet row =
                    statement.executeQuery("explain (analyze, buffers, timing off, format json) execute hot"
                            + (any ? "(" + arguments + ")" : ""))) {
                row.next();
                return new Plan(row.getString(1));
            } finally {
                tx.rollback();
                statement.execute("deallocate hot");
            }
        }
    }

    /** The statement as it stands in its file, with the filter of dead letters if it has one. */
    public static String source(Class<?> owner, String file) {
        String text = Schema.read(owner, file);
        return Schema.POSTROOM.fill(
                text.contains("/*filter*/") ? Schema.read(owner, file, DeadLetterFilter.class, "filter.sql") : text);
    }

    public String text() {
        return text;
    }

    public Plan(String text) {
        this.text = text;
        JsonNode json = JsonMapper.shared().readTree(text);
        this.root = (json.isArray() ? json.get(0) : json).get("Plan");
    }

    /** Every node that ran: its type, and its table if it has one. */
    public List<String> nodes() {
        List<String> nodes = new ArrayList<>();
        walk(
                root,
                node -> nodes.add(node.get("Node Type").stringValue()
                        + (node.has("Relation Name")
                                ? " " + node.get("Relation Name").stringValue()
                                : "")));
        return nodes;
    }

    /** The nodes that read tables. */
    public List<String> scans() {
        List<String> scans = new ArrayList<>();
        walk(root, node -> {
            if (node.has("Relation Name") && node.get("Node Type").stringValue().endsWith("Scan")) {
                scans.add(node.get("Node Type").stringValue() + " "
                        + node.get("Relation Name").stringValue());
            }
        });
        return scans;
    }

    /** How many rows were read from tables, kept or not. */
    public long rowsTouched() {
        long[] rows = {0};
        walk(root, node -> {
            if (node.has("Relation Name") && node.get("Node Type").stringValue().endsWith("Scan")) {
                double loops = node.get("Actual Loops").doubleValue();
                double removed = node.has("Rows Removed by Filter")
                        ? node.get("Rows Removed by Filter").doubleValue()
                        : 0;
                rows[0] += Math.round((node.get("Actual Rows").doubleValue() + removed) * loops);
            }
        });
        return rows[0];
    }

    /** How many pages of tables and indexes were read, one that was read again counted again. */
    public long pagesTouched() {
        return root.get("Shared Hit Blocks").longValue()
                + root.get("Shared Read Blocks").longValue();
    }

    private static void walk(JsonNode node, Consumer<JsonNode> visitor) {
        if (node.has("Actual Loops") && node.get("Actual Loops").doubleValue() > 0) {
            visitor.accept(node);
        }
        if (node.has("Plans")) {
            node.get("Plans").forEach(child -> walk(child, visitor));
        }
    }
}
