package io.postroom.projection;

import io.postroom.message.Envelope;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Projection;
import io.postroom.relay.UndecidedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A read model's projection on the tables of one generation: says what plain names mean before each batch, and finds out after it
 * whether they meant the same all the time. A swap in between turns the batch back; nothing is counted against its messages.
 */
final class GenerationProjection implements Projection {
    /** What PostgreSQL says when a prepared statement would return other types than before; it says the same of little else. */
    private static final String CHANGED_RESULT = "0A000";

    /** So many causes are looked at. */
    private static final int CAUSES_MAX = 16;

    private final ReadModel model;
    private final int number;
    private final Database database;
    private final GenerationTable table;
    /** The last swap of which every session in this database is known to have heard. */
    private volatile long settledEpoch = -1;

    GenerationProjection(ReadModel model, int number, Database database, GenerationTable table) {
        this.model = model;
        this.number = number;
        this.database = database;
        this.table = table;
    }

    @Override
    public void apply(Connection tx, List<Envelope> batch) throws Exception {
        GenerationTable.Entered entered =
                table.enter(tx, model.name(), number).orElseThrow(() -> disturbed("it was retired meanwhile", null));
        if (!entered.present()) {
            // Plain names would mean whatever else is on the path.
            throw new OutcomeException(Outcome.unavailable("schema " + entered.schema() + " of "
                    + GenerationState.title(model.name(), number) + " is not there"));
        }
        if (entered.epoch() != settledEpoch) {
            table.awaitSwap(tx, model.name());
            settledEpoch = entered.epoch();
        }
        try {
            model.projection().apply(tx, batch);
        } catch (Exception e) {
            if (isStalePlan(e)) {
                throw disturbed("this connection had a plan for the tables of another version", e);
            }
            // Perhaps it met the other generation's tables. This transaction cannot be asked: it may have failed. Nor
            // can another one
            // be, before this one has given its connection back: there may be no other.
            throw new UndecidedException(
                    e, () -> wasSwapped(entered.epoch()) ? disturbed("it was swapped meanwhile", e) : e);
        }
        if (table.epoch(tx, model.name()) != entered.epoch()) {
            throw disturbed("it was swapped meanwhile", null);
        }
    }

    /** The driver forgets the statement then, and prepares it anew the next time. */
    private static boolean isStalePlan(Exception thrown) {
        Throwable cause = thrown;
        for (int i = 0; cause != null && i < CAUSES_MAX; i++, cause = cause.getCause()) {
            if (cause instanceof SQLException said && CHANGED_RESULT.equals(said.getSQLState())) {
                return true;
            }
        }
        return false;
    }

    private boolean wasSwapped(long known) {
        try {
            return database.run(tx -> table.epoch(tx, model.name())) != known;
        } catch (DatabaseException e) {
            return false;
        }
    }

    /** With the state of what may succeed when it is done again. */
    private SQLException disturbed(String fact, @Nullable Exception cause) {
        return new SQLException(
                "could not apply messages to " + GenerationState.title(model.name(), number) + ": " + fact
                        + "; they are applied again",
                SqlState.SERIALIZATION_FAILURE,
                cause);
    }
}
