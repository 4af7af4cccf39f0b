package io.postroom.source;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Moves: one method per statement, no decisions. */
final class MoveTable {
    private static final JsonMapper JSON = JsonMapper.shared();

    private final String channel;
    private final Sql outlook;
    private final Sql openMove;
    private final Sql lastMove;
    private final Sql givenUp;
    private final Sql noteMove;
    private final Sql aimMove;
    private final Sql announceSwitch;
    private final Sql boundWait;
    private final Sql endMove;
    private final Sql waiting;
    private final Sql take;
    private final Sql serve;
    private final Sql putLanes;
    private final Sql dropDeliveries;
    private final Sql dropBuried;
    private final Sql copyDeliveries;
    private final Sql adoptLetters;
    private final Sql wakeRelays;

    MoveTable(Schema schema) {
        // The one on which relays talk to each other.
        channel = schema.name() + "_journal";
        outlook = schema.sql(MoveTable.class, "outlook.sql");
        openMove = schema.sql(MoveTable.class, "open_move.sql");
        lastMove = schema.sql(MoveTable.class, "last_move.sql");
        givenUp = schema.sql(MoveTable.class, "given_up.sql");
        noteMove = schema.sql(MoveTable.class, "note_move.sql");
        aimMove = schema.sql(MoveTable.class, "aim_move.sql");
        announceSwitch = schema.sql(MoveTable.class, "announce_switch.sql");
        boundWait = schema.sql(MoveTable.class, "bound_wait.sql");
        endMove = schema.sql(MoveTable.class, "end_move.sql");
        waiting = schema.sql(MoveTable.class, "waiting.sql");
        take = schema.sql(MoveTable.class, "take.sql");
        serve = schema.sql(MoveTable.class, "serve.sql");
        putLanes = schema.sql(MoveTable.class, "put_lanes.sql");
        dropDeliveries = schema.sql(MoveTable.class, "drop_deliveries.sql");
        dropBuried = schema.sql(MoveTable.class, "drop_buried.sql");
        copyDeliveries = schema.sql(MoveTable.class, "copy_deliveries.sql");
        adoptLetters = schema.sql(MoveTable.class, "adopt_letters.sql");
        wakeRelays = schema.sql(MoveTable.class, "wake_relays.sql");
    }

    Optional<Outlook> outlook(Connection tx, String name, String feed, Duration kept, Feasibility feasibility) {
        return outlook.on(tx)
                .set("name", name)
                .set("feed", feed)
                .set("kept", kept)
                .first(row -> new Outlook(
                        ServedBy.of(row.getString("served_by")),
                        row.getLong("position"),
                        row.getLong("feed_position"),
                        row.getLong("deliveries"),
                        row.getLong("letters"),
                        seconds(row.getDouble("overlap")),
                        feasibility.find(row)));
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1_000));
    }

    Optional<Move> openMove(Connection tx, String name) {
        return openMove.on(tx).set("name", name).first(MoveTable::move);
    }

    Optional<Move> lastMove(Connection tx, String name) {
        return lastMove.on(tx).set("name", name).first(MoveTable::move);
    }

    long givenUp(Connection tx, Move move) {
        return givenUp.on(tx)
                .set("feed", move.feed())
                .set("position", move.position())
                .one(row -> row.getLong(1));
    }

    void noteMove(Connection tx, Moves.Request request, long position, Map<String, Long> offsets, Duration overlap) {
        noteMove.on(tx)
                .set("name", request.subscription())
                .set("target", request.target().word())
                .set("feed", request.feed())
                .set("topics", request.topics().toArray(String[]::new))
                .set("group_id", request.group())
                .set("position", position)
                .set("offsets", json(offsets))
                .set("overlap", overlap)
                .set("actor", request.act().actor())
                .set("reason", request.act().reason())
                .update();
    }

    void aimMove(Connection tx, long id, Map<String, Long> offsets) {
        aimMove.on(tx).set("id", id).set("offsets", json(offsets)).update();
    }

    static String json(Map<String, Long> offsets) {
        return JSON.writeValueAsString(new TreeMap<>(offsets));
    }

    void announceSwitch(Connection tx, long id, Duration time) {
        announceSwitch.on(tx).set("id", id).set("seconds", time).update();
    }

    void boundWait(Connection tx, Duration time) {
        boundWait.on(tx).set("millis", Long.toString(time.toMillis())).one(row -> row.getString(1));
    }

    boolean endMove(Connection tx, long id, String outcome) {
        return endMove.on(tx).set("id", id).set("outcome", outcome).update() == 1;
    }

    Waiting waiting(Connection tx, Move move) {
        return waiting.on(tx)
                .set("name", move.subscription())
                .set("feed", move.feed())
                .set("position", move.position())
                .set("target", move.target().word())
                .one(row -> new Waiting(row.getLong(1), row.getLong(2), row.getLong(3)));
    }

    void take(Connection tx, String name) {
        take.on(tx).set("name", name).list(row -> row.getString(1));
    }

    void serve(Connection tx, String name, ServedBy by) {
        serve.on(tx).set("name", name).set("served_by", by.word()).update();
    }

    void putLanes(Connection tx, String name, @Nullable Long position) {
        putLanes.on(tx).set("name", name).set("position", position).update();
    }

    int dropDeliveries(Connection tx, String name) {
        return dropDeliveries.on(tx).set("name", name).update();
    }

    int dropBuried(Connection tx, String name) {
        return dropBuried.on(tx).set("name", name).update();
    }

    int copyDeliveries(Connection tx, Move move) {
        return copyDeliveries
                .on(tx)
                .set("name", move.subscription())
                .set("feed", move.feed())
                .set("position", move.position())
                .update();
    }

    int adoptLetters(Connection tx, String name, String from, String to) {
        return adoptLetters
                .on(tx)
                .set("name", name)
                .set("from_source", from)
                .set("to_source", to)
                .update();
    }

    void wakeRelays(Connection tx) {
        wakeRelays.on(tx).set("channel", channel).one(row -> row.getString(1));
    }

    private static Move move(ResultSet row) throws SQLException {
        return new Move(
                row.getLong("id"),
                row.getString("subscription"),
                ServedBy.of(row.getString("target")),
                row.getString("feed"),
                List.of((String[]) row.getArray("topics").getArray()),
                row.getString("group_id"),
                row.getLong("position"),
                JSON.readValue(row.getString("offsets"), new TypeReference<Map<String, Long>>() {}),
                row.getString("actor"),
                row.getString("reason"),
                Objects.requireNonNull(row.getObject("noted_at", OffsetDateTime.class))
                        .toInstant());
    }
}
