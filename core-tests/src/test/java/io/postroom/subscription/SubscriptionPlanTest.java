package io.postroom.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A hundred thousand deliveries that wait and as many open dead letters: a list of subscriptions counts no further than its limit. */
class SubscriptionPlanTest {
    private static final int MANY = 100_000;
    private static final int COUNT_MAX = 1_000;

    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "set synchronous_commit = off",
                "insert into postroom.subscription (name, lanes) values ('billing', 4)",
                """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at)
                select 'billing', n, 0, n, n, current_date, 2, 'waiting', now() from generate_series(1, %d) as n""".formatted(MANY),
                """
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                    event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                select 'subscription', 'billing', n, n, gen_random_uuid(), 'order', 'o', 'OrderPaid', 1, '{}', now(), 'rejected', 1,
                    'http.422', 'no', 'f00d', 'node-1'
                from generate_series(1, %d) as n""".formatted(MANY),
                "analyze");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void aListReadsNoMoreThanItCounts() throws SQLException {
        Plan plan = Plan.explain(
                database,
                Plan.CUSTOM,
                Subscriptions.class,
                "list.sql",
                List.of("name text", "count_max int"),
                "null",
                COUNT_MAX);
        // Dead letters, what waits by key, and all by position.
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(3 * COUNT_MAX + 20);
    }

    /** The planner knows only that some subscription has many. */
    @Test
    void aListReadsNoDeliveriesOfOthers() throws SQLException {
        try (TestDatabase other = TestDatabase.create()) {
            other.execute(
                    "set synchronous_commit = off",
                    "insert into postroom.subscription (name, lanes) values ('billing', 4), ('mail', 4), ('search', 4)",
                    """
                    insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                        event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                    values ('subscription', 'billing', 1, 1, gen_random_uuid(), 'order', 'o', 'OrderPaid', 1, '{}', now(), 'rejected', 1,
                        'http.422', 'no', 'f00d', 'node-1')""",
                    """
                    insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, dead_letter, state)
                    select 'billing', n, 0, n, n, current_date, 2, (select max(id) from postroom.dead_letter), 'held'
                    from generate_series(1, 20000) as n""",
                    "analyze");
            for (String mode : List.of(Plan.CUSTOM, Plan.GENERIC)) {
                Plan plan = Plan.explain(
                        other,
                        mode,
                        Subscriptions.class,
                        "list.sql",
                        List.of("name text", "count_max int"),
                        "null",
                        COUNT_MAX);
                assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(3 * COUNT_MAX + 60);
            }
        }
    }

    /** Unreadable ones stop their keys: neither many that wait nor many that are scheduled may hide them. */
    @Test
    void whatIsUnreadableIsSeenBehindManyThatWaitAndManyThatAreScheduled() {
        try (TestDatabase other = TestDatabase.create()) {
            other.execute(
                    "set synchronous_commit = off",
                    "insert into postroom.subscription (name, lanes) values ('billing', 4)",
                    """
                    insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at)
                    select 'billing', n, 0, n, n, current_date, 2, case when n <= %1$d then 'scheduled' else 'waiting' end,
                        now() + interval '1 day'
                    from generate_series(1, 2 * %1$d) as n""".formatted(Subscriptions.COUNT_MAX + 1),
                    """
                    insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, created_at)
                    values ('billing', 1000000, 0, 1000000, 1, current_date, 2, 'unreadable', now() - interval '1 hour')""");
            PutAside putAside = other.postroom()
                    .subscriptions()
                    .find("billing")
                    .orElseThrow()
                    .putAside();
            assertThat(putAside.unreadable()).isEqualTo(1);
            assertThat(putAside.waiting()).isEqualTo(Subscriptions.COUNT_MAX);
            assertThat(putAside.oldest()).isGreaterThan(Duration.ofMinutes(59));
        }
    }
}
