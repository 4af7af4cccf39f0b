package io.postroom.postgres;

import io.postroom.PostroomException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * How a feature joins a transaction that its caller has begun: it refuses what is none, and explains why PostgreSQL refused.
 *
 * <p>{@code feature} begins the codes of its errors, {@code verb} is what it was asked to do: {@code outbox}, {@code publish}.
 */
public record JoinedTransaction(String feature, String verb) {

    /** Refuses a connection on which nothing that is written would wait for the caller's commit. */
    public void require(Connection tx) {
        requireBegun(tx);
        try {
            if (tx.isReadOnly()) {
                throw new PostroomException(
                        feature + ".read-only",
                        "could not " + verb + ": the connection is read-only; use one that may write");
            }
        } catch (SQLException e) {
            throw DatabaseException.of(verb, e);
        }
    }

    /** Refuses a connection on which each statement is a transaction of its own. */
    public void requireBegun(Connection tx) {
        try {
            if (tx.getAutoCommit()) {
                throw new PostroomException(
                        feature + ".no-transaction",
                        "could not " + verb
                                + ": auto-commit is on, so there is no transaction to join; turn it off with"
                                + " setAutoCommit(false), " + verb + " with your own changes, then commit");
            }
        } catch (SQLException e) {
            throw DatabaseException.of(verb, e);
        }
    }

    /** What the caller can do about an error that is his transaction's; any other as it is. */
    public PostroomException explained(DatabaseException e) {
        if (e.sqlState().equals(SqlState.IN_FAILED_TRANSACTION)) {
            return new PostroomException(
                    feature + ".transaction-aborted",
                    "could not " + verb
                            + ": an earlier statement failed and PostgreSQL ignores the rest of this transaction; roll back"
                            + " and see that statement's error",
                    e);
        }
        if (e.sqlState().equals(SqlState.READ_ONLY_TRANSACTION)) {
            return new PostroomException(
                    feature + ".read-only",
                    "could not " + verb
                            + ": the transaction is read-only, or the server is a standby; use the primary and a"
                            + " transaction that may write",
                    e);
        }
        if (SqlState.isMissingSchema(e.sqlState())) {
            return new PostroomException(
                    "schema.missing",
                    "could not " + verb + ": the database has no Postroom schema; run postroom schema migrate",
                    e);
        }
        return e;
    }
}
