package io.postroom.server.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/** Connections to a {@link DatabaseUrl}, hardened: with timeouts, a name, and without values in error texts. */
public final class Connections {
    /** For commands that ask and end. */
    public static final Duration SHORT = Duration.ofSeconds(30);

    /** For migrations, which take as long as they take, and for relays, which bound their statements themselves. */
    public static final Duration ENDLESS = Duration.ZERO;

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration WATCH_WAIT = Duration.ofSeconds(3);
    private static final Duration POOL_WAIT = Duration.ofSeconds(15);

    private Connections() {}

    /** Single connections, checked to work; {@code silence} is how long the server may take to answer a statement. */
    public static PGSimpleDataSource single(DatabaseUrl url, Duration silence) {
        PGSimpleDataSource source = source(url, silence);
        try (Connection connection = source.getConnection()) {
            connection.getMetaData().getDatabaseMajorVersion();
            return source;
        } catch (SQLException e) {
            throw ConnectionFailure.explain(url, e);
        }
    }

    /** A pool of connections for a relay, checked to work. */
    public static HikariDataSource pool(DatabaseUrl url, int connections) {
        return pool(single(url, ENDLESS), connections);
    }

    /** A pool on a database that is known to be there. */
    public static HikariDataSource pool(DataSource source, int connections) {
        return new HikariDataSource(config("postroom", source, connections, null));
    }

    /**
     * A pool for whoever only looks: nothing can be changed through it, and no statement takes longer than {@code statementMax}. Each is
     * planned for what it was given: lists have filters, and a plan for every filter reads whole tables for most.
     */
    public static HikariDataSource reading(DataSource source, int connections, Duration statementMax) {
        return new HikariDataSource(config(
                "postroom-reading",
                source,
                connections,
                "set statement_timeout = " + statementMax.toMillis()
                        + "; set default_transaction_read_only = on; set plan_cache_mode = force_custom_plan"));
    }

    /** A pool for acts of people: none of their statements takes longer than {@code statementMax}, or waits longer for a lock. */
    public static HikariDataSource acting(DataSource source, int connections, Duration statementMax, Duration lockMax) {
        return new HikariDataSource(config(
                "postroom-acting",
                source,
                connections,
                "set statement_timeout = " + statementMax.toMillis() + "; set lock_timeout = " + lockMax.toMillis()));
    }

    /** A connection for whoever asks whether the database is there, and does not wait long for the answer. */
    public static HikariDataSource watching(DataSource source) {
        HikariConfig config = config("postroom-watching", source, 1, null);
        config.setConnectionTimeout(WATCH_WAIT.toMillis());
        return new HikariDataSource(config);
    }

    private static HikariConfig config(String name, DataSource source, int connections, @Nullable String first) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setDataSource(source);
        config.setMaximumPoolSize(connections);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(POOL_WAIT.toMillis());
        config.setInitializationFailTimeout(-1);
        config.setConnectionInitSql(first);
        return config;
    }

    private static PGSimpleDataSource source(DatabaseUrl url, Duration silence) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setServerNames(url.hosts().toArray(String[]::new));
        source.setPortNumbers(url.ports().stream().mapToInt(Integer::intValue).toArray());
        source.setDatabaseName(url.database());
        source.setUser(url.user());
        source.setPassword(url.password());
        set(source, url, PGProperty.CONNECT_TIMEOUT.getName(), Long.toString(CONNECT_TIMEOUT.toSeconds()));
        set(source, url, PGProperty.SOCKET_TIMEOUT.getName(), Long.toString(silence.toSeconds()));
        set(source, url, PGProperty.TCP_KEEP_ALIVE.getName(), "true");
        set(source, url, PGProperty.APPLICATION_NAME.getName(), "postroom");
        for (Map.Entry<String, String> parameter : url.parameters().entrySet()) {
            set(source, url, parameter.getKey(), parameter.getValue());
        }
        // Last, so that nobody can turn it on: details quote the values of rows.
        set(source, url, PGProperty.LOG_SERVER_ERROR_DETAIL.getName(), "false");
        return source;
    }

    private static void set(PGSimpleDataSource source, DatabaseUrl url, String name, String value) {
        try {
            source.setProperty(name, value);
        } catch (SQLException | IllegalArgumentException e) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not read " + url.origin() + ": parameter " + name
                            + " has a value that the driver does not take",
                    e);
        }
    }
}
