package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.delivery.DeliveryRedriver;
import io.postroom.postgres.Plan;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A hundred thousand dead letters: what is asked about them is answered in one pass, and a step reads no more than it takes. */
class DeadLetterPlanTest {
    private static final int LETTERS = 100_000;
    private static final int LATER = 50_000;
    private static final int DISCARDED = 20;

    private static final List<String> FILTER = List.of(
            "owner text",
            "sources text[]",
            "event_types text[]",
            "tenants text[]",
            "aggregate_type text",
            "aggregate_id text",
            "error_class text",
            "fingerprint text",
            "cause text",
            "ids bigint[]",
            "buried_from timestamptz",
            "buried_to timestamptz");

    private static Graveyard yard;

    @BeforeAll
    static void bury() {
        yard = new Graveyard().subscribe("billing", 4).subscribe("shipping", 1);
        yard.database.execute("set synchronous_commit = off");
        yard.publishMany("o", LETTERS);
        yard.bury("billing", "true");
        // Of the same keys, since the names are the same.
        long last = yard.publishMany("o", LATER);
        yard.settle("billing", last);
        // As many that are resolved, and the few that were discarded are the oldest.
        yard.bury("shipping", "j.position <= " + LETTERS);
        yard.database.execute("""
                update postroom.dead_letter
                set resolution = case when position <= %d then 'discarded' else 'redriven' end, resolved_by = 'anna',
                    resolved_at = timestamptz '2026-01-01Z' + make_interval(secs => position)
                where owner = 'shipping'""".formatted(DISCARDED));
    }

