package io.postroom.deadletter;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** The redrives: one method per statement, no decisions. */
final class RedriveTable {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final TypeReference<TreeMap<String, Long>> SKIPS = new TypeReference<>() {};

    private final Sql request;
    private final Sql find;
    private final Sql lock;
    private final Sql progress;
    private final Sql cancel;
    private final Sql list;
    private final Sql findUnfinished;
    private final Sql sum;

    RedriveTable(Schema schema) {
        request = DeadLetterFilter.statement(schema, RedriveTable.class, "request.sql");
        find = schema.sql(RedriveTable.class, "find.sql");
        lock = schema.sql(RedriveTable.class, "lock.sql");
        progress = schema.sql(RedriveTable.class, "progress.sql");
        cancel = schema.sql(RedriveTable.class, "cancel.sql");
        list = schema.sql(RedriveTable.class, "list_redrives.sql");
        findUnfinished = schema.sql(RedriveTable.class, "find_unfinished.sql");
        sum = schema.sql(RedriveTable.class, "sum_redrives.sql");
    }

    /** A redrive whose row is locked, and what a step needs besides. */
    record Locked(Redrive redrive, long reached, long idMax, boolean canaryLives, int allowance) {}

    /** How far a step came. */
    record Progress(
            long reached,
            long done,
            long skipped,
            Map<String, Long> skips,
            RedriveState state,
            @Nullable String note) {}

    boolean request(Connection tx, RedriveRequest asked, @Nullable Long idMax) {
        JsonPatch patch = asked.patch();
        Double rate = asked.rate();
        Integer canary = asked.canary();
        return asked.filter()
                        .on(request.on(tx))
                        .set("id", asked.id())
                        .set("action", asked.action().word())
                        .set("filter", FilterText.write(asked.filter()))
                        .set("patch", patch == null ? null : patch.toString())
                        .set("actor", asked.actor())
                        .set("reason", asked.reason())
                        .set("rate", rate == null ? null : rate.toString())
                        .set("canary", canary == null ? null : canary.longValue())
                        .set("id_max", idMax)
                        .update()
                > 0;
    }

    Optional<Redrive> find(Connection tx, UUID id) {
        return find.on(tx).set("id", id).first(RedriveTable::redrive);
    }

    Optional<Locked> lock(Connection tx, UUID id) {
        return lock.on(tx)
                .set("id", id)
                .first(row -> new Locked(
                        redrive(row),
                        row.getLong("reached"),
                        row.getLong("id_max"),
                        row.getObject("canary_at") != null
                                && !row.getString("state").equals("canary"),
                        row.getInt("allowance")));
    }

    void progress(Connection tx, UUID id, Progress step) {
        progress.on(tx)
                .set("id", id)
                .set("reached", step.reached())
                .set("done", step.done())
                .set("skipped", step.skipped())
                .set("skips", JSON.writeValueAsString(step.skips()))
                .set("state", step.state().word())
                .set("note", step.note())
                .update();
    }

    boolean cancel(Connection tx, UUID id, String note) {
        return cancel.on(tx).set("id", id).set("note", note).update() > 0;
    }

    List<Redrive> list(Connection tx, @Nullable UUID before, int limit) {
        return list.on(tx).set("before", before).set("limit", limit).list(RedriveTable::redrive);
    }

    Map<RedriveAction, Long> sum(Connection tx) {
        Map<RedriveAction, Long> letters = new EnumMap<>(RedriveAction.class);
        sum.on(tx).list(row -> letters.put(RedriveAction.of(row.getString("action")), row.getLong("letters")));
        return letters;
    }

    List<UUID> findUnfinished(Connection tx, int limit) {
        return findUnfinished
                .on(tx)
                .set("limit", limit)
                .list(row -> Objects.requireNonNull(row.getObject(1, UUID.class)));
    }

    private static Redrive redrive(ResultSet row) throws SQLException {
        return new Redrive(
                request(row),
                RedriveState.of(row.getString("state")),
                row.getLong("total"),
                row.getLong("done"),
                row.getLong("skipped"),
                JSON.readValue(row.getString("skips"), SKIPS),
                Objects.requireNonNull(instant(row, "created_at")),
                instant(row, "ended_at"),
                row.getString("note"));
    }

    private static RedriveRequest request(ResultSet row) throws SQLException {
        String patch = row.getString("patch");
        double rate = row.getDouble("rate");
        Double rateOrNull = row.wasNull() ? null : rate;
        int canary = row.getInt("canary");
        Integer canaryOrNull = row.wasNull() ? null : canary;
        return new RedriveRequest(
                Objects.requireNonNull(row.getObject("id", UUID.class)),
                RedriveAction.of(row.getString("action")),
                FilterText.read(row.getString("filter")),
                patch == null ? null : JsonPatch.parse(patch),
                rateOrNull,
                canaryOrNull,
                row.getString("actor"),
                row.getString("reason"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
