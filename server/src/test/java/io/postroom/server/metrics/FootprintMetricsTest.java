package io.postroom.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.Gauge;
import io.postroom.micrometer.DatabaseSampler;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a server says of the database besides its messages. */
class FootprintMetricsTest {
    private static final String AGE = "postroom.db.oldest.transaction.age";

    private final Metrics metrics = new Metrics(Schema.POSTROOM);
    private TestDatabase database;

    @BeforeEach
    void open() {
        database = TestDatabase.create();
    }

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void aSnapshotOfAnotherDatabaseHoldsNothingHereAndOneOfThisDoes() throws SQLException {
        try (TestDatabase other = TestDatabase.create();
                Connection elsewhere = holding(other);
                DatabaseSampler sampler = metrics.sampler(database.dataSource())) {
            sampler.look();
            assertThat(gauge(AGE)).isZero();
            try (Connection here = holding(database)) {
                sampler.look();
                assertThat(gauge(AGE)).isPositive();
                here.rollback();
            }
            elsewhere.rollback();
        }
    }

    @Test
    void anAgeThatIsNotShownIsNotZero() throws SQLException {
        Grants grants = Grants.of(new Schema(database.name()));
        database.execute(grants.print(Schema.POSTROOM));
        String url =
                database.url() + (database.url().contains("?") ? "&" : "?") + "options=-c%20role=" + grants.reader();
        try (HikariDataSource reader = TestDatabase.pool(url, 1);
                Connection holder = holding(database);
                DatabaseSampler sampler = metrics.sampler(reader)) {
            sampler.look();
            assertThat(gauge(AGE)).isNaN();
            assertThat(gauge("postroom.db.up")).isOne();
            holder.rollback();
        } finally {
            for (String role : grants.roles()) {
                database.execute(
                        "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
            }
        }
    }

    @Test
    void aLockedTableHidesSizesAndNothingElse() throws SQLException {
        try (DatabaseSampler sampler = metrics.sampler(database.dataSource())) {
            sampler.look();
            assertThat(gauge("postroom.db.size", "table", "attempt")).isPositive();
            try (Connection other = database.begin();
                    Statement statement = other.createStatement()) {
                statement.execute("lock table postroom.attempt in access exclusive mode");
                sampler.look();
                assertThat(gauge("postroom.db.size", "table", "attempt")).isNaN();
                assertThat(gauge("postroom.db.up")).isOne();
                assertThat(gauge("postroom.db.partitions.ahead", "table", "attempt"))
                        .isPositive();
                other.rollback();
            }
            sampler.look();
            assertThat(gauge("postroom.db.size", "table", "attempt")).isPositive();
        }
    }

    private static Connection holding(TestDatabase database) throws SQLException {
        Connection tx = database.begin();
        tx.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = tx.createStatement()) {
            statement.execute("select count(*) from postroom.subscription");
        }
        return tx;
    }

    private double gauge(String name, String... tags) {
        Gauge gauge = metrics.registry().get(name).tags(tags).gauge();
        return gauge.value();
    }
}