    @AfterAll
    static void drop() {
        yard.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void orderConflictsAreFoundInOnePassOverTheJournal(boolean analyzed) throws SQLException {
        if (analyzed) {
            yard.database.execute("analyze");
        }
        List<JsonNode> nodes = explain(
                DeliveryRedriver.class,
                "conflicts.sql",
                Map.of(
                        ":entries_max",
                        "1000000",
                        ":keys_max",
                        "1000000",
                        ":messages_max",
                        "300000",
                        ":compared_max",
                        "20000",
                        ":samples_max",
                        "10",
                        ":first_archived",
                        "null",
                        ":last_archived",
                        "null"));
        assertThat(nodes)
                .allSatisfy(node -> assertThat(node.get("Actual Loops").asLong())
                        .as(node.get("Node Type") + " " + node.path("Relation Name"))
                        .isLessThanOrEqualTo(1));
        assertThat(nodes)
                .filteredOn(node -> node.get("Node Type").asString().equals("Seq Scan"))
                .allSatisfy(
                        node -> assertThat(node.get("Relation Name").asString()).isEqualTo("lane"));
        assertThat(nodes.stream()
                        .filter(node -> node.path("Relation Name").asString("").startsWith("journal"))
                        .mapToLong(node -> node.get("Actual Rows").asLong())
                        .sum())
                .as("the journal after the first dead letter, once")
                .isEqualTo(LETTERS + LATER - 1);
    }

    @Test
    void orderConflictsOfAFewReadNoMoreOfTheJournalAndOfOtherDeadLettersThanTheyMay() throws SQLException {
        yard.database.execute("analyze");
        int entries = 2_000;
        List<JsonNode> nodes = explain(
                DeliveryRedriver.class,
                "conflicts.sql",
                Map.of(
                        ":ids::",
                        "'{1,49500}'::",
                        ":entries_max",
                        String.valueOf(entries),
                        ":keys_max",
                        "1000000",
                        ":messages_max",
                        "300000",
                        ":compared_max",
                        "20000",
                        ":samples_max",
                        "10",
                        ":first_archived",
                        "null",
                        ":last_archived",
                        "null"));
        for (String table : List.of("journal", "dead_letter")) {
            assertThat(nodes.stream()
                            .filter(node ->
                                    node.path("Relation Name").asString("").startsWith(table))
                            .mapToDouble(DeadLetterPlanTest::read)
                            .sum())
                    .as(table)
                    .isLessThanOrEqualTo(entries + 10);
        }
    }

    @Test
    void thoseOfOneKeyAreCountedWithoutLookingAtOthers() throws SQLException {
        yard.database.execute("analyze postroom.dead_letter");
        List<JsonNode> nodes = explain(
                DeadLetters.class,
                "count_up_to.sql",
                Map.of(
                        ":aggregate_type::text",
                        "'order'::text",
                        ":aggregate_id::text",
                        "'o-600'::text",
                        ":letters_max",
                        "10001"));
        assertThat(nodes).allSatisfy(node -> assertThat(read(node)).isLessThanOrEqualTo(10));
        RedrivePlan plan = yard.letters.plan(
                DeadLetterFilter.builder().owner("billing").aggregateId("o-600").build(), 100);
        assertThat(plan.letters()).isEqualTo(1);
        assertThat(plan.conflicts().keys()).isEqualTo(1);
    }

    @Test
    void orderConflictsBeyondWhatIsComparedByNameAreToldByTheirHash() {
        OrderConflicts conflicts =
                yard.letters.plan(DeadLetterFilter.ofOwner("billing")).conflicts();
        assertThat(conflicts.exact()).isFalse();
        // Some keys of a hundred thousand share a hash.
        assertThat(conflicts.keys()).isBetween(LATER - 10L, LATER + 10L);
        OrderConflicts few = yard.letters
                .plan(DeadLetterFilter.builder()
                        .owner("billing")
                        .aggregateId("o-17")
                        .build())
                .conflicts();
        assertThat(few).isEqualTo(new OrderConflicts(1, true, List.of("order o-17")));
    }

    @Test
    void orderConflictsOfAFilterAreNeverToldByAHashAlone() {
        yard.database.execute("update postroom.subscription set event_types = '{Other}' where name = 'billing'");
        try {
            OrderConflicts conflicts =
                    yard.letters.plan(DeadLetterFilter.ofOwner("billing")).conflicts();
            assertThat(conflicts).isEqualTo(new OrderConflicts(0, false, List.of()));
        } finally {
            yard.database.execute("update postroom.subscription set event_types = null");
        }
    }

    @Test
    void aStepReadsNoMoreThanItTakes() throws SQLException {
        yard.database.execute("analyze postroom.dead_letter");
        List<JsonNode> nodes = explain(
                DeadLetters.class, "find_ids.sql", Map.of(":after", "50000", ":up_to", "100000", ":limit", "500"));
        assertThat(nodes).allSatisfy(node -> assertThat(read(node)).isLessThanOrEqualTo(500));
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void aStepLooksForWhatGoesBeforeInTheKeysOfWhatItFoundOnly(String mode) throws SQLException {
        yard.database.execute("analyze");
        assertThatAStepReadsOnlyItsKeys(yard, mode, 50_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void soItDoesAmongThoseThatWereJustBuriedAndNeverCounted(String mode) throws SQLException {
        try (Graveyard fresh = new Graveyard().subscribe("billing", 4)) {
            fresh.database.execute("alter table postroom.dead_letter set (autovacuum_enabled = off)");
            fresh.publishMany("o", LETTERS / 5);
            fresh.bury("billing", "true");
            assertThatAStepReadsOnlyItsKeys(fresh, mode, 10_000);
        }
    }

    private static void assertThatAStepReadsOnlyItsKeys(Graveyard yard, String mode, long after) throws SQLException {
        int step = 500;
        String found = LongStream.rangeClosed(after + 1, after + step)
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(",", "'{", "}'"));
        List<String> parameters = new ArrayList<>(FILTER);
        parameters.addAll(
                List.of("found bigint[]", "after bigint", "last bigint", "up_to bigint", "past bigint", "limit int"));
        List<Object> values = new ArrayList<>(Collections.nCopies(FILTER.size(), "null"));
        values.set(0, "'billing'");
        values.addAll(List.of(found, after, after + step, LETTERS, 0, step));
        Plan plan =
                Plan.explain(yard.database, mode, DeliveryRedriver.class, "earlier.sql", parameters, values.toArray());
        assertThat(plan.rowsTouched())
                .as("each that was found, its subscription, and what may be there of its key: " + plan.text())
                .isLessThanOrEqualTo(3 * step + 10);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.GENERIC, Plan.CUSTOM})
    void openOnesAreCountedNoFurtherThanTheLimit(String mode) throws SQLException {
        Plan plan = Plan.explain(
                yard.database,
                mode,
                DeadLetterTable.class,
                "count_open.sql",
                List.of("count_max int", "limit int"),
                "1000",
                "100");
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1_002);
        assertThat(yard.letters.countOpen())
                .containsExactly(new OpenLetters("subscription", "billing", "OrderPlaced", Cause.EXHAUSTED, 10_000));
    }

    @Test
    void aPageReadsNoMoreThanItShows() throws SQLException {
        yard.database.execute("analyze postroom.dead_letter");
        List<JsonNode> nodes =
                explain(DeadLetters.class, "list.sql", Map.of(":before::bigint", "50000", ":limit", "100"));
        assertThat(nodes).allSatisfy(node -> assertThat(read(node)).isLessThanOrEqualTo(100));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "null, null, null, 120",
                "null, discarded, null, 20",
                "shipping, null, null, 120",
                "shipping, null, 150000, 121",
                "shipping, discarded, null, 20",
                "billing, null, null, 0",
                "billing, redriven, null, 0"
            })
    void aPageOfResolvedOnesReadsNoMoreThanItShows(String owner, String resolution, String before, long readMax)
            throws SQLException {
        yard.database.execute("analyze postroom.dead_letter");
        List<String> parameters = List.of(
                "owner text",
                "sources text[]",
                "event_types text[]",
                "tenants text[]",
                "aggregate_type text",
                "aggregate_id text",
                "error_class text",
                "fingerprint text",
                "cause text",
                "ids bigint[]",
                "buried_from timestamptz",
                "buried_to timestamptz",
                "resolution text",
                "before bigint",
                "limit int");
        Plan plan = Plan.explain(
                yard.database,
                Plan.CUSTOM,
                DeadLetters.class,
                "list_resolved.sql",
                parameters,
                quoted(owner),
                "null",
                "null",
                "null",
                "null",
                "null",
                "null",
                "null",
                "null",
                "null",
                "null",
                "null",
                quoted(resolution),
                before,
                100);
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(readMax);
    }

