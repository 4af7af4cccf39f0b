package io.postroom.subscription;

import io.postroom.journal.ArchiveDays;
import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Subscriptions as an operator sees and changes them: one method per statement, no decisions. */
final class SubscriptionTable {
    private final String channel;
    private final Sql list;
    private final Sql listLanes;
    private final Sql countDeliveries;
    private final Sql countDeadLetters;
    private final Sql heldKeys;
    private final Sql listCircuits;
    private final Sql listRelays;
    private final Sql listNames;
    private final Sql listCopies;
    private final Sql lock;
    private final Sql lockToRemove;
    private final Sql pause;
    private final Sql resume;
    private final Sql noteSkip;
    private final Sql wantLanes;
    private final Sql askToDrain;
    private final Sql endDrain;
    private final Sql makeCopy;
    private final Sql beginReplay;
    private final Sql remove;
    private final Sql wake;
    private final Sql rememberedFrom;
    private final Sql feedsKafka;
    private final Sql clock;
    private final ArchiveDays archiveDays;
    private final Sql stampedBy;

    SubscriptionTable(Schema schema) {
        // The one on which relays talk to each other.
        channel = schema.name() + "_journal";
        list = schema.sql(SubscriptionTable.class, "list.sql");
        listLanes = schema.sql(SubscriptionTable.class, "list_lanes.sql");
        countDeliveries = schema.sql(SubscriptionTable.class, "count_deliveries.sql");
        countDeadLetters = schema.sql(SubscriptionTable.class, "count_dead_letters.sql");
        heldKeys = schema.sql(SubscriptionTable.class, "held_keys.sql");
        listCircuits = schema.sql(SubscriptionTable.class, "list_circuits.sql");
        listRelays = schema.sql(SubscriptionTable.class, "list_relays.sql");
        listNames = schema.sql(SubscriptionTable.class, "list_names.sql");
        listCopies = schema.sql(SubscriptionTable.class, "list_copies.sql");
        rememberedFrom = schema.sql(SubscriptionTable.class, "remembered_from.sql");
        feedsKafka = schema.sql(SubscriptionTable.class, "feeds_kafka.sql");
        lock = schema.sql(SubscriptionTable.class, "lock.sql");
        lockToRemove = schema.sql(SubscriptionTable.class, "lock_to_remove.sql");
        pause = schema.sql(SubscriptionTable.class, "pause.sql");
        resume = schema.sql(SubscriptionTable.class, "resume.sql");
        noteSkip = schema.sql(SubscriptionTable.class, "note_skip.sql");
        wantLanes = schema.sql(SubscriptionTable.class, "want_lanes.sql");
        askToDrain = schema.sql(SubscriptionTable.class, "ask_to_drain.sql");
        endDrain = schema.sql(SubscriptionTable.class, "end_drain.sql");
        makeCopy = schema.sql(SubscriptionTable.class, "make_copy.sql");
        beginReplay = schema.sql(SubscriptionTable.class, "begin_replay.sql");
        remove = schema.sql(SubscriptionTable.class, "remove.sql");
        wake = schema.sql(SubscriptionTable.class, "wake.sql");
        clock = schema.sql(SubscriptionTable.class, "clock.sql");
        archiveDays = new ArchiveDays(schema);
        stampedBy = schema.sql(SubscriptionTable.class, "stamped_by.sql");
    }

    /** A subscription that is locked for the rest of a transaction. */
    record Locked(
            String name,
            int lanes,
            @Nullable Integer lanesWanted,
            boolean ordered,
            @Nullable Pause pause,
            @Nullable String copyOf,
            @Nullable Long catchUpTo,
            String receiver,
            @Nullable String readModel,
            String servedBy,
            @Nullable String movingTo) {}

    /** A live relay, and how long its lease lasts. */
    record LiveRelay(String name, Duration lease) {}

    List<SubscriptionState> list(Connection tx) {
        return list(tx, null).list(SubscriptionTable::state);
    }

    Optional<SubscriptionState> find(Connection tx, String name) {
        return list(tx, name).first(SubscriptionTable::state);
    }

    private Call list(Connection tx, @Nullable String name) {
        return list.on(tx).set("name", name).set("count_max", Subscriptions.COUNT_MAX);
    }

