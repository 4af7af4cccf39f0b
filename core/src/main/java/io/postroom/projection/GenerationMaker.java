package io.postroom.projection;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.relay.Subscriber;
import io.postroom.relay.Subscription;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes generations: schema, tables, subscription and lanes in one transaction, under the read model's lock, so that of any number of
 * relays one does it.
 */
final class GenerationMaker {
    private static final Logger LOG = LoggerFactory.getLogger(GenerationMaker.class);
    private static final int ERROR_LENGTH_MAX = 1_000;
    private static final int TRIES_MAX = 5;

    private final Database database;
    private final GenerationTable table;
    private final Subscriber subscriber;

    GenerationMaker(Database database, GenerationTable table, Subscriber subscriber) {
        this.database = database;
        this.table = table;
        this.subscriber = subscriber;
    }

    /** Makes read models known, with their first generations, and brings what a release has changed up to date. */
    void register(List<ReadModel> models) {
        for (ReadModel model : models) {
            long beginning = subscriber.beginning(model.subscription(1));
            Optional<GenerationTable.Row> first;
            try {
                first = transact(tx -> register(tx, model, beginning));
            } catch (PostroomException e) {
                noteFirst(model, beginning, e);
                throw e;
            }
            first.ifPresent(
                    made -> subscriber.warnIfMessagesAreGone(model.subscription(made.number()), made.beganAfter()));
        }
    }

    /** Returns the first generation if it was made now. */
    private Optional<GenerationTable.Row> register(Connection tx, ReadModel model, long beginning) {
        table.register(tx, model);
        table.lock(tx, model.name()).orElseThrow();
        Optional<GenerationTable.Row> first = askFirst(tx, model, beginning);
        if (first.isPresent()) {
            make(tx, model, first.get(), true);
            return first;
        }
        for (GenerationTable.Row row : table.generations(tx, Set.of(model.name()))) {
            if (row.version() == model.version() && !row.isAsked()) {
                requireSameTables(model, row);
                subscriber.subscribe(tx, model.subscription(row.number()), model.projection(), row.beganAfter());
            }
        }
        return first;
    }

    /** Asks for the first generation of a read model that is locked, as this relay would make it; empty if one was made before. */
    private Optional<GenerationTable.Row> askFirst(Connection tx, ReadModel model, long beginning) {
        List<GenerationTable.Row> rows = table.generations(tx, Set.of(model.name()));
        if (!rows.stream().allMatch(GenerationTable.Row::isAsked)) {
            return Optional.empty();
        }
        if (rows.isEmpty()) {
            table.ask(tx, model.name(), model.version(), beginning, "relay");
        } else {
            // There is at most one of them: a relay could not make it when it started, or an operator has asked for it
            // since.
            table.askAgain(tx, model.name(), rows.get(0).number(), model.version(), beginning);
        }
        return table.generations(tx, Set.of(model.name())).stream().findFirst();
    }

    /** Keeps why the first generation could not be made: operators see neither this process nor its log. */
    private void noteFirst(ReadModel model, long beginning, PostroomException why) {
        try {
            transact(tx -> {
                if (table.generations(tx, Set.of(model.name())).stream().allMatch(GenerationTable.Row::isAsked)) {
                    table.register(tx, model);
                    table.lock(tx, model.name()).orElseThrow();
                    askFirst(tx, model, beginning)
                            .ifPresent(first -> table.noteError(tx, model.name(), first.number(), error(why)));
                }
                return true;
            });
        } catch (PostroomException e) {
            why.addSuppressed(e);
        }
    }

    private static String error(PostroomException why) {
        return why.getMessage().substring(0, Math.min(why.getMessage().length(), ERROR_LENGTH_MAX));
    }

    /** Makes every generation that is asked for in a version that is given. */
    private void makeAll(List<ReadModel> models) {
        for (ReadModel model : models) {
            for (GenerationTable.Row row : database.run(tx -> table.generations(tx, Set.of(model.name())))) {
                if (row.isAsked() && row.version() == model.version()) {
                    make(model, row.number());
                }
            }
        }
    }

