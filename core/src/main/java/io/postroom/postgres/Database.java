package io.postroom.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * A DataSource and the schema in it: short units of work on connections of our own.
 *
 * <p>Work of the caller's own transaction does not come through here: features take the caller's connection as {@code tx}.
 * Safe for use by many threads if the DataSource is.
 */
public final class Database {
    private final DataSource dataSource;
    private final Schema schema;

    public Database(DataSource dataSource, Schema schema) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        this.schema = Objects.requireNonNull(schema, "schema");
    }

    /** Something to do on a connection. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection tx) throws SQLException;
    }

    public Schema schema() {
        return schema;
    }

    /** Runs single statements, each its own transaction. */
    public <T> T run(Work<T> work) {
        return with(true, work);
    }

    /**
     * Runs work in one READ COMMITTED transaction: committed if it returns, rolled back if it throws. A commit whose answer
     * was lost is reported as failed and never sent again; whoever calls must be able to do the work once more.
     */
    public <T> T transact(Work<T> work) {
        return with(false, tx -> {
            try {
                T result = work.run(tx);
                tx.commit();
                return result;
            } catch (SQLException | RuntimeException e) {
                try {
                    tx.rollback();
                } catch (SQLException lost) {
                    e.addSuppressed(lost);
                }
                throw e;
            }
        });
    }

    /** A connection to keep; the caller closes it. Single statements are transactions of their own on it. */
    public Connection open() {
        try {
            Connection connection = dataSource.getConnection();
            try {
                connection.setAutoCommit(true);
                return connection;
            } catch (SQLException e) {
                connection.close();
                throw e;
            }
        } catch (SQLException e) {
            throw DatabaseException.of("connect", e);
        }
    }

    private <T> T with(boolean autoCommit, Work<T> work) {
        try (Connection tx = dataSource.getConnection()) {
            boolean before = tx.getAutoCommit();
            if (before != autoCommit) {
                tx.setAutoCommit(autoCommit);
            }
            try {
                return work.run(tx);
            } finally {
                if (before != autoCommit) {
                    restore(tx, before);
                }
            }
        } catch (SQLException e) {
            throw DatabaseException.of("use the database", e);
        }
    }

    /** A pool gives the connection to others next: they get it as they left it. */
    private static void restore(Connection tx, boolean autoCommit) {
        try {
            tx.setAutoCommit(autoCommit);
        } catch (SQLException e) {
            // Broken, or closed by a server that went away: the pool throws it away, and the work's own error is the
            // one to see.
        }
    }
}