    /** The lanes of one subscription, or of all. */
    List<LaneState> lanes(Connection tx, @Nullable String name) {
        return listLanes.on(tx).set("name", name).list(SubscriptionTable::lane);
    }

    Map<String, Long> countDeliveries(Connection tx, String name, int countMax) {
        Map<String, Long> counts = new LinkedHashMap<>();
        countDeliveries
                .on(tx)
                .set("name", name)
                .set("count_max", countMax)
                .list(row -> counts.put(row.getString(1), row.getLong(2)));
        return counts;
    }

    long countDeadLetters(Connection tx, String name) {
        return countDeadLetters.on(tx).set("name", name).one(row -> row.getLong(1));
    }

    List<HeldKey> heldKeys(Connection tx, String name, long after, int limit, int parkedMax) {
        return heldKeys.on(tx)
                .set("name", name)
                .set("after", after)
                .set("limit", limit)
                .set("parked_max", parkedMax)
                .list(row -> new HeldKey(
                        row.getLong("position"),
                        row.getLong("dead_letter"),
                        row.getString("tenant_id"),
                        row.getString("aggregate_type"),
                        row.getString("aggregate_id"),
                        row.getObject("message_id", UUID.class),
                        row.getString("error_class"),
                        time(row, "buried_at"),
                        row.getLong("parked")));
    }

    List<CircuitState> circuits(Connection tx, String name) {
        return listCircuits
                .on(tx)
                .set("name", name)
                .list(row -> new CircuitState(
                        row.getString("name"),
                        time(row, "opened_at"),
                        time(row, "probe_at"),
                        row.getInt("failures"),
                        row.getString("error_class"),
                        row.getString("error")));
    }

    List<LiveRelay> relays(Connection tx, String name) {
        return listRelays
                .on(tx)
                .set("name", name)
                .list(row -> new LiveRelay(row.getString(1), seconds(row.getDouble(2))));
    }

    List<String> names(Connection tx, int limit) {
        return listNames.on(tx).set("limit", limit).list(row -> row.getString(1));
    }

    List<String> copies(Connection tx, String name) {
        return listCopies.on(tx).set("name", name).list(row -> row.getString(1));
    }

    Optional<Locked> lock(Connection tx, String name) {
        return lock.on(tx).set("name", name).first(SubscriptionTable::locked);
    }

    Optional<Locked> lockToRemove(Connection tx, String name) {
        return lockToRemove.on(tx).set("name", name).first(SubscriptionTable::locked);
    }

    Instant pause(Connection tx, String name, Act act) {
        return pause.on(tx)
                .set("name", name)
                .set("actor", act.actor())
                .set("reason", act.reason())
                .one(row -> time(row, "paused_at"));
    }

    void resume(Connection tx, String name) {
        resume.on(tx).set("name", name).update();
    }

    void noteSkip(Connection tx, String name, long to) {
        noteSkip.on(tx).set("name", name).set("to", to).update();
    }

    void wantLanes(Connection tx, String name, @Nullable Integer lanes) {
        wantLanes
                .on(tx)
                .set("name", name)
                .set("lanes", lanes == null ? null : Long.valueOf(lanes))
                .update();
    }

    void askToDrain(Connection tx, String name, Duration time) {
        askToDrain.on(tx).set("name", name).set("seconds", time).update();
    }

    void endDrain(Connection tx, String name) {
        endDrain.on(tx).set("name", name).update();
    }

    /** Returns whether there was no subscription of the copy's name. */
    boolean makeCopy(Connection tx, String name, String copy, @Nullable Double rate, long beganAfter) {
        return makeCopy.on(tx)
                        .set("name", name)
                        .set("copy", copy)
                        .set("rate", text(rate))
                        .set("began_after", beganAfter)
                        .update()
                == 1;
    }

    void beginReplay(Connection tx, String name, @Nullable Double rate, long after, long upTo) {
        beginReplay
                .on(tx)
                .set("name", name)
                .set("rate", text(rate))
                .set("after", after)
                .set("up_to", upTo)
                .update();
    }

    void remove(Connection tx, String name) {
        remove.on(tx).set("name", name).update();
    }

    /** Relays hear of it when the transaction commits. */
    void wake(Connection tx) {
        wake.on(tx).set("channel", channel).one(row -> row.getString(1));
    }

