package io.postroom.postgres;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * A DataSource and the schema in it: short units of work on connections of our own.
 *
 * <p>Work of the caller's own transaction does not come through here: features take the caller's connection as {@code tx}.
 * Safe for use by many threads if the DataSource is.
 */
public final class Database {
    /** How long PostgreSQL may take to answer a single statement unless told otherwise. */
    public static final Duration ANSWER_WITHIN = Duration.ofSeconds(30);

    /** Migrations and restamps may take their time; a machine that vanished is still noticed. */
    private static final Duration TRANSACTION_ANSWER_WITHIN = Duration.ofHours(1);

    private final DataSource dataSource;
    private final Schema schema;
    private final Duration answerWithin;
    private final @Nullable Duration statementMax;
    private final Sql limitStatements;

    public Database(DataSource dataSource, Schema schema) {
        this(dataSource, schema, ANSWER_WITHIN);
    }

    /**
     * {@code answerWithin} bounds the wait for the answer to a single statement. A machine that vanishes does not close its
     * connections: without a bound, whoever waited for its answer would wait for ever.
     */
    public Database(DataSource dataSource, Schema schema, Duration answerWithin) {
        this(dataSource, schema, answerWithin, null);
    }

    /** {@code statementMax}: PostgreSQL ends what takes longer of {@link #run}; null: it does not. */
    public Database(DataSource dataSource, Schema schema, Duration answerWithin, @Nullable Duration statementMax) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        this.schema = Objects.requireNonNull(schema, "schema");
        this.answerWithin = Objects.requireNonNull(answerWithin, "answerWithin");
        this.statementMax = statementMax;
        this.limitStatements = schema.sql(Database.class, "limit_statements.sql");
    }

    /** Something to do on a connection. */
    @FunctionalInterface
    public interface Work<T> {
        T run(Connection tx) throws SQLException;
    }

    public Schema schema() {
        return schema;
    }

    /** Runs single statements, each its own transaction; all in one where statements are limited. */
    public <T> T run(Work<T> work) {
        Duration max = statementMax;
        if (max == null) {
            return with(true, answerWithin, work);
        }
        // For the transaction only: the connection goes back to its pool, or to a pooler's, as it came.
        return transact(answerWithin, tx -> {
            limitStatements.on(tx).set("millis", Long.toString(max.toMillis())).one(row -> true);
            return work.run(tx);
        });
    }

    /**
     * Runs work in one transaction, READ COMMITTED unless the DataSource is set up otherwise: committed if it returns, rolled back if
     * it throws. A commit whose answer was lost is reported as failed and never sent again; whoever calls must be able to do the work
     * once more.
     */
    public <T> T transact(Work<T> work) {
        return transact(TRANSACTION_ANSWER_WITHIN, work);
    }

    /** The same for short statements only: each is answered as soon as a single one must be. */
    public <T> T transactPromptly(Work<T> work) {
        return transact(answerWithin, work);
    }

    /** The same for work that may take its time: {@code within} bounds the wait for each answer. */
    public <T> T transactWithin(Duration within, Work<T> work) {
        return transact(within, work);
    }

    /** The same on a connection that the caller keeps, whose single statements are transactions of their own. */
    public <T> T transactOn(Connection line, Work<T> work) {
        try {
            line.setAutoCommit(false);
            try {
                return whole(line, work);
            } finally {
                line.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw DatabaseException.of("use the database", e);
        }
    }

    /** From here on each statement of this transaction is answered as soon as a single one must be. */
    public void answerPromptly(Connection tx) throws SQLException {
        int millis = Math.toIntExact(answerWithin.toMillis());
        if (tx.getNetworkTimeout() == 0 || tx.getNetworkTimeout() > millis) {
            tx.setNetworkTimeout(Runnable::run, millis);
        }
    }

    /** Something that a statement answers. */
    @FunctionalInterface
    public interface Question<T> {
        T ask() throws SQLException;
    }

    /** Asks in a transaction what is answered as soon as a single statement must be; what follows may take as long as before. */
    public <T> T promptly(Connection tx, Question<T> question) throws SQLException {
        int before = tx.getNetworkTimeout();
        answerPromptly(tx);
        T answer = question.ask();
        if (tx.getNetworkTimeout() != before) {
            tx.setNetworkTimeout(Runnable::run, before);
        }
        return answer;
    }

    private <T> T transact(Duration within, Work<T> work) {
        return with(false, within, tx -> whole(tx, work));
    }

    private static <T> T whole(Connection tx, Work<T> work) throws SQLException {
        try {
            T result = work.run(tx);
            requireWhole(tx);
            tx.commit();
            return result;
        } catch (Throwable e) {
            // An Error too: giving the connection back with auto-commit on would commit half of the work.
            try {
                tx.rollback();
            } catch (SQLException lost) {
                e.addSuppressed(lost);
            }
            throw e;
        }
    }

    /** PostgreSQL answers a COMMIT after a failed statement with a rollback, not with an error, and the driver says nothing. */
    public static void requireWhole(Connection tx) throws SQLException {
        if (tx.unwrap(BaseConnection.class).getTransactionState() == TransactionState.FAILED) {
            throw new SQLException(
                    "a statement of this transaction failed and nobody said so", SqlState.IN_FAILED_TRANSACTION);
        }
    }

    /** A connection to keep; the caller closes it. Single statements are transactions of their own on it. */
    public Session open(Duration answerWithin) {
        try {
            return Session.open(dataSource, true, answerWithin);
        } catch (SQLException e) {
            throw DatabaseException.of("connect", e);
        }
    }

    private <T> T with(boolean autoCommit, Duration within, Work<T> work) {
        try (Session session = Session.open(dataSource, autoCommit, within)) {
            return work.run(session.connection());
        } catch (SQLException e) {
            throw DatabaseException.of("use the database", e);
        }
    }
}
