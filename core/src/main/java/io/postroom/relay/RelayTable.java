package io.postroom.relay;

import io.postroom.journal.Filter;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Subscriptions, lanes and relays as a relay sees them: one method per statement, no decisions. */
final class RelayTable {
    private final Sql subscribe;
    private final Sql openLanes;
    private final Sql announce;
    private final Sql withdraw;
    private final Sql renew;
    private final Sql shares;
    private final Sql copies;
    private final Sql acquire;
    private final Sql settle;
    private final Sql release;
    private final Sql lag;
    private final Sql countRelays;
    private final Sql notifyOthers;
    private final Sql lockLane;
    private final Sql lanePlan;
    private final Sql recordLane;
    private final Sql enterLane;
    private final Sql checkConstraints;
    private final Sql advance;
    private final Sql endReplay;
    private final Sql markSettled;
    private final Sql showCircuit;
    private final Sql hideCircuit;

    RelayTable(Schema schema) {
        subscribe = schema.sql(RelayTable.class, "subscribe.sql");
        openLanes = schema.sql(RelayTable.class, "open_lanes.sql");
        announce = schema.sql(RelayTable.class, "announce.sql");
        withdraw = schema.sql(RelayTable.class, "withdraw.sql");
        renew = schema.sql(RelayTable.class, "renew.sql");
        shares = schema.sql(RelayTable.class, "shares.sql");
        copies = schema.sql(RelayTable.class, "copies.sql");
        acquire = schema.sql(RelayTable.class, "acquire.sql");
        settle = schema.sql(RelayTable.class, "settle.sql");
        release = schema.sql(RelayTable.class, "release.sql");
        lag = schema.sql(RelayTable.class, "lag.sql");
        countRelays = schema.sql(RelayTable.class, "count_relays.sql");
        notifyOthers = schema.sql(RelayTable.class, "notify.sql");
        lockLane = schema.sql(RelayTable.class, "lock_lane.sql");
        lanePlan = schema.sql(RelayTable.class, "lane_plan.sql");
        recordLane = schema.sql(RelayTable.class, "record_lane.sql");
        enterLane = schema.sql(RelayTable.class, "enter_lane.sql");
        checkConstraints = schema.sql(RelayTable.class, "check_constraints.sql");
        advance = schema.sql(RelayTable.class, "advance.sql");
        endReplay = schema.sql(RelayTable.class, "end_replay.sql");
        markSettled = schema.sql(RelayTable.class, "mark_settled.sql");
        showCircuit = schema.sql(RelayTable.class, "show_circuit.sql");
        hideCircuit = schema.sql(RelayTable.class, "hide_circuit.sql");
    }

    /** What is stored of a subscription that may have been there before. */
    record Stored(int lanes, String ordering) {}

    /** The right to one lane. */
    record Held(String subscription, int lane, long fence) {}

    /** A lane's lease just renewed, with what the database knows of the lane. */
    record Renewed(Held held, long position, String timeline) {}

    /**
     * A position to be written, if the lane is still where this relay left it: at the last one known to be written, or at one of
     * those whose writing was never answered since; and if the server is still the one on whose timeline the lane was taken.
     */
    record Settlement(long position, Set<Long> from, String timeline) {}

    /** A lane just taken. */
    record Taken(int lane, long position, long fence, boolean unclean, boolean takeover, String timeline) {}

    /** A lane that is locked for the rest of a transaction. */
    record Locked(long position, long recorded) {}

    /** A lane for whose messages a transaction was begun. */
    record Entered(long recorded, Instant began) {}

    /** What a relay must know of a lane it has taken. */
    record Plan(
            int lanes,
            List<Long> formerPositions,
            long recorded,
            @Nullable Long replayTo,
            @Nullable Long resumeAt,
            @Nullable Double replayRate) {}

    /** A copy of a subscription, and the last position it is delivered. */
    record Copy(String name, String original, Filter filter, long last) {}

    /**
     * How a subscription's lanes are to be shared.
     *
     * @param awaited whether somebody waits until all of them are given back
     * @param due whether the number of its lanes can be changed now
     * @param former whether that was done not long ago
     */
    record Share(String subscription, int lanes, int relays, int rank, boolean awaited, boolean due, boolean former) {
        /** How many lanes this relay should have. What is left over goes to others for each subscription, not always to the first. */
        int fair() {
            int live = Math.max(1, relays);
            int turn = Math.floorMod(rank + subscription.hashCode(), live);
            return lanes / live + (turn < lanes % live ? 1 : 0);
        }
    }

