package io.postroom.job;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Runs handlers whose effect is committed together with the end of the job. Safe for use by many threads. */
final class Transactions {
    /** PostgreSQL ends what hangs; whoever waits for its answer waits a little longer. */
    private static final Duration ANSWER_SLACK = Duration.ofSeconds(5);

    private final Database database;
    private final SettleTable table;
    private final String worker;

    Transactions(Database database, String worker) {
        this.database = database;
        this.table = new SettleTable(database.schema());
        this.worker = worker;
    }

    /** What the handler says; if that is done, effect and end are committed. Anything else, and whatever it throws, leaves nothing. */
    @Nullable
    JobOutcome run(Run run, TransactionalJobHandler handler) throws Exception {
        try {
            return database.transactWithin(run.deadline().plus(ANSWER_SLACK), tx -> apply(tx, run, handler));
        } catch (NotDoneException e) {
            return e.outcome;
        } catch (ThrownException e) {
            throw e.thrown;
        }
    }

    private JobOutcome apply(Connection tx, Run run, TransactionalJobHandler handler) {
        Instant began = table.boundTransaction(tx, run.deadline());
        JobOutcome outcome = handle(tx, run, handler);
        if (!(outcome instanceof JobOutcome.Done done)) {
            throw new NotDoneException(outcome);
        }
        // Last: the job's row is locked from here to the commit only.
        if (!table.completeOne(tx, run.job(), done.result(), worker, began)) {
            throw new PostroomException(
                    "job.lost",
                    "could not end " + run.job() + ": fence " + run.job().fence()
                            + " is stale, it was taken away, or its handler has ended the transaction by itself; nothing that it"
                            + " wrote in this transaction stays");
        }
        return outcome;
    }

    private static @Nullable JobOutcome handle(Connection tx, Run run, TransactionalJobHandler handler) {
        try {
            return handler.handle(tx, run.context());
        } catch (Exception e) {
            throw new ThrownException(e);
        }
    }

    /** Rolls back what is not done. */
    private static final class NotDoneException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final transient @Nullable JobOutcome outcome;

        NotDoneException(@Nullable JobOutcome outcome) {
            super(null, null, false, false);
            this.outcome = outcome;
        }
    }

    /** Carries what a handler throws past the transaction, as it is. */
    private static final class ThrownException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final Exception thrown;

        ThrownException(Exception thrown) {
            super(null, thrown, false, false);
            this.thrown = thrown;
        }
    }
}
