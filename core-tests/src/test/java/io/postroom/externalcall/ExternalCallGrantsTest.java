package io.postroom.externalcall;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give. */
class ExternalCallGrantsTest {
    private static TestDatabase database;
    private static Grants grants;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        grants = Grants.of(new Schema(database.name()));
        database.execute(grants.print(Schema.POSTROOM));
    }

    @AfterAll
    static void drop() {
        for (String role : grants.roles()) {
            database.execute(
                    "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
        }
        database.close();
    }

    private static HikariDataSource as(String role) {
        String url = database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 2);
    }

    @Test
    void anApplicationCallsARelayParksAReaderLooksAndAnOperatorReconciles() {
        ExternalOperation operation = ExternalOperation.of("charge", "t42", "order-1");
        ExternalOperation other = ExternalOperation.of("charge", "t42", "order-2");
        try (HikariDataSource writer = as(grants.writer());
                HikariDataSource relay = as(grants.relay());
                HikariDataSource reader = as(grants.reader());
                HikariDataSource operator = as(grants.operator())) {
            ExternalCalls application = Postroom.on(writer).externalCalls();
            assertThat(application
                            .perform(operation, ExternalCallsTest.HASH, key -> ProviderAnswer.declined("no funds"))
                            .state())
                    .isEqualTo(CallState.DECLINED);
            application.begin(operation.next(), ExternalCallsTest.HASH);
            application.begin(other, ExternalCallsTest.HASH);
            database.execute("update postroom.external_call set created_at = created_at - interval '2 days',"
                    + " window_until = clock_timestamp(), leased_until = clock_timestamp() where state = 'calling'");
            assertThat(Postroom.on(relay).externalCalls().parkOverdue()).isEqualTo(2);
            ExternalCalls seen = Postroom.on(reader).externalCalls();
            assertThat(seen.list(ExternalCallFilter.in(CallState.NEEDS_RECONCILIATION), null, 10))
                    .hasSize(2);
            assertThatThrownBy(() -> seen.reconcile(other.key(), CallState.DONE, null, "r", "r"))
                    .hasMessageContaining("permission denied");
            assertThatThrownBy(() -> Postroom.on(operator)
                            .externalCalls()
                            .begin(ExternalOperation.of("charge", "t42", "order-3"), ExternalCallsTest.HASH))
                    .hasMessageContaining("permission denied");
            assertThat(Postroom.on(operator)
                            .externalCalls()
                            .reconcile(other.key(), CallState.DONE, "ch_1", "anna", "seen there")
                            .state())
                    .isEqualTo(CallState.DONE);
            assertThat(application
                            .reconcile(
                                    operation.next().key(), CallState.DECLINED, null, "shop", "looked up by metadata")
                            .state())
                    .isEqualTo(CallState.DECLINED);
        }
    }
}
