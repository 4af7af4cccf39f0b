package io.postroom.server.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import java.util.Set;
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
                "analyze postroom.dead_letter");
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
    void looksAtTheNewestAndNoMore() {
        assertThat(causes(DeadLetterFilter.ALL).stream()
                        .mapToLong(DeadLetterGroup::letters)
                        .sum())
                .isEqualTo(CauseTable.WINDOW);
    }

    @Test
    void knowsThatThereAreMoreHoweverFewGroupsAreShown() {
        CauseTable table = new CauseTable(Schema.POSTROOM);
        CauseTable.Causes one = database.postroom().database().run(tx -> table.causes(tx, DeadLetterFilter.ALL, 1));
        assertThat(one.groups()).hasSize(1);
        assertThat(one.lookedAt()).isEqualTo(CauseTable.WINDOW);
        assertThat(one.isWhole()).isFalse();
        assertThat(database.postroom()
                        .database()
                        .run(tx -> table.causes(tx, DeadLetterFilter.ofOwner("shipping"), 1))
                        .isWhole())
                .isTrue();
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
