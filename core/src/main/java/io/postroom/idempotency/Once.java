package io.postroom.idempotency;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;

/** Does commands of one transaction: their effect and their answer are committed together, or neither is. */
final class Once {
    private final Database database;
    private final KeyTable table;

    Once(Database database, KeyTable table) {
        this.database = database;
        this.table = table;
    }

    /** In a transaction of its own. */
    <E extends Exception> Outcome run(Request request, KeyPolicy policy, Command<E> command) throws E {
        try {
            return database.transact(tx -> done(tx, request, policy, command));
        } catch (Carried e) {
            throw e.<E>unwrap();
        } catch (Undone e) {
            return policy.failures().stores(e.answer)
                    ? storeFailure(request, policy, e.answer)
                    : new Outcome.Executed(e.answer, false);
        } catch (Unstored e) {
            return afterwards(request, policy, e.failure);
        }
    }

    private Outcome done(Connection tx, Request request, KeyPolicy policy, Command<?> command) throws SQLException {
        Claim claim = database.promptly(tx, () -> table.claim(tx, request, policy.idleMax()));
        if (!claim.isFree()) {
            return claim.known();
        }
        Answer answer = answer(tx, command);
        if (answer.isFailure()) {
            throw new Undone(answer);
        }
        database.answerPromptly(tx);
        return stored(tx, request, policy.expiry(), claim, answer);
    }

    private Outcome stored(Connection tx, Request request, Duration expiry, Claim claim, Answer answer) {
        try {
            table.storeAndCommit(tx, request, expiry, claim, answer);
        } catch (DatabaseException e) {
            throw new Unstored(e);
        }
        return new Outcome.Executed(answer, true);
    }

    /**
     * What the failed command had changed is rolled back; its answer is stored by itself. Meanwhile another may have come: then that
     * one's answer holds, and nothing of ours has happened.
     */
    private Outcome storeFailure(Request request, KeyPolicy policy, Answer answer) {
        try {
            return database.transactPromptly(tx -> {
                Claim claim = table.claim(tx, request, policy.idleMax());
                return claim.isFree() ? stored(tx, request, policy.expiry(), claim, answer) : claim.known();
            });
        } catch (Unstored e) {
            return afterwards(request, policy, e.failure);
        }
    }

    /**
     * The answer could not be stored, or the answer to the commit was lost. Whoever gets the key's lock knows that the transaction has
     * ended, and sees whether it was committed, by us or by another before us.
     */
    private Outcome afterwards(Request request, KeyPolicy policy, DatabaseException failure) {
        boolean undecided = failure.isUnreachable()
                || failure.sqlState().equals(SqlState.UNIQUE_VIOLATION)
                || failure.sqlState().equals(SqlState.SERIALIZATION_FAILURE);
        if (undecided) {
            try {
                Claim claim = database.transactPromptly(tx -> table.claim(tx, request, policy.idleMax()));
                if (!claim.isFree()) {
                    return claim.known();
                }
            } catch (PostroomException e) {
                failure.addSuppressed(e);
            }
        }
        throw explained(request.key(), failure);
    }

    /** In the caller's transaction. The savepoint is for failures, and for a conflict. */
    <E extends Exception> Outcome run(Connection tx, Request request, KeyPolicy policy, Command<E> command) throws E {
        Claim claim = table.claim(tx, request);
        if (!claim.isFree()) {
            return claim.known();
        }
        Savepoint before = savepoint(tx);
        Answer answer;
        try {
            answer = answer(tx, command);
        } catch (Carried e) {
            rollback(tx, before, e.getCause());
            throw e.<E>unwrap();
        }
        if (answer.isFailure()) {
            rollback(tx, before, null);
            if (!policy.failures().stores(answer)) {
                return new Outcome.Executed(answer, false);
            }
        }
        try {
            table.store(tx, request, policy.expiry(), claim, answer);
            return new Outcome.Executed(answer, true);
        } catch (DatabaseException e) {
            if (!e.sqlState().equals(SqlState.UNIQUE_VIOLATION)) {
                throw explained(request.key(), e);
            }
            rollback(tx, before, e);
            Claim now = table.claim(tx, request);
            if (now.isFree()) {
                throw tooOld(request.key(), e);
            }
            return now.known();
        }
    }

    private static Answer answer(Connection tx, Command<?> command) {
        try {
            return command.run(tx);
        } catch (Exception e) {
            throw new Carried(e);
        }
    }

    private static Savepoint savepoint(Connection tx) {
        try {
            return tx.setSavepoint();
        } catch (SQLException e) {
            throw DatabaseException.of("begin the command", e);
        }
    }

    private static void rollback(Connection tx, Savepoint before, @org.jspecify.annotations.Nullable Throwable reason) {
        try {
            tx.rollback(before);
        } catch (SQLException e) {
            DatabaseException lost = DatabaseException.of("undo the command", e);
            if (reason == null) {
                throw lost;
            }
            reason.addSuppressed(lost);
        }
    }

    private static PostroomException explained(IdempotencyKey key, DatabaseException e) {
        if (e.sqlState().equals(SqlState.NOT_NULL_VIOLATION)) {
            return new PostroomException(
                    "idempotency.transaction-ended",
                    "could not store the answer of " + key + ": its command has committed or rolled back; leave that to"
                            + " Postroom, or the effect stays without its answer",
                    e);
        }
        if (e.sqlState().equals(SqlState.IN_FAILED_TRANSACTION)) {
            return new PostroomException(
                    "idempotency.transaction-aborted",
                    "could not store the answer of " + key
                            + ": a statement of its command failed and nobody said so; nothing"
                            + " was changed, let the command throw what it is told",
                    e);
        }
        return e;
    }

    private static PostroomException tooOld(IdempotencyKey key, DatabaseException e) {
        return new PostroomException(
                "idempotency.snapshot-too-old",
                "could not store the answer of " + key
                        + ": another request with this key has ended, and this transaction began too"
                        + " early to see its answer; roll back and ask again, or use READ COMMITTED",
                e);
    }

    /** The command has failed: rolls its transaction back. */
    private static final class Undone extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient Answer answer;

        private Undone(Answer answer) {
            super(null, null, false, false);
            this.answer = answer;
        }
    }

    /** Storing the answer has failed, as opposed to the command itself. */
    private static final class Unstored extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final DatabaseException failure;

        private Unstored(DatabaseException failure) {
            super(null, failure, false, false);
            this.failure = failure;
        }
    }
}
