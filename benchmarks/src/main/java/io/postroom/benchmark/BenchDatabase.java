package io.postroom.benchmark;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.telemetry.Telemetry;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** One embedded PostgreSQL, durable commits, and a fresh database in it for each scenario. */
final class BenchDatabase implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final String DEAD_ROWS =
            "(select coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint from pg_stat_user_tables)";

    private final HikariDataSource pool;
    private final String url;

    private BenchDatabase(String url) {
        this.url = url;
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(24);
        this.pool = new HikariDataSource(config);
    }

    /** Settings a small production server would have; nothing that trades durability for speed. */
    static EmbeddedPostgres server() {
        try {
            return EmbeddedPostgres.builder()
                    // Both are off in an embedded server unless one says so.
                    .setServerConfig("fsync", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("shared_buffers", "2GB")
                    .setServerConfig("max_wal_size", "16GB")
                    .setServerConfig("checkpoint_timeout", "30min")
                    .setServerConfig("max_connections", "100")
                    .setServerConfig("work_mem", "64MB")
                    .setServerConfig("shared_preload_libraries", "pg_stat_statements")
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static BenchDatabase create(EmbeddedPostgres server) {
        String name = "bench_" + COUNT.incrementAndGet();
        run(server.getJdbcUrl("postgres", "postgres"), "create database " + name);
        return new BenchDatabase(server.getJdbcUrl("postgres", name));
    }

    private static void run(String url, String sql) {
        try (Connection connection = java.sql.DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    Postroom migrated() {
        Postroom postroom = Postroom.on(pool);
        postroom.migrations().migrate();
        // A week ahead is made by the migration; three weeks of past days, as in a system that has run for a while.
        execute("""
                do $$
                declare
                    part record;
                begin
                    for part in
                        select daily.name, daily.unique_column, current_date - ago as day
                        from postroom.daily_table as daily, generate_series(2, 22) as ago
                    loop
                        execute format('create table postroom.%1$I partition of postroom.%2$I for values from (%3$L) to (%4$L)',
                                       part.name || to_char(part.day, '_YYYYMMDD'), part.name, part.day, part.day + 1);
                        if part.unique_column is not null then
                            execute format('create unique index on postroom.%I (%I)',
                                           part.name || to_char(part.day, '_YYYYMMDD'), part.unique_column);
                        end if;
                    end loop;
                end
                $$""");
        return postroom;
    }

    Postroom postroom(Telemetry telemetry) {
        return Postroom.builder(pool).telemetry(telemetry).build();
    }

    Connection connection(boolean autoCommit) throws SQLException {
        Connection connection = pool.getConnection();
        connection.setAutoCommit(autoCommit);
        return connection;
    }

    /** A connection whose transaction has a snapshot, until it is closed: nothing that is dead from now on is cleaned away. */
    Connection holdSnapshot() throws SQLException {
        Connection holder = connection(false);
        holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = holder.createStatement()) {
            statement.execute("select txid_current_if_assigned()");
        }
        return holder;
    }

    DataSource dataSource() {
        return pool;
    }

    /** Fails if the query has rows. */
    void requireNone(String sql) {
        long rows = queryLong("select count(*) from (" + sql + ") as rows");
        if (rows > 0) {
            throw new IllegalStateException(rows + " rows are left of " + sql);
        }
    }

    /** Bytes of write-ahead log that this server has written. */
    long wal() {
        return queryLong("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint");
    }

    /** What something has cost the server: bytes of write-ahead log, and row versions that were updated away or deleted. */
    record Cost(long walBytes, long deadRows) {}

    /** Whoever works on this database, in whatever language, says by {@code select bench_begin()} from when on costs count. */
    void measureCosts() {
        execute(
                "create table bench_cost (wal pg_lsn not null, dead_rows bigint not null)",
                "create function bench_begin() returns void language sql as $$ insert into bench_cost select pg_current_wal_lsn(), "
                        + DEAD_ROWS + " $$");
    }

    /** Since the last beginning. */
    Cost cost() {
        long wal = queryLong("select pg_wal_lsn_diff(pg_current_wal_lsn(), max(wal))::bigint from bench_cost");
        // Sessions report what they did when they end.
        pool.getHikariPoolMXBean().softEvictConnections();
        LockSupport.parkNanos(2_000_000_000);
        long dead = queryLong("select " + DEAD_ROWS + " - dead_rows from bench_cost order by wal desc limit 1");
        return new Cost(wal, dead);
    }

    String url() {
        return url;
    }

    void execute(String... statements) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    long queryLong(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    String queryText(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        pool.close();
    }
}