    Stored subscribe(Connection tx, Subscription subscription, Relay.Receiver receiver, long beganAfter) {
        Filter filter = subscription.filter();
        return subscribe
                .on(tx)
                .set("name", subscription.name())
                .set("lanes", subscription.lanes())
                .set("ordering", subscription.order().word())
                .set("aggregate_types", filter.aggregateTypesOrNull())
                .set("event_types", filter.eventTypesOrNull())
                .set("tenants", filter.tenantsOrNull())
                .set("on_burial", subscription.onBurial().word())
                .set("retry", subscription.retry().describe())
                .set("receiver", receiver.word())
                .set("consumer", receiver.consumer())
                .set("began_after", beganAfter)
                .one(row -> new Stored(row.getInt(1), row.getString(2)));
    }

    int openLanes(Connection tx, String subscription, int lanes, long position) {
        return openLanes
                .on(tx)
                .set("subscription", subscription)
                .set("lanes", lanes)
                .set("position", position)
                .update();
    }

    int markSettled(Connection tx, Held held, long position, String node) {
        return markSettled
                .on(tx)
                .set("subscription", held.subscription())
                .set("lane", held.lane())
                .set("position", position)
                .set("node", node)
                .update();
    }

    void announce(Connection tx, UUID id, String name, Collection<String> subscriptions, Duration lease) {
        announce.on(tx)
                .set("id", id)
                .set("name", name)
                .set("subscriptions", subscriptions.toArray(String[]::new))
                .set("lease", lease)
                .update();
    }

    void withdraw(Connection tx, UUID id) {
        withdraw.on(tx).set("id", id).update();
    }

    List<Renewed> renew(Connection tx, UUID relayId, List<Held> held, Duration lease) {
        return renew.on(tx)
                .set("relay_id", relayId)
                .set("subscriptions", held.stream().map(Held::subscription).toArray(String[]::new))
                .set("lanes", held.stream().map(Held::lane).toArray(Integer[]::new))
                .set("fences", held.stream().mapToLong(Held::fence).toArray())
                .set("lease", lease)
                .list(row -> new Renewed(
                        new Held(row.getString(1), row.getInt(2), row.getLong(3)), row.getLong(4), row.getString(5)));
    }

    List<Share> shares(Connection tx, UUID relayId, Collection<String> subscriptions) {
        return shares.on(tx)
                .set("relay_id", relayId)
                .set("subscriptions", subscriptions.toArray(String[]::new))
                .list(row -> new Share(
                        row.getString(1),
                        row.getInt(2),
                        row.getInt(3),
                        row.getInt(4),
                        row.getBoolean(5),
                        row.getBoolean(6),
                        row.getBoolean(7)));
    }

    List<Copy> copies(Connection tx, Collection<String> subscriptions) {
        return copies.on(tx)
                .set("subscriptions", subscriptions.toArray(String[]::new))
                .list(row -> new Copy(
                        row.getString(1),
                        row.getString(2),
                        new Filter(texts(row.getArray(3)), texts(row.getArray(4)), texts(row.getArray(5))),
                        row.getLong(6)));
    }

    private static Set<String> texts(@Nullable Array values) throws SQLException {
        return values == null ? Set.of() : Set.of((String[]) values.getArray());
    }

    List<Taken> acquire(
            Connection tx, String subscription, UUID relayId, Collection<Integer> held, int limit, Duration lease) {
        return acquire.on(tx)
                .set("subscription", subscription)
                .set("relay_id", relayId)
                .set("held", held.toArray(Integer[]::new))
                .set("limit", limit)
                .set("lease", lease)
                .list(row -> new Taken(
                        row.getInt(1),
                        row.getLong(2),
                        row.getLong(3),
                        row.getBoolean(4),
                        row.getBoolean(5),
                        row.getString(6)));
    }

    boolean settle(Connection tx, UUID relayId, Held lane, Settlement settlement) {
        return settle.on(tx)
                        .set("subscription", lane.subscription())
                        .set("lane", lane.lane())
                        .set("relay_id", relayId)
                        .set("fence", lane.fence())
                        .set("position", settlement.position())
                        .set("from", settlement.from().toArray(Long[]::new))
                        .set("timeline", settlement.timeline())
                        .update()
                == 1;
    }

