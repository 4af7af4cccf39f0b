package io.postroom.testkit;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server for tests: the one that {@code POSTROOM_URL} names, or an embedded one started on first use and stopped
 * with the JVM.
 */
public final class TestPostgres implements AutoCloseable {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static @Nullable TestPostgres shared;

    private final @Nullable EmbeddedPostgres embedded;
    private final String base;

    private TestPostgres(@Nullable EmbeddedPostgres embedded, String base) {
        this.embedded = embedded;
        this.base = base;
    }

    /** The server that all tests of this JVM share. */
    public static TestPostgres shared() {
        LOCK.lock();
        try {
            if (shared == null) {
                String url = System.getenv("POSTROOM_URL");
                shared = url == null ? start() : new TestPostgres(null, url);
            }
            return shared;
        } finally {
            LOCK.unlock();
        }
    }

    /** A server of one's own, to be stopped by the test; durable enough to survive being killed. */
    public static TestPostgres start() {
        try {
            EmbeddedPostgres started = EmbeddedPostgres.builder()
                    .setServerConfig("max_prepared_transactions", "20")
                    .setServerConfig("max_connections", "200")
                    .setServerConfig("shared_buffers", "256MB")
                    .setServerConfig("max_wal_size", "2GB")
                    .setPGStartupWait(Duration.ofSeconds(60))
                    .start();
            return new TestPostgres(started, started.getJdbcUrl("postgres", "postgres"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The JDBC URL of one of its databases. */
    public String url(String database) {
        return base.replaceFirst("(jdbc:postgresql://[^/]+/)[^?]*", "$1" + database);
    }

    /** The port it listens on, where it is an embedded one. */
    public int port() {
        if (embedded == null) {
            throw new IllegalStateException("the server of POSTROOM_URL is not ours to look into");
        }
        return embedded.getPort();
    }

    /** Runs one statement in the database {@code postgres}. */
    public void execute(String sql) {
        try (Connection connection = DriverManager.getConnection(url("postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        if (embedded != null) {
            try {
                embedded.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
