package io.postroom.server.deadletter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.deadletter.RedrivePlan;
import io.postroom.postgres.Schema;
import io.postroom.server.postgres.RowsRead;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CauseTableTest {
    private static TestDatabase database;

    /** 10 010 dead letters, of which the oldest ten have another error than the others, and one of shipping is resolved. */
    @BeforeAll
    static void bury() {
        database = TestDatabase.create();
        database.execute(
                "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, tenant_id, aggregate_type,"
                        + " aggregate_id, event_type, event_version, payload, occurred_at, cause, attempts, error_class, error,"
                        + " fingerprint, buried_by) select 'subscription', case when n % 4 = 0 then 'shipping' else 'billing' end, n,"
                        + " n % 100, gen_random_uuid(), 't' || n % 3, 'order', 'o-' || n % 100, 'OrderPaid', 1, '{}', now(),"
                        + " 'exhausted', 5, case when n <= 10 then 'old' else 'new' end, 'error ' || n, case when n <= 10 then 'f1'"
                        + " else 'f2' end, 'relay' from generate_series(1, 10010) as n",
                "update postroom.dead_letter set resolution = 'discarded', resolved_at = now(), resolved_by = 'anna' where id ="
                        + " 10008",
                "vacuum analyze postroom.dead_letter");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static List<DeadLetterGroup> causes(DeadLetterFilter filter) {
        return database.postroom()
                .database()
                .run(tx -> new CauseTable(Schema.POSTROOM).causes(tx, filter, 100))
                .groups();
    }

    @Test
    void noGroupHidesAnother() {
        CauseTable.Causes all = database.postroom()
                .database()
                .run(tx -> new CauseTable(Schema.POSTROOM).causes(tx, DeadLetterFilter.ALL, 100));
        assertThat(all.isWhole()).isTrue();
        assertThat(all.groups())
                .extracting(DeadLetterGroup::owner, DeadLetterGroup::errorClass, DeadLetterGroup::letters)
                .containsExactly(
                        tuple("billing", "new", 7_500L),
                        tuple("shipping", "new", 2_499L),
                        tuple("billing", "old", 8L),
                        tuple("shipping", "old", 2L));
        assertThat(all.groups().get(2).firstBuriedAt()).isNotNull();
    }

    @Test
    void countsNoFurtherThanItSaysAndReadsLittle() throws Exception {
        Map<String, String> all = Map.of("steps_max", "1000", "letters_max", "400", "sample_max", "80", "limit", "100");
        // Four groups: a hundred counted and twenty read of each, and the steps between them.
        assertThat(RowsRead.by(database, CauseTable.class, "step_causes.sql", all))
                .isLessThanOrEqualTo(700);
    }

    @Test
    void findsTheLettersOfAnOldGroupAtOnce() throws Exception {
        DeadLetterFilter old = DeadLetterFilter.builder()
                .owner("billing")
                .sources(DeadLetterFilter.SUBSCRIPTIONS)
                .eventTypes(Set.of("OrderPaid"))
                .fingerprint("f1")
                .build();
        assertThat(letters(old, null, 5)).isEqualTo(new CauseTable.Letters(List.of(10L, 9L, 7L, 6L, 5L), 5L));
        assertThat(letters(old, 5L, 5)).isEqualTo(new CauseTable.Letters(List.of(3L, 2L, 1L), null));
        assertThat(RowsRead.by(
                        database,
                        CauseTable.class,
                        "find_group_letters.sql",
                        Map.of(
                                "owner",
                                "'billing'",
                                "fingerprint",
                                "'f1'",
                                "event_type",
                                "'OrderPaid'",
                                "before",
                                "1000000",
                                "limit",
                                "51")))
                .isLessThanOrEqualTo(20);
    }

    @Test
    void plansForManyWithoutCountingThemAll() {
        RedrivePlan plan = database.postroom().deadLetters().plan(DeadLetterFilter.ofOwner("billing"), 100);
        assertThat(plan.letters()).isEqualTo(100);
        assertThat(plan.exact()).isFalse();
        assertThat(plan.idMax()).isEqualTo(10_010);
        assertThat(plan.conflicts().exact()).isFalse();
        assertThat(database.postroom()
                        .deadLetters()
                        .plan(DeadLetterFilter.builder().errorClass("old").build(), 100)
                        .exact())
                .isTrue();
    }

    @Test
    void saysHowManyWereLookedAtAlsoWhereNothingFits() {
        CauseTable table = new CauseTable(Schema.POSTROOM);
        DeadLetterFilter nothing =
                DeadLetterFilter.builder().aggregateId("nobody").build();
        CauseTable.Causes none = database.postroom().database().run(tx -> table.causes(tx, nothing, 100));
        assertThat(none.groups()).isEmpty();
        assertThat(none.isWhole()).isFalse();
    }

    /** More groups than are stepped through, and what is looked for lies behind them. */
    @Test
    void saysThatThereAreMoreGroupsWhereNoneOfThoseLookedAtFits() {
        try (TestDatabase many = TestDatabase.create()) {
            many.execute(
                    "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                            + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,"
                            + " buried_by) select 'subscription', 'billing', n, 1, gen_random_uuid(), 'order', 'o',"
                            + " case when n = 1500 then 'OrderLost' else 'OrderPaid' end, 1, '{}', now(), 'exhausted', 5, 'e', 'e',"
                            + " 'f' || to_char(n, 'FM00000'), 'relay' from generate_series(1, 1500) as n",
                    "vacuum analyze postroom.dead_letter");
            CauseTable table = new CauseTable(Schema.POSTROOM);
            DeadLetterFilter lost =
                    DeadLetterFilter.builder().eventTypes(Set.of("OrderLost")).build();
            CauseTable.Causes none = many.postroom().database().run(tx -> table.causes(tx, lost, 100));
            assertThat(none.groups()).isEmpty();
            assertThat(none.isWhole()).isFalse();
            DeadLetterFilter one = DeadLetterFilter.builder()
                    .owner("billing")
                    .fingerprint("f01500")
                    .build();
            CauseTable.Causes found = many.postroom().database().run(tx -> table.causes(tx, one, 100));
            assertThat(found.groups()).extracting(DeadLetterGroup::letters).containsExactly(1L);
            assertThat(found.isWhole()).isTrue();
        }
    }

    private static CauseTable.Letters letters(DeadLetterFilter filter, @Nullable Long before, int limit) {
        return database.postroom()
                .database()
                .run(tx -> new CauseTable(Schema.POSTROOM).letters(tx, filter, before, 1_000, limit));
    }

    @Test
    void searchesThroughWindowsAndSaysWhereToGoOn() {
        DeadLetterFilter old = DeadLetterFilter.builder().errorClass("old").build();
        CauseTable.Letters page = letters(old, null, 7);
        int windows = 1;
        while (page.ids().isEmpty()) {
            page = letters(old, Objects.requireNonNull(page.next()), 7);
            windows++;
        }
        assertThat(windows).isEqualTo(10);
        assertThat(page).isEqualTo(new CauseTable.Letters(List.of(10L), 10L));
        page = letters(old, page.next(), 7);
        assertThat(page.ids()).containsExactly(9L, 8L, 7L, 6L, 5L, 4L, 3L);
        assertThat(letters(old, page.next(), 7)).isEqualTo(new CauseTable.Letters(List.of(2L, 1L), null));
        assertThat(letters(DeadLetterFilter.ofIds(10_008L), null, 7).ids())
                .as("resolved")
                .isEmpty();
    }

    @Test
    void readsTheWindowAndNoMore() throws Exception {
        Map<String, String> rare = Map.of("window", "500", "limit", "51", "before", "10000", "aggregate_id", "'x'");
        assertThat(RowsRead.by(database, CauseTable.class, "find_letters.sql", rare))
                .isLessThanOrEqualTo(510);
        assertThat(RowsRead.by(database, CauseTable.class, "list_causes.sql", rare))
                .isLessThanOrEqualTo(510);
        database.execute(
                "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                        + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,"
                        + " buried_by, resolution, resolved_at, resolved_by) select 'subscription', 'billing', 20000 + n, 1,"
                        + " gen_random_uuid(), 'order', 'o', 'OrderPaid', 1, '{}', now(), 'exhausted', 5, 'e', 'e', 'f', 'relay',"
                        + " 'discarded', now(), 'anna' from generate_series(1, 10000) as n",
                "analyze postroom.dead_letter");
        Map<String, String> newest = Map.of("window", "500", "limit", "51", "before", "1000000");
        assertThat(RowsRead.by(database, CauseTable.class, "find_letters.sql", newest))
                .as("those that were resolved since")
                .isLessThanOrEqualTo(510);
    }

    @Test
    void groupsByWhatWentWrongWithTheNewestAsSample() {
        List<DeadLetterGroup> groups = causes(DeadLetterFilter.ofOwner("shipping"));
        assertThat(groups).extracting(DeadLetterGroup::errorClass).containsExactly("new", "old");
        DeadLetterGroup first = groups.get(0);
        assertThat(first.letters()).isEqualTo(2_499);
        assertThat(first.keys()).isEqualTo(25);
        assertThat(first.tenants()).isEqualTo(3);
        assertThat(first.sampleId()).isEqualTo(10_004);
        assertThat(first.sampleError()).isEqualTo("error 10004");
    }

    @Test
    void keepsToTheWholeFilter() {
        DeadLetterFilter filter = DeadLetterFilter.builder()
                .owner("billing")
                .tenants(Set.of("t1"))
                .fingerprint("f1")
                .build();
        assertThat(causes(filter)).extracting(DeadLetterGroup::letters).containsExactly(3L);
    }
}