    Optional<Locked> lock(Connection tx, UUID relayId, Held lane, String timeline, Duration patience) {
        return lockLane.on(tx)
                .set("subscription", lane.subscription())
                .set("lane", lane.lane())
                .set("relay_id", relayId)
                .set("fence", lane.fence())
                .set("timeline", timeline)
                .set("patience", Long.toString(patience.toMillis()))
                .first(row -> new Locked(row.getLong(1), row.getLong(2)));
    }

    /** {@code idle}: how long the transaction may do nothing. */
    Optional<Entered> enter(Connection tx, UUID relayId, Held lane, String timeline, Duration deadline, Duration idle) {
        return enterLane
                .on(tx)
                .set("subscription", lane.subscription())
                .set("lane", lane.lane())
                .set("relay_id", relayId)
                .set("fence", lane.fence())
                .set("timeline", timeline)
                .set("deadline", deadline)
                .set("idle", Long.toString(idle.toMillis()))
                .first(row -> new Entered(
                        row.getLong(1), row.getObject(2, OffsetDateTime.class).toInstant()));
    }

    void checkConstraints(Connection tx) {
        checkConstraints.on(tx).update();
    }

    boolean advance(Connection tx, UUID relayId, Held lane, Settlement settlement, Entered entered, Duration patience) {
        return advance.on(tx)
                .set("subscription", lane.subscription())
                .set("lane", lane.lane())
                .set("relay_id", relayId)
                .set("fence", lane.fence())
                .set("position", settlement.position())
                .set("from", settlement.from().toArray(Long[]::new))
                .set("timeline", settlement.timeline())
                .set("recorded", entered.recorded() + 1)
                .set("began", entered.began())
                .set("patience", Long.toString(patience.toMillis()))
                .first(row -> true)
                .isPresent();
    }

    Optional<Plan> plan(Connection tx, Held lane) {
        return lanePlan.on(tx)
                .set("subscription", lane.subscription())
                .set("lane", lane.lane())
                .first(row -> {
                    Array former = row.getArray(2);
                    return new Plan(
                            row.getInt(1),
                            former == null ? List.of() : List.of((Long[]) former.getArray()),
                            row.getLong(3),
                            row.getObject(4, Long.class),
                            row.getObject(5, Long.class),
                            row.getObject(6, Double.class));
                });
    }

    void record(Connection tx, Held lane, long position, long recorded) {
        recordLane
                .on(tx)
                .set("subscription", lane.subscription())
                .set("lane", lane.lane())
                .set("position", position)
                .set("recorded", recorded)
                .update();
    }

    boolean endReplay(Connection tx, Held lane) {
        return endReplay
                        .on(tx)
                        .set("subscription", lane.subscription())
                        .set("lane", lane.lane())
                        .update()
                == 1;
    }

    void showCircuit(Connection tx, String subscription, UUID relayId, Circuit.View circuit) {
        showCircuit
                .on(tx)
                .set("subscription", subscription)
                .set("relay_id", relayId)
                .set("wait", circuit.probeIn())
                .set("failures", circuit.failures())
                .set("error_class", circuit.fault().errorClass())
                .set("error", circuit.fault().message())
                .update();
    }

    void hideCircuit(Connection tx, String subscription, UUID relayId) {
        hideCircuit
                .on(tx)
                .set("subscription", subscription)
                .set("relay_id", relayId)
                .update();
    }

    boolean release(Connection tx, UUID relayId, Held lane) {
        return release.on(tx)
                        .set("subscription", lane.subscription())
                        .set("lane", lane.lane())
                        .set("relay_id", relayId)
                        .set("fence", lane.fence())
                        .update()
                == 1;
    }

    int countRelays(Connection tx) {
        return countRelays.on(tx).one(row -> row.getInt(1));
    }

    void notifyOthers(Connection tx, String channel, String what) {
        notifyOthers.on(tx).set("channel", channel).set("what", what).first(row -> true);
    }

    List<Lag> lag(Connection tx, Collection<String> subscriptions) {
        return lag.on(tx)
                .set("subscriptions", subscriptions.toArray(String[]::new))
                .set("count_max", RelaySettings.UNSTAMPED_MAX)
                .list(row ->
                        new Lag(row.getString(1), row.getLong(2), Duration.ofMillis((long) (row.getDouble(3) * 1000))));
    }
}
