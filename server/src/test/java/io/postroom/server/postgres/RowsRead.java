package io.postroom.server.postgres;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** How much a statement of a page reads, by its plan; parameters that are not given are null. */
public final class RowsRead {
    private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z_]+)");

    private RowsRead() {}

    /** How many rows the scans of a statement read. */
    public static long by(TestDatabase database, Class<?> beside, String file, Map<String, String> values)
            throws SQLException, IOException {
        String statement = text(beside, file)
                .replace("/*filter*/", text(DeadLetterFilter.class, "filter.sql"))
                .replace("/*schema*/", "postroom.");
        String filled = PARAMETER
                .matcher(statement)
                .replaceAll(match -> Matcher.quoteReplacement(values.getOrDefault(match.group(1), "null")));
        try (Connection tx = database.begin();
                Statement explain = tx.createStatement();
                ResultSet row = explain.executeQuery("explain (analyze, format json) " + filled)) {
            row.next();
            return rows(JsonMapper.shared().readTree(row.getString(1)).get(0).get("Plan"));
        }
    }

    private static String text(Class<?> beside, String file) throws IOException {
        try (InputStream stream = Objects.requireNonNull(beside.getResourceAsStream(file), file)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^--.*$", "");
        }
    }

    private static long rows(JsonNode node) {
        long rows = 0;
        if (node.get("Node Type").asString().contains("Scan") && node.has("Relation Name")) {
            double each = node.get("Actual Rows").asDouble()
                    + (node.has("Rows Removed by Filter")
                            ? node.get("Rows Removed by Filter").asDouble()
                            : 0);
            rows += Math.round(each * node.get("Actual Loops").asDouble());
        }
        if (node.has("Plans")) {
            for (JsonNode child : node.get("Plans")) {
                rows += rows(child);
            }
        }
        return rows;
    }
}
