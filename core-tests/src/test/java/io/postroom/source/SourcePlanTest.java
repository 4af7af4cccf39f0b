package io.postroom.source;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many dead letters, redriven ones and ended moves: what each transaction of a source asks is answered by a few rows. */
class SourcePlanTest {
    private static final int MANY = 50_000;
    private static final String A_HUNDRED = IntStream.rangeClosed(1, 100)
            .mapToObj("00000000-0000-0000-0000-%012d"::formatted)
            .collect(Collectors.joining(",", "'{", "}'"));

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "set synchronous_commit = off",
                "insert into postroom.subscription (name, lanes, served_by) values ('billing', 4, 'kafka')",
                """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                    event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                select 'kafka', 'billing', n, n %% 1000, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, 'order', 'o', 'OrderPaid', 1, '{}', now(), 'rejected', 1,
                    'http.422', 'no', 'f00d', 'node-1'
                from generate_series(1, %d) as n""".formatted(MANY),
                """
                insert into postroom.redriven_letter (dead_letter, consumer, key_hash, turn, due_at)
                select id, owner, key_hash, turn, now() - interval '1 hour' from postroom.dead_letter""",
                """
                insert into postroom.subscription_move (subscription, target, feed, topics, group_id, position, offsets, overlap_since,
                    actor, reason, ended_at, outcome)
                select 'billing', 'kafka', 'feed', '{t}', 'g', n, '{}', now(), 'ann', 'x', now(), 'done'
                from generate_series(1, 1000) as n""",
                """
                insert into postroom.source_offset (consumer, partition, began_offset, next_offset)
                select 'c' || n % 10, 'events/' || n, 0, n from generate_series(1, 2000) as n""",
                "vacuum analyze");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void aTransactionBeginsWithAFewRows(String mode) throws SQLException {
        Plan plan = Plan.explain(
                database,
                mode,
                Moves.class,
                "enter.sql",
                List.of("consumer text", "deadline text"),
                "'billing'",
                "'1000'");
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(10);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void deadLettersAreLookedUpByTheirMessages(String mode) throws SQLException {
        Plan plan = Plan.explain(
                database,
                mode,
                Moves.class,
                "known_letters.sql",
                List.of("consumer text", "message_ids uuid[]"),
                "'billing'",
                A_HUNDRED);
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(500);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void onePartitionsOffsetIsFoundWithoutTheOthers(String mode) throws SQLException {
        Plan plan = Plan.explain(
                database,
                mode,
                Moves.class,
                "advance_offset.sql",
                List.of("consumer text", "partition text", "expected bigint", "next bigint", "epoch bigint"),
                "'c1'",
                "'events/1001'",
                "1001",
                "1002",
                "7");
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void theNextRedrivenOneIsFoundWithoutTheOthers(String mode) throws SQLException {
        Plan plan = Plan.explain(
                database,
                mode,
                Moves.class,
                "take_redriven.sql",
                List.of("consumer text", "unreadable text"),
                "'billing'",
                "'unreadable'");
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(20);
    }

    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void whatGoesBeforeIsLookedForInTheKeysOfWhatWasFoundOnly(String mode) throws SQLException {
        Plan plan = earlier(mode, 1, 500, 500, 0);
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1_010);
    }

    /** Each of these keys has 49 before. */
    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void theNextPageOfWhatGoesBeforeBeginsWhereTheLastOneEnded(String mode) throws SQLException {
        Plan plan = earlier(mode, MANY - 99, MANY, 0, MANY - 2_000);
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(310);
    }

    private static Plan earlier(String mode, int foundFirst, int foundLast, int last, int past) throws SQLException {
        List<String> parameters = new ArrayList<>(List.of(
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
                "buried_to timestamptz"));
        List<Object> values = new ArrayList<>(Collections.nCopies(parameters.size(), "null"));
        parameters.addAll(
                List.of("found bigint[]", "after bigint", "last bigint", "up_to bigint", "past bigint", "limit int"));
        String found = IntStream.rangeClosed(foundFirst, foundLast)
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(",", "'{", "}'"));
        values.addAll(List.of(found, 0, last, MANY, past, 500));
        return Plan.explain(database, mode, SourceRedriver.class, "earlier.sql", parameters, values.toArray());
    }
}