    /** The same; whoever asked for one finds out why it could not be made. Returns whether all were. */
    boolean makeAllQuietly(List<ReadModel> models) {
        try {
            makeAll(models);
            return true;
        } catch (PostroomException e) {
            // It was told when it was noted, once.
            LOG.debug("a generation could not be made", e);
            return false;
        }
    }

    private void make(ReadModel model, int number) {
        try {
            transact(tx -> {
                table.lock(tx, model.name()).orElseThrow();
                List<GenerationTable.Row> rows = table.generations(tx, Set.of(model.name()));
                rows.stream()
                        .filter(row -> row.number() == number && row.isAsked())
                        .findFirst()
                        .ifPresent(row -> make(
                                tx,
                                model,
                                row,
                                rows.stream().noneMatch(each -> each.state().equals("live"))));
                return true;
            });
        } catch (PostroomException e) {
            String error = error(e);
            if (database.run(tx -> table.noteError(tx, model.name(), number, error)) == 1) {
                LOG.warn("{}; it is tried again", error);
            }
            throw e;
        }
    }

    private void make(Connection tx, ReadModel model, GenerationTable.Row row, boolean live) {
        String title = GenerationState.title(model.name(), row.number());
        String schema = live ? model.name() : row.schema();
        table.makeSchema(tx, schema);
        try {
            GenerationTable.makeTables(tx, model.tables());
        } catch (SQLException e) {
            throw new PostroomException(
                    "projection.tables-invalid",
                    "could not make " + title + ": PostgreSQL said about its tables: " + e.getMessage()
                            + "; correct their SQL",
                    e);
        }
        if (table.tables(tx, schema).isEmpty()) {
            throw new PostroomException(
                    "projection.tables-elsewhere",
                    "could not make " + title + ": its SQL made no table in schema " + schema
                            + "; use names without a schema");
        }
        if (!model.readers().isEmpty()) {
            table.letRead(tx, schema, model.readers());
        }
        Subscription subscription = model.subscription(row.number());
        subscriber.subscribe(tx, subscription, model.projection(), row.beganAfter());
        table.made(tx, model, row.number(), live ? "live" : "building", subscription.name());
        table.wake(tx);
        LOG.info(
                "made {}, version {}, in schema {}, from position {}",
                title,
                model.version(),
                schema,
                row.beganAfter());
    }

    private static void requireSameTables(ReadModel model, GenerationTable.Row row) {
        if (!model.tables().equals(row.ddl())) {
            throw new PostroomException(
                    "projection.tables-differ",
                    "could not serve " + GenerationState.title(model.name(), row.number()) + ": version "
                            + model.version() + " was made with other tables than this relay says; give the new ones"
                            + " version " + (model.version() + 1) + ", and serve both until the old one is retired");
        }
    }

    /** Once more if it met others' locks the other way round; errors that an operator can do something about in words. */
    private <T> T transact(Database.Work<T> work) {
        for (int tries = 1; ; tries++) {
            try {
                return database.transact(work);
            } catch (DatabaseException e) {
                if (e.sqlState().equals(SqlState.DEADLOCK) && tries < TRIES_MAX) {
                    continue;
                }
                throw explained(e);
            }
        }
    }

    private static PostroomException explained(DatabaseException e) {
        String said = e.getMessage();
        return switch (e.sqlState()) {
            case "42P06" ->
                new PostroomException(
                        "projection.schema-taken",
                        "could not make a generation: there is a schema of its name that is none of its own (" + said
                                + "); give the read model another name, or move that schema away",
                        e);
            case SqlState.INSUFFICIENT_PRIVILEGE ->
                new PostroomException(
                        "projection.not-allowed",
                        "could not make a generation: this login may not (" + said
                                + "); a relay that serves read models needs: grant create on database … to its role",
                        e);
            default -> e;
        };
    }
}
