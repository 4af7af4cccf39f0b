package io.postroom.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** A connection of our own for a while; closing it gives it back to its pool as it came. For one thread. */
public final class Session implements AutoCloseable {
    private final Connection connection;
    private final boolean autoCommitBefore;
    private final int networkTimeoutBefore;

    private Session(Connection connection) throws SQLException {
        this.connection = connection;
        this.autoCommitBefore = connection.getAutoCommit();
        this.networkTimeoutBefore = connection.getNetworkTimeout();
    }

    /** {@code answerWithin} bounds the wait for each answer; a stricter limit of the pool's own stays. */
    static Session open(DataSource dataSource, boolean autoCommit, Duration answerWithin) throws SQLException {
        Connection connection = dataSource.getConnection();
        try {
            Session session = new Session(connection);
            session.prepare(autoCommit, Math.toIntExact(Math.max(1, answerWithin.toMillis())));
            return session;
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    private void prepare(boolean autoCommit, int answerMillisMax) throws SQLException {
        if (autoCommitBefore != autoCommit) {
            connection.setAutoCommit(autoCommit);
        }
        if (networkTimeoutBefore == 0 || networkTimeoutBefore > answerMillisMax) {
            connection.setNetworkTimeout(Runnable::run, answerMillisMax);
        }
    }

    public Connection connection() {
        return connection;
    }

    @Override
    public void close() {
        // Each step by itself: a connection that is broken, or closed by a server that went away, must still reach its
        // pool,
        // and the error of the work on it is the one to see.
        try (connection) {
            if (connection.getNetworkTimeout() != networkTimeoutBefore) {
                connection.setNetworkTimeout(Runnable::run, networkTimeoutBefore);
            }
            if (connection.getAutoCommit() != autoCommitBefore) {
                connection.setAutoCommit(autoCommitBefore);
            }
        } catch (SQLException e) {
            // The pool throws it away.
        }
    }
}
