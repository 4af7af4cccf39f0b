package io.postroom.projection;

import io.postroom.journal.ArchiveDays;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Read models and generations as a relay sees and makes them: one method per statement, no decisions. */
final class GenerationTable {
    private final Sql register;
    private final Sql lockModel;
    private final Sql roster;
    private final ArchiveDays archiveDays;
    private final Sql ask;
    private final Sql askAgain;
    private final Sql made;
    private final Sql noteError;
    private final Sql makeSchema;
    private final Sql letRead;
    private final Sql listTables;
    private final Sql enter;
    private final Sql readEpoch;
    private final Sql awaitSwap;
    private final Sql freshness;
    private final Sql wake;
    private final String channel;

    GenerationTable(Schema schema) {
        // The one on which relays talk to each other.
        channel = schema.name() + "_journal";
        register = schema.sql(GenerationTable.class, "register.sql");
        lockModel = schema.sql(GenerationTable.class, "lock_model.sql");
        roster = schema.sql(GenerationTable.class, "roster.sql");
        archiveDays = new ArchiveDays(schema);
        ask = schema.sql(GenerationTable.class, "ask.sql");
        askAgain = schema.sql(GenerationTable.class, "ask_again.sql");
        made = schema.sql(GenerationTable.class, "made.sql");
        noteError = schema.sql(GenerationTable.class, "note_error.sql");
        makeSchema = schema.sql(GenerationTable.class, "make_schema.sql");
        letRead = schema.sql(GenerationTable.class, "let_read.sql");
        listTables = schema.sql(GenerationTable.class, "list_tables.sql");
        enter = schema.sql(GenerationTable.class, "enter.sql");
        readEpoch = schema.sql(GenerationTable.class, "read_epoch.sql");
        awaitSwap = schema.sql(GenerationTable.class, "await_swap.sql");
        freshness = schema.sql(GenerationTable.class, "freshness.sql");
        wake = schema.sql(GenerationTable.class, "wake.sql");
    }

    /** A read model that is locked for the rest of a transaction. */
    record Locked(
            String name,
            int version,
            long epoch,
            int lastGeneration,
            @Nullable Integer rolledBackFrom) {}

    /** A generation as a relay needs it. */
    record Row(
            String readModel,
            int number,
            int version,
            String state,
            String schema,
            @Nullable String ddl,
            long beganAfter,
            @Nullable Long holdAt) {
        boolean isAsked() {
            return state.equals("asked");
        }
    }

    /** A batch's generation: the model's epoch, and whether the schema is there. */
    record Entered(long epoch, String schema, boolean present) {}

    void register(Connection tx, ReadModel model) {
        register.on(tx)
                .set("name", model.name())
                .set("freshness", model.freshness().word())
                .set("freshness_limit", model.ageMax())
                .set("version", model.version())
                .set("ignored", model.ignored().stream().sorted().toArray(String[]::new))
                .update();
    }

    Optional<Locked> lock(Connection tx, String name) {
        return lockModel
                .on(tx)
                .set("name", name)
                .first(row -> new Locked(
                        row.getString("name"),
                        row.getInt("version"),
                        row.getLong("epoch"),
                        row.getInt("last_generation"),
                        row.getObject("rolled_back_from", Integer.class)));
    }

    List<Row> generations(Connection tx, Collection<String> names) {
        return roster.on(tx)
                .set("names", names.toArray(String[]::new))
                .list(row -> new Row(
                        row.getString("read_model"),
                        row.getInt("number"),
                        row.getInt("version"),
                        row.getString("state"),
                        row.getString("schema_name"),
                        row.getString("ddl"),
                        row.getLong("began_after"),
                        row.getObject("hold_at", Long.class)));
    }

    /** Until the transaction ends no archived day is dropped; returns the last position that was dropped before. */
    long keepArchive(Connection tx) {
        return archiveDays.keep(tx);
    }

    /** Returns its number. */
    int ask(Connection tx, String name, int version, long beganAfter, String askedBy) {
        return ask.on(tx)
                .set("name", name)
                .set("version", version)
                .set("began_after", beganAfter)
                .set("asked_by", askedBy)
                .one(row -> row.getInt(1));
    }

    void askAgain(Connection tx, String readModel, int number, int version, long beganAfter) {
        askAgain.on(tx)
                .set("read_model", readModel)
                .set("number", number)
                .set("version", version)
                .set("began_after", beganAfter)
                .update();
    }

    void made(Connection tx, ReadModel model, int number, String state, String subscription) {
        made.on(tx)
                .set("read_model", model.name())
                .set("number", number)
                .set("state", state)
                .set("subscription", subscription)
                .set("ddl", model.tables())
                .update();
    }

    int noteError(Connection tx, String readModel, int number, String error) {
        return noteError
                .on(tx)
                .set("read_model", readModel)
                .set("number", number)
                .set("error", error)
                .update();
    }

    void makeSchema(Connection tx, String name) {
        makeSchema.on(tx).set("schema_name", name).one(row -> true);
    }

    /** What the application gave, as it is. */
    static void makeTables(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    void letRead(Connection tx, String schema, Collection<String> readers) {
        letRead.on(tx)
                .set("schema_name", schema)
                .set("readers", readers.toArray(String[]::new))
                .one(row -> true);
    }

    List<String> tables(Connection tx, String... schemas) {
        return listTables.on(tx).set("schemas", schemas).list(row -> row.getString(1));
    }

    Optional<Entered> enter(Connection tx, String readModel, int number) {
        return enter.on(tx)
                .set("read_model", readModel)
                .set("number", number)
                .first(row -> new Entered(row.getLong(1), row.getString(2), row.getBoolean(3)));
    }

    /** Minus one if there is no such read model. */
    long epoch(Connection tx, String readModel) {
        return readEpoch
                .on(tx)
                .set("read_model", readModel)
                .first(row -> row.getLong(1))
                .orElse(-1L);
    }

    void awaitSwap(Connection tx, String readModel) {
        awaitSwap.on(tx).set("read_model", readModel).one(row -> true);
    }

    Map<String, Age> freshness(Connection tx, Collection<String> names) {
        Map<String, Age> ages = new HashMap<>();
        freshness
                .on(tx)
                .set("names", names.toArray(String[]::new))
                .list(row -> ages.put(
                        row.getString(1),
                        new Age(Freshness.of(row.getString(2)), seconds(row.getDouble(3)), seconds(row.getDouble(4)))));
        return ages;
    }

    /** Relays hear of it when the transaction commits. */
    void wake(Connection tx) {
        wake.on(tx).set("channel", channel).one(row -> true);
    }

    static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }
}
