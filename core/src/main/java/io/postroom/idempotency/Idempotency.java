package io.postroom.idempotency;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Answers each request once: asked again with the same key, the same is answered and nothing is done again.
 *
 * <p>{@link #once} is for what only changes this database: effect and answer are one transaction, so a process that dies leaves both
 * or neither. {@link #steps} is for what calls others as well: a process that dies leaves a lease that runs out, and whoever asks
 * next goes on after the last step that was committed. A request that meets another with its key is told so at once and waits for
 * nobody, unless its policy has patience. Safe for use by many threads.
 */
public final class Idempotency {
    private static final JoinedTransaction TRANSACTION = new JoinedTransaction("idempotency", "do the command");
    private static final Duration FIRST_LOOK = Duration.ofMillis(10);
    private static final Duration LOOK_MAX = Duration.ofMillis(200);

    private final Database database;
    private final Telemetry telemetry;
    private final Once once;
    private final Stepper stepper;

    public Idempotency(Database database, Telemetry telemetry) {
        this.database = database;
        this.telemetry = telemetry;
        KeyTable keys = new KeyTable(database.schema());
        this.once = new Once(database, keys);
        this.stepper = new Stepper(database, keys, telemetry);
    }

    /** Does a command in a transaction of its own, with the standard policy. */
    public <E extends Exception> Outcome once(Request request, Command<E> command) throws E {
        return once(request, KeyPolicy.STANDARD, command);
    }

    /** Does a command in a transaction of its own. What it throws is thrown again; then nothing has happened. */
    public <E extends Exception> Outcome once(Request request, KeyPolicy policy, Command<E> command) throws E {
        return patiently(request, policy, () -> once.run(request, policy, command));
    }

    /** Does a command in the caller's transaction, with the standard policy. */
    public <E extends Exception> Outcome once(Connection tx, Request request, Command<E> command) throws E {
        return once(tx, request, KeyPolicy.STANDARD, command);
    }

    /**
     * Does a command in the caller's transaction: it is done, and answered the same from then on, if and only if that commits. Others
     * with this key are told that it runs until then. Patience is not used: waiting would hold the caller's connection.
     */
    public <E extends Exception> Outcome once(Connection tx, Request request, KeyPolicy policy, Command<E> command)
            throws E {
        TRANSACTION.require(tx);
        try {
            return counted(request, () -> once.run(tx, request, policy, command));
        } catch (DatabaseException e) {
            throw TRANSACTION.explained(e);
        }
    }

    /** Does a procedure in steps, with the standard policy. */
    public <E extends Exception> Outcome steps(Request request, Procedure<E> procedure) throws E {
        return steps(request, KeyPolicy.STANDARD, procedure);
    }

    /**
     * Does a procedure in steps, or goes on with it where another has left it. What it throws is thrown again, and whoever asks next
     * for the same goes on after the last step that was done. The key is kept even if none was: what was called before the first step
     * is not known here.
     */
    public <E extends Exception> Outcome steps(Request request, KeyPolicy policy, Procedure<E> procedure) throws E {
        return patiently(request, policy, () -> stepper.run(request, policy, procedure));
    }

    /** Goes on with steps that were left, and begins nothing. Waits for nobody. */
    <E extends Exception> Outcome resume(Request request, KeyPolicy policy, Procedure<E> procedure) throws E {
        return counted(request, () -> stepper.resume(request, policy, procedure));
    }

    /** Something that goes on with the keys of a scope that were left in the middle of their steps. */
    public Completer completer(String scope, KeyPolicy policy, Procedure<?> procedure) {
        return new Completer(this, database, stepper.table(), scope, policy, procedure, Completer.PAUSE);
    }

    /** A request came without a key, where it must have one. Only counts. */
    public void countMissing(String scope) {
        telemetry.requested(scope, "missing");
    }

    /** A request's key or body was not well formed. Only counts. */
    public void countInvalid(String scope) {
        telemetry.requested(scope, "invalid");
    }

    /** A request was too large. Only counts. */
    public void countTooLarge(String scope) {
        telemetry.requested(scope, "too_large");
    }

    /** A request came without a key, where none is required, and was done. Only counts. */
    public void countUnkeyed(String scope) {
        telemetry.requested(scope, "unkeyed");
    }

    private interface Attempt<E extends Exception> {
        Outcome run() throws E;
    }

    private <E extends Exception> Outcome patiently(Request request, KeyPolicy policy, Attempt<E> attempt) throws E {
        return counted(request, () -> {
            long deadline = System.nanoTime() + policy.patience().toNanos();
            long pause = FIRST_LOOK.toNanos();
            while (true) {
                Outcome outcome = attempt.run();
                long left = deadline - System.nanoTime();
                if (!(outcome instanceof Outcome.Running) || left <= 0) {
                    return outcome;
                }
                LockSupport.parkNanos(Math.min(pause, left));
                if (Thread.currentThread().isInterrupted()) {
                    return outcome;
                }
                pause = Math.min(pause * 2, LOOK_MAX.toNanos());
            }
        });
    }

    /** What throws is counted too. */
    private <E extends Exception> Outcome counted(Request request, Attempt<E> attempt) throws E {
        String word = "failed";
        try {
            Outcome outcome = attempt.run();
            word = outcome.word();
            return outcome;
        } finally {
            telemetry.requested(request.key().scope(), word);
        }
    }
}
