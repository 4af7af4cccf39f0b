package io.postroom.projection;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.retry.Spelling;
import io.postroom.subscription.Act;
import java.sql.Connection;
import java.util.List;
import java.util.Map;

/** What all acts of operators on read models have in common: who and why, the lock, the audit row, who owns the schemas. */
final class Operations {
    /** Deliveries, dead letters and the like are counted up to this. */
    static final int COUNT_MAX = 10_000;

    private static final int NAMES_MAX = 1_000;
    private static final int TRIES_MAX = 5;

    private final Database database;
    private final Audit audit;
    private final GenerationTable generations;
    private final ReadModelTable table;

    Operations(Database database, Audit audit, GenerationTable generations) {
        this.database = database;
        this.audit = audit;
        this.generations = generations;
        this.table = new ReadModelTable(database.schema());
    }

    Database database() {
        return database;
    }

    ReadModelTable table() {
        return table;
    }

    GenerationTable generations() {
        return generations;
    }

    /** Runs work in one transaction, once more if it met another's locks the other way round. */
    <T> T transact(Database.Work<T> work) {
        for (int tries = 1; ; tries++) {
            try {
                return database.transact(work);
            } catch (DatabaseException e) {
                if (!e.sqlState().equals(SqlState.DEADLOCK) || tries == TRIES_MAX) {
                    throw e;
                }
            }
        }
    }

    /** Refuses an act that says not who and why, before anything is asked of anybody. */
    static void check(Act act, String attempt) {
        List<String> problems = Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw new PostroomException("audit.invalid", "could not " + attempt + ": " + String.join("; ", problems));
        }
    }

    /** Locks a read model for the rest of the transaction and says how it stands. */
    ReadModelState lock(Connection tx, String name, String attempt) {
        generations.lock(tx, name).orElseThrow(() -> unknown(tx, name, attempt));
        return find(tx, name, attempt);
    }

    ReadModelState find(Connection tx, String name, String attempt) {
        return table.models(tx, name, COUNT_MAX).stream().findFirst().orElseThrow(() -> unknown(tx, name, attempt));
    }

    /** The live generation; refuses where a relay has never made one. */
    GenerationState live(ReadModelState model, String attempt) {
        return model.live()
                .orElseThrow(() -> refused(
                        "not-made",
                        attempt,
                        "it was never made"
                                + model.building()
                                        .map(GenerationState::error)
                                        .map(error -> ": " + error)
                                        .orElse("; start a relay that serves it")));
    }

    GenerationState generation(ReadModelState model, int number, String attempt) {
        return model.generation(number)
                .orElseThrow(() -> new UnknownReadModelException("could not " + attempt
                        + ": there is no such generation; there are "
                        + model.generations().stream()
                                .map(each -> each.number() + " (" + each.state() + ")")
                                .toList()));
    }

    /** Whoever renames or drops a schema must own it; PostgreSQL would only say that it must not. */
    void requireOwner(Connection tx, String schema, String attempt) {
        ReadModelTable.Owner owner = table.owner(tx, schema)
                .orElseThrow(() -> refused("schema-missing", attempt, "schema " + schema + " is not there"));
        if (!owner.isOwner()) {
            throw refused(
                    "not-owner",
                    attempt,
                    "schema " + schema + " belongs to role " + owner.owner() + ", this is " + owner.me()
                            + "; connect as that role, or: grant " + owner.owner() + " to " + owner.me());
        }
        if (!owner.mayCreate()) {
            throw refused(
                    "not-owner",
                    attempt,
                    "role " + owner.me() + " may not rename schemas; grant create on database " + owner.database()
                            + " to " + owner.me());
        }
    }

    void record(Connection tx, Act act, String verb, String name, Map<String, ?> details) {
        audit.record(tx, act.actor(), "projection " + verb, "read model " + name, act.reason(), details);
    }

    static PostroomException refused(String code, String attempt, String fact) {
        return new PostroomException("projection." + code, "could not " + attempt + ": " + fact);
    }

    private UnknownReadModelException unknown(Connection tx, String name, String attempt) {
        return new UnknownReadModelException("could not " + attempt + ": there is no read model " + name
                + Spelling.didYouMean(name, table.names(tx, NAMES_MAX)));
    }
}
