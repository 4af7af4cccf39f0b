package io.postroom.idempotency;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** Does procedures: begins them, or goes on with those whose owner is gone. */
final class Stepper {
    private static final int TRIES_MAX = 3;

    private final Database database;
    private final KeyTable keys;
    private final StepTable table;
    private final Renewal renewal;
    private final Telemetry telemetry;

    Stepper(Database database, KeyTable keys, Telemetry telemetry) {
        this.database = database;
        this.telemetry = telemetry;
        this.keys = keys;
        this.table = new StepTable(database.schema());
        this.renewal = new Renewal(database, table);
    }

    StepTable table() {
        return table;
    }

    /** Either the steps are ours to do, or what is known is the answer. */
    private record Entry(@Nullable Steps steps, @Nullable Outcome known) {}

    <E extends Exception> Outcome run(Request request, KeyPolicy policy, Procedure<E> procedure) throws E {
        return run(request, policy, procedure, true);
    }

    /** Goes on with what was begun and left; what is gone meanwhile is not begun anew. */
    <E extends Exception> Outcome resume(Request request, KeyPolicy policy, Procedure<E> procedure) throws E {
        return run(request, policy, procedure, false);
    }

    private <E extends Exception> Outcome run(
            Request request, KeyPolicy policy, Procedure<E> procedure, boolean mayBegin) throws E {
        Entry entry = enter(request, policy, mayBegin);
        Steps steps = entry.steps();
        if (steps == null) {
            return java.util.Objects.requireNonNull(entry.known());
        }
        if (steps.isResumed()) {
            telemetry.steps(request.key().scope(), "resumed");
        }
        Renewal.Beat beat = renewal.keep(steps, policy);
        try {
            Answer answer = procedure.run(steps);
            beat.stop();
            return ended(request, policy, steps, answer);
        } catch (Exception e) {
            beat.stop();
            if (steps.isLost()) {
                telemetry.steps(request.key().scope(), "lost");
                // Whatever the procedure made of it: another is at it, and answers.
                return Claim.running();
            }
            leave(steps, e);
            throw e;
        } finally {
            // After an Error too: what died must not keep its lease.
            beat.stop();
        }
    }

    /** Another may begin between our look and our insert, in a transaction that looked before; then it is looked at once more. */
    private Entry enter(Request request, KeyPolicy policy, boolean mayBegin) {
        for (int tries = 1; ; tries++) {
            try {
                return database.transactPromptly(tx -> enter(tx, request, policy, mayBegin));
            } catch (DatabaseException e) {
                boolean conflict = e.sqlState().equals(SqlState.UNIQUE_VIOLATION)
                        || e.sqlState().equals(SqlState.SERIALIZATION_FAILURE);
                if (!conflict || tries == TRIES_MAX) {
                    throw e;
                }
            }
        }
    }

    private Entry enter(Connection tx, Request request, KeyPolicy policy, boolean mayBegin) {
        Claim claim = keys.claim(tx, request, policy.idleMax());
        if (claim.isFree() && !mayBegin) {
            return new Entry(null, Claim.running());
        }
        if (claim.isFree()) {
            Recovery recovery = Recovery.of(request.input());
            long fence = table.begin(tx, request, policy, recovery.write());
            return entry(request, policy, fence, recovery, false);
        }
        String left = claim.recovery();
        boolean ours = claim.isLapsed()
                && left != null
                && table.takeOver(tx, new StepTable.Held(request, claim.fence()), policy.lease());
        return ours && left != null
                ? entry(request, policy, claim.fence() + 1, Recovery.read(left), true)
                : new Entry(null, claim.known());
    }

    private Entry entry(Request request, KeyPolicy policy, long fence, Recovery recovery, boolean resumed) {
        StepTable.Held held = new StepTable.Held(request, fence);
        return new Entry(new Steps(database, table, held, policy, recovery, resumed), null);
    }

    private Outcome ended(Request request, KeyPolicy policy, Steps steps, Answer answer) {
        Answer stored = steps.answered();
        if (stored != null) {
            // Not what the procedure returned: whoever asks again gets what is stored.
            return new Outcome.Executed(stored, true);
        }
        if (!policy.failures().stores(answer)) {
            leave(steps, null);
            return new Outcome.Executed(answer, false);
        }
        if (database.run(tx -> table.finish(tx, steps.held(), steps.done(), answer, policy))) {
            return new Outcome.Executed(answer, true);
        }
        Claim now = database.transactPromptly(tx -> keys.claim(tx, request, policy.idleMax()));
        return now.isFree() ? Claim.running() : now.known();
    }

    /**
     * Lets the next request go on at once. The key stays even if no step was done: the procedure may have called others before, and
     * whoever comes next must be asking for the same. If this fails, the lease runs out by itself.
     */
    private void leave(Steps steps, @Nullable Exception reason) {
        try {
            database.transactPromptly(tx -> {
                table.giveUp(tx, steps.held());
                return true;
            });
        } catch (PostroomException e) {
            if (reason != null) {
                reason.addSuppressed(e);
            }
        }
    }
}
