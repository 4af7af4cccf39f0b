package io.postroom.projection;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Read models as operators see, swap, compare and retire them: one method per statement, no decisions. */
final class ReadModelTable {
    private final Sql listModels;
    private final Sql listGenerations;
    private final Sql listNames;
    private final Sql countUnapplied;
    private final Sql listDependents;
    private final Sql findOwner;
    private final Sql lockSwap;
    private final Sql swapSchemas;
    private final Sql leave;
    private final Sql promote;
    private final Sql raiseEpoch;
    private final Sql forget;
    private final Sql dropSchema;
    private final Sql hold;
    private final Sql prolongHold;
    private final Sql endHold;
    private final Sql listBehind;
    private final Sql compareTables;
    private final Sql repeatableRead;
    private final Sql keepFromSwap;

    ReadModelTable(Schema schema) {
        listModels = schema.sql(ReadModelTable.class, "list_models.sql");
        listGenerations = schema.sql(ReadModelTable.class, "list_generations.sql");
        listNames = schema.sql(ReadModelTable.class, "list_names.sql");
        countUnapplied = schema.sql(ReadModelTable.class, "count_unapplied.sql");
        listDependents = schema.sql(ReadModelTable.class, "list_dependents.sql");
        findOwner = schema.sql(ReadModelTable.class, "find_owner.sql");
        lockSwap = schema.sql(ReadModelTable.class, "lock_swap.sql");
        swapSchemas = schema.sql(ReadModelTable.class, "swap_schemas.sql");
        leave = schema.sql(ReadModelTable.class, "leave.sql");
        promote = schema.sql(ReadModelTable.class, "promote.sql");
        raiseEpoch = schema.sql(ReadModelTable.class, "raise_epoch.sql");
        forget = schema.sql(ReadModelTable.class, "forget.sql");
        dropSchema = schema.sql(ReadModelTable.class, "drop_schema.sql");
        hold = schema.sql(ReadModelTable.class, "hold.sql");
        prolongHold = schema.sql(ReadModelTable.class, "prolong_hold.sql");
        endHold = schema.sql(ReadModelTable.class, "end_hold.sql");
        listBehind = schema.sql(ReadModelTable.class, "list_behind.sql");
        compareTables = schema.sql(ReadModelTable.class, "compare_tables.sql");
        repeatableRead = schema.sql(ReadModelTable.class, "repeatable_read.sql");
        keepFromSwap = schema.sql(ReadModelTable.class, "keep_from_swap.sql");
    }

    /** Whether this session may rename or drop a schema. */
    record Owner(String owner, boolean isOwner, String me, boolean mayCreate, String database) {}

    /** Read models, one or all, with their generations. */
    List<ReadModelState> models(Connection tx, @Nullable String name, int countMax) {
        List<GenerationState> generations = listGenerations
                .on(tx)
                .set("name", name)
                .set("count_max", countMax)
                .list(ReadModelTable::generation);
        return listModels.on(tx).set("name", name).list(row -> model(row, generations));
    }

    List<String> names(Connection tx, int limit) {
        return listNames.on(tx).set("limit", limit).list(row -> row.getString(1));
    }

    long countUnapplied(Connection tx, String candidate, String live, int countMax) {
        return countUnapplied
                .on(tx)
                .set("candidate", candidate)
                .set("live", live)
                .set("count_max", countMax)
                .one(row -> row.getLong(1));
    }

    List<String> dependents(Connection tx, String schema) {
        return listDependents.on(tx).set("schema_name", schema).list(row -> row.getString(1));
    }

    Optional<Owner> owner(Connection tx, String schema) {
        return findOwner
                .on(tx)
                .set("schema_name", schema)
                .first(row -> new Owner(
                        row.getString("owner"),
                        row.getBoolean("is_owner"),
                        row.getString("me"),
                        row.getBoolean("may_create"),
                        row.getString("database")));
    }

    void lockSwap(Connection tx, String readModel, Duration patience) {
        lockSwap.on(tx)
                .set("read_model", readModel)
                .set("patience", Long.toString(patience.toMillis()))
                .one(row -> true);
    }

    void swapSchemas(Connection tx, String live, String former, String candidate) {
        swapSchemas
                .on(tx)
                .set("live", live)
                .set("former", former)
                .set("candidate", candidate)
                .one(row -> true);
    }

    void leave(Connection tx, String readModel) {
        leave.on(tx).set("read_model", readModel).update();
    }

    void promote(Connection tx, String readModel, int number, @Nullable Integer replaced) {
        promote.on(tx)
                .set("read_model", readModel)
                .set("number", number)
                .set("replaced", replaced == null ? null : Long.valueOf(replaced))
                .update();
    }

