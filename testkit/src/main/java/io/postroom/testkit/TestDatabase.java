package io.postroom.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A database of its own for one test class, in the one PostgreSQL of the test run, with a migrated schema {@code postroom}.
 *
 * <p>Uses the server that {@code POSTROOM_TEST_URL} names, or starts an embedded one. Close it to drop the database.
 */
public final class TestDatabase implements AutoCloseable {
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static @Nullable String template;

    private final TestPostgres server;
    private final String name;
    private final HikariDataSource pool;
    private final Postroom postroom;

    private TestDatabase(TestPostgres server, String name) {
        this.server = server;
        this.name = name;
        this.pool = pool(server.url(name), 20);
        this.postroom = Postroom.on(pool);
    }

    /** A new, migrated database in the shared server. */
    public static TestDatabase create() {
        String name = nextName();
        // By files: a template of some hundred small tables would otherwise go through the write-ahead log page by
        // page.
        TestPostgres.shared().execute("create database " + name + " template " + template() + " strategy file_copy");
        return new TestDatabase(TestPostgres.shared(), name);
    }

    /** A new database without any schema, in a given server. */
    public static TestDatabase empty(TestPostgres server) {
        String name = nextName();
        server.execute("create database " + name);
        return new TestDatabase(server, name);
    }

    private static String nextName() {
        return String.format(Locale.ROOT, "test_%d_%d", ProcessHandle.current().pid(), COUNT.incrementAndGet());
    }

    /** A migrated database that nobody uses. To copy it takes a fraction of the time that the migrations take. */
    private static synchronized String template() {
        if (template == null) {
            TestDatabase made = empty(TestPostgres.shared());
            made.postroom.migrations().migrate();
            made.pool.close();
            if (!made.server.isEmbedded()) {
                Runtime.getRuntime().addShutdownHook(new Thread(made::dropQuietly, "drop-template"));
            }
            template = made.name;
        }
        return template;
    }

    /** An existing database of a server, as after a restart. */
    public static TestDatabase existing(TestPostgres server, String name) {
        return new TestDatabase(server, name);
    }

    public Postroom postroom() {
        return postroom;
    }

    public DataSource dataSource() {
        return pool;
    }

    public String url() {
        return server.url(name);
    }

    public String name() {
        return name;
    }

    /** A connection with a transaction open; the caller commits and closes it. */
    public Connection begin() {
        try {
            Connection tx = pool.getConnection();
            tx.setAutoCommit(false);
            return tx;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs statements, each its own transaction. */
    public void execute(String... statements) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The one value of a query that has one. */
    public long queryLong(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                var result = statement.executeQuery(sql)) {
            result.next();
            return result.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A pool on any URL, for tests that need a second one or one through a proxy. */
    public static HikariDataSource pool(String url, int connections) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(connections);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(10_000);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    @Override
    public void close() {
        pool.close();
        drop();
    }

    private void drop() {
        server.execute("drop database if exists " + name + " with (force)");
    }

    /** Where the server is gone, so is the database, or nobody is left who could do something about it. */
    private void dropQuietly() {
        try {
            drop();
        } catch (IllegalStateException e) {
            // The process ends, and the tests are over.
        }
    }
}