    Instant clock(Connection tx) {
        return clock.on(tx).one(row -> row.getObject(1, OffsetDateTime.class).toInstant());
    }

    /** No archived day is dropped until the transaction ends; the last position that was dropped before. */
    long keepArchive(Connection tx) {
        return archiveDays.keep(tx);
    }

    /** When a position had been given out. */
    Instant stampedBy(Connection tx, long position) {
        return stampedBy
                .on(tx)
                .set("position", position)
                .one(row -> row.getObject(1, OffsetDateTime.class).toInstant());
    }

    private static @Nullable String text(@Nullable Double value) {
        return value == null ? null : Double.toString(value);
    }

    private static Locked locked(ResultSet row) throws SQLException {
        return new Locked(
                row.getString("name"),
                row.getInt("lanes"),
                row.getObject("lanes_wanted", Integer.class),
                row.getString("ordering").equals("key"),
                pause(row),
                row.getString("copy_of"),
                greatest(row.getArray("former_positions")),
                row.getString("receiver"),
                row.getString("read_model"),
                row.getString("served_by"),
                row.getString("moving_to"));
    }

    private static SubscriptionState state(ResultSet row) throws SQLException {
        return new SubscriptionState(
                row.getString("name"),
                row.getInt("lanes"),
                row.getObject("lanes_wanted", Integer.class),
                row.getInt("leased"),
                row.getString("ordering"),
                texts(row.getArray("aggregate_types")),
                texts(row.getArray("event_types")),
                texts(row.getArray("tenants")),
                row.getString("on_burial"),
                row.getString("retry"),
                time(row, "created_at"),
                row.getLong("position"),
                row.getLong("lag_messages"),
                seconds(row.getDouble("lag_seconds")),
                pause(row),
                timeOrNull(row, "unavailable_since"),
                row.getLong("held_keys"),
                row.getLong("dead_letters"),
                putAside(row),
                greatest(row.getArray("former_positions")),
                row.getString("copy_of"),
                row.getInt("replaying"),
                row.getObject("replay_rate", Double.class),
                row.getBoolean("done"),
                row.getString("served_by"));
    }

    private static PutAside putAside(ResultSet row) throws SQLException {
        return new PutAside(
                row.getLong("waiting"),
                row.getLong("sending"),
                row.getLong("parked"),
                row.getLong("unreadable"),
                seconds(row.getDouble("put_aside_seconds")));
    }

    private static LaneState lane(ResultSet row) throws SQLException {
        return new LaneState(
                row.getString("subscription"),
                row.getInt("lane"),
                row.getLong("position"),
                row.getLong("lag_messages"),
                seconds(row.getDouble("lag_seconds")),
                row.getObject("owner", UUID.class),
                row.getString("owner_name"),
                timeOrNull(row, "leased_until"),
                seconds(row.getDouble("lease_seconds")),
                row.getLong("fence"),
                row.getObject("replay_to", Long.class),
                row.getObject("resume_at", Long.class));
    }

    private static @Nullable Pause pause(ResultSet row) throws SQLException {
        OffsetDateTime at = row.getObject("paused_at", OffsetDateTime.class);
        return at == null ? null : new Pause(at.toInstant(), row.getString("paused_by"), row.getString("pause_reason"));
    }

    private static Instant time(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }

    private static @Nullable Instant timeOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }

    private static @Nullable Long greatest(@Nullable Array positions) throws SQLException {
        if (positions == null) {
            return null;
        }
        long greatest = 0;
        for (Long position : (Long[]) positions.getArray()) {
            greatest = Math.max(greatest, position);
        }
        return greatest;
    }

    private static @Nullable List<String> texts(@Nullable Array array) throws SQLException {
        return array == null ? null : List.of((String[]) array.getArray());
    }

    /** Whether others are served from where it delivers to. */
    boolean feedsKafka(Connection tx, String name) {
        return feedsKafka.on(tx).set("name", name).one(row -> row.getBoolean(1));
    }

    /** The position after which inboxes surely remember what they accepted. */
    long rememberedFrom(Connection tx, Duration kept) {
        return rememberedFrom.on(tx).set("kept", kept).one(row -> row.getLong(1));
    }
}
