package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

class DatabaseTest {
    static TestDatabase server;

    @BeforeAll
    static void create() {
        server = TestDatabase.empty(TestPostgres.shared());
        server.execute("create table t (i int primary key)");
    }

    @AfterAll
    static void drop() {
        server.close();
    }

    @BeforeEach
    void empty() {
        server.execute("truncate t");
    }

    /** A pool may hand out connections with auto-commit off; ours work all the same and go back as they came. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void worksWithEitherKindOfPoolAndLeavesItsConnectionsAsTheyWere(boolean autoCommit) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.url());
        config.setMaximumPoolSize(1);
        config.setAutoCommit(autoCommit);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Database database = new Database(pool, Schema.POSTROOM);
            database.run(tx -> execute(tx, "insert into t values (1)"));
            database.transact(tx -> execute(tx, "insert into t values (2)"));
            assertThatThrownBy(() -> database.transact(tx -> {
                        execute(tx, "insert into t values (3)");
                        throw new IllegalStateException("no more");
                    }))
                    .hasMessage("no more");
            assertThatThrownBy(() -> database.transact(tx -> {
                        execute(tx, "insert into t values (4)");
                        return execute(tx, "insert into t values (4)");
                    }))
                    .isInstanceOfSatisfying(
                            DatabaseException.class,
                            e -> assertThat(e.sqlState()).isEqualTo("23505"));
            assertThat(server.queryLong("select sum(i) from t")).isEqualTo(3);
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
            }
            try (Session kept = database.open(Duration.ofSeconds(5))) {
                assertThat(kept.connection().getAutoCommit()).isTrue();
                assertThat(kept.connection().getNetworkTimeout()).isEqualTo(5_000);
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
                assertThat(connection.getNetworkTimeout()).isZero();
            }
        }
    }

    @Test
    void anErrorInTheWorkCommitsNothing() {
        Database database = new Database(server.dataSource(), Schema.POSTROOM);
        assertThatThrownBy(() -> database.transact(tx -> {
                    execute(tx, "insert into t values (1)");
                    throw new AssertionError("out of luck");
                }))
                .isInstanceOf(AssertionError.class);
        assertThat(server.queryLong("select count(*) from t")).isZero();
    }

    /** PostgreSQL answers a COMMIT of a failed transaction with ROLLBACK, and not with an error. */
    @Test
    void aCommitThatWasReallyARollbackIsAnError() {
        Database database = new Database(server.dataSource(), Schema.POSTROOM);
        assertThatThrownBy(() -> database.transact(tx -> {
                    execute(tx, "insert into t values (1)");
                    try {
                        execute(tx, "insert into t values (1)");
                    } catch (SQLException swallowed) {
                        // As careless code does.
                    }
                    return true;
                }))
                .isInstanceOfSatisfying(
                        DatabaseException.class,
                        e -> assertThat(e.sqlState()).isEqualTo(SqlState.IN_FAILED_TRANSACTION));
        assertThat(server.queryLong("select count(*) from t")).isZero();
    }

    @Test
    void aServerThatIsNotThereIsUnreachable() {
        PGSimpleDataSource nowhere = new PGSimpleDataSource();
        nowhere.setUrl("jdbc:postgresql://127.0.0.1:1/nothing");
        Database database = new Database(nowhere, Schema.POSTROOM);
        for (Runnable attempt :
                new Runnable[] {() -> database.run(tx -> true), () -> database.open(Duration.ofSeconds(5))}) {
            DatabaseException refusal = catchThrowableOfType(DatabaseException.class, attempt::run);
            assertThat(refusal.code()).isEqualTo("postgres.unreachable");
            assertThat(refusal.isUnreachable()).isTrue();
            assertThat(refusal).hasMessageContaining("check that it runs");
        }
    }

    private static boolean execute(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            return statement.execute(sql);
        }
    }
}
