package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give. */
class LockGrantsTest {
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
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 3);
    }

    @Test
    void whoeverDoesWorkHoldsAndLeases() throws Exception {
        for (String role : List.of(grants.writer(), grants.relay(), grants.consumer())) {
            try (HikariDataSource pool = as(role);
                    Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                Locks locks = Postroom.on(pool).locks();
                assertThat(locks.tryHold(tx, role)).isTrue();
                locks.hold(tx, role, Duration.ofMillis(10));
                try (Lease lease = locks.tryLease(role, Duration.ofSeconds(6)).orElseThrow()) {
                    lease.requireHeld(tx);
                    tx.commit();
                    Patience.await(
                            "its name is noted, its lease renewed",
                            () -> database.queryLong("select count(*) from postroom.lock_name where name = '" + role
                                                    + "'")
                                            == 1
                                    && database.queryLong("select count(*) from postroom.lease where name = '" + role
                                                    + "' and leased_until > taken_at + interval '7 seconds'")
                                            == 1);
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        }
        assertThat(database.queryLong("select count(*) from postroom.lease where holder is null"))
                .isEqualTo(3);
    }

    @Test
    void whoLooksAndWhoOperatesTakeNothing() throws SQLException {
        for (String role : List.of(grants.reader(), grants.operator())) {
            try (HikariDataSource pool = as(role);
                    Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                Locks locks = Postroom.on(pool).locks();
                assertThatThrownBy(() -> locks.tryHold(tx, "mine")).hasMessageContaining("permission denied");
                assertThatThrownBy(() -> locks.tryLease("mine", Duration.ofSeconds(1)))
                        .hasMessageContaining("permission denied");
                tx.rollback();
            }
        }
    }
}