    private static String quoted(String text) {
        return text == null ? "null" : "'" + text + "'";
    }

    private static double read(JsonNode node) {
        return node.get("Actual Rows").asDouble()
                + node.path("Rows Removed by Filter").asDouble(0);
    }

    /** The nodes of the plan, as it ran for everything of billing. */
    private static List<JsonNode> explain(Class<?> owner, String file, Map<String, String> values) throws SQLException {
        String sql = Plan.source(owner, file).replace(":owner::text", "'billing'");
        for (Map.Entry<String, String> value : values.entrySet()) {
            sql = sql.replace(value.getKey(), value.getValue());
        }
        for (String name : List.of("aggregate_type", "aggregate_id", "error_class", "fingerprint", "cause")) {
            sql = sql.replace(":" + name + "::text", "null::text");
        }
        sql = sql.replaceAll(":(sources|event_types|tenants)::", "null::")
                .replaceAll(":(buried_from|buried_to)::", "null::")
                .replace(":ids::", "null::");
        try (Connection tx = yard.database.begin();
                Statement statement = tx.createStatement()) {
            if (file.equals("conflicts.sql")) {
                statement.execute(Plan.source(owner, "prefer_hashes.sql"));
            }
            try (ResultSet rows = statement.executeQuery("explain (analyze, format json) " + sql)) {
                rows.next();
                List<JsonNode> nodes = new ArrayList<>();
                collect(JsonMapper.shared().readTree(rows.getString(1)).get(0).get("Plan"), nodes);
                return nodes;
            }
        }
    }

    private static void collect(JsonNode node, List<JsonNode> nodes) {
        nodes.add(node);
        node.path("Plans").values().forEach(child -> collect(child, nodes));
    }
}
