package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** PostgreSQL is killed and started again under locks and leases. */
class RestartedServerTest {
    /** Outlives the restart; it is renewed three times in this time. */
    private static final Duration LASTING = Duration.ofSeconds(30);

    @Test
    void leasesGoOnOrAreLostAndLocksAreGone() throws Exception {
        try (TestPostgres server = TestPostgres.start();
                TestDatabase database = TestDatabase.empty(server)) {
            database.postroom().migrations().migrate();
            Locks locks = database.postroom().locks();
            CountDownLatch told = new CountDownLatch(1);
            try (Lease lasting = locks.tryLease("lasting", LASTING).orElseThrow();
                    Connection cut = database.begin()) {
                Lease brief = locks.tryLease("brief", LeaseTerms.LEASE_MIN).orElseThrow();
                brief.onLost(told::countDown);
                assertThat(locks.tryHold(cut, "held")).isTrue();
                server.kill();
                assertThat(told.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS))
                        .isTrue();
                assertThat(brief.isHeld()).isFalse();
                server.restart();
                assertThatThrownBy(cut::commit).isInstanceOf(SQLException.class);

                assertThat(locks.tryLease("lasting", LASTING)).isEmpty();
                try (Connection tx = database.begin()) {
                    assertThat(locks.tryHold(tx, "held")).isTrue();
                    lasting.requireHeld(tx);
                    assertThat(lasting.isHeld()).isTrue();
                    assertThatThrownBy(() -> brief.requireHeld(tx)).isInstanceOf(LeaseLostException.class);
                    tx.rollback();
                }
                Patience.await("it is renewed again", () -> database.queryLong("""
                        select count(*) from postroom.lease
                        where name = 'lasting' and leased_until > pg_postmaster_start_time() + interval '30 s'""") == 1);
                assertThat(database.queryLong("select fence from postroom.lease where name = 'lasting'"))
                        .isEqualTo(lasting.fence());
                try (Lease next = locks.tryLease("brief", Duration.ofMinutes(1)).orElseThrow()) {
                    assertThat(next.fence()).isGreaterThan(brief.fence());
                }
            }
        }
    }
}