    long raiseEpoch(Connection tx, String readModel, @Nullable Integer rolledBackFrom) {
        return raiseEpoch
                .on(tx)
                .set("read_model", readModel)
                .set("rolled_back_from", rolledBackFrom == null ? null : Long.valueOf(rolledBackFrom))
                .one(row -> row.getLong(1));
    }

    void forget(Connection tx, String readModel, int number) {
        forget.on(tx).set("read_model", readModel).set("number", number).update();
    }

    void dropSchema(Connection tx, String schema, Duration patience) {
        dropSchema
                .on(tx)
                .set("schema_name", schema)
                .set("patience", Long.toString(patience.toMillis()))
                .one(row -> true);
    }

    /** Returns the position. */
    long hold(Connection tx, String readModel, Integer[] numbers, Duration time) {
        return hold.on(tx)
                .set("read_model", readModel)
                .set("numbers", numbers)
                .set("seconds", time)
                .list(row -> row.getLong(1))
                .get(0);
    }

    boolean prolongHold(Connection tx, String readModel, Integer[] numbers, long holdAt, Duration time) {
        return prolongHold
                        .on(tx)
                        .set("read_model", readModel)
                        .set("numbers", numbers)
                        .set("hold_at", holdAt)
                        .set("seconds", time)
                        .update()
                == numbers.length;
    }

    void endHold(Connection tx, String readModel, Integer[] numbers, long holdAt) {
        endHold.on(tx)
                .set("read_model", readModel)
                .set("numbers", numbers)
                .set("hold_at", holdAt)
                .update();
    }

    List<String> behind(Connection tx, String readModel, Integer[] numbers, long position) {
        return listBehind
                .on(tx)
                .set("read_model", readModel)
                .set("numbers", numbers)
                .set("position", position)
                .list(row -> row.getString(1));
    }

    TableComparison compare(
            Connection tx, String live, String candidate, String table, List<String> ignored, int examplesMax) {
        return compareTables
                .on(tx)
                .set("live", live)
                .set("candidate", candidate)
                .set("table_name", table)
                .set("ignored", ignored.toArray(String[]::new))
                .set("examples_max", examplesMax)
                .one(row -> new TableComparison(
                        table,
                        row.getLong("live_rows"),
                        row.getLong("candidate_rows"),
                        row.getLong("only_live"),
                        row.getLong("only_candidate"),
                        row.getLong("different"),
                        texts(row.getArray("examples")),
                        texts(row.getArray("lone_columns"))));
    }

    /** Before any other statement of the transaction. */
    void repeatableRead(Connection tx) {
        repeatableRead.on(tx).update();
    }

    /** Whether names mean the same for the rest of the transaction. */
    boolean keepFromSwap(Connection tx, String readModel) {
        return keepFromSwap.on(tx).set("read_model", readModel).one(row -> row.getBoolean(1));
    }

    private static ReadModelState model(ResultSet row, List<GenerationState> generations) throws SQLException {
        String name = row.getString("name");
        return new ReadModelState(
                name,
                row.getInt("version"),
                texts(row.getArray("ignored")),
                row.getLong("epoch"),
                row.getInt("last_generation"),
                row.getObject("rolled_back_from", Integer.class),
                time(row, "created_at"),
                new Age(
                        Freshness.of(row.getString("freshness")),
                        GenerationTable.seconds(row.getDouble("age")),
                        GenerationTable.seconds(row.getDouble("age_max"))),
                generations.stream()
                        .filter(each -> each.readModel().equals(name))
                        .toList());
    }

    private static GenerationState generation(ResultSet row) throws SQLException {
        return new GenerationState(
                row.getString("read_model"),
                row.getInt("number"),
                row.getInt("version"),
                row.getString("state"),
                row.getString("schema_name"),
                row.getString("subscription"),
                row.getLong("began_after"),
                row.getLong("position"),
                row.getLong("end_position"),
                GenerationTable.seconds(row.getDouble("age")),
                row.getDouble("rate"),
                row.getLong("deliveries"),
                row.getLong("dead_letters"),
                row.getObject("hold_at", Long.class),
                row.getObject("replaced", Integer.class),
                time(row, "asked_at"),
                timeOrNull(row, "made_at"),
                timeOrNull(row, "live_at"),
                row.getString("error"));
    }

    private static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    private static @Nullable Instant timeOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private static List<String> texts(Array array) throws SQLException {
        return List.of((String[]) array.getArray());
    }
}
