package io.postroom.delivery;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.OrderConflicts;
import io.postroom.deadletter.Redriver;
import io.postroom.inbox.Retention;
import io.postroom.journal.ArchiveDays;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Puts the dead letters of subscriptions back: each becomes a delivery that is due at once and whose message is read from the dead
 * letter. Messages of one key are put back in their order, and those that are put back together are sent in it.
 *
 * <p>Safe for use by many threads.
 */
public final class DeliveryRedriver implements Redriver {
    /** Of so many keys: they must fit into memory. */
    static final int KEYS_MAX = 1_000_000;

    /** So many messages of these keys are looked at; where there are more, nobody wants to know how many exactly. */
    static final int MESSAGES_MAX = 300_000;

    /** So many are compared by name; the others are told by the hash of their key alone. */
    static final int COMPARED_MAX = 20_000;

    private static final int SAMPLES_MAX = 10;
    /** The number of lanes changes rarely; twice within one step, never. */
    private static final int TRIES_MAX = 5;

    private final String channel;
    private final Sql keepSubscriptions;
    private final Sql lockLanes;
    private final Sql refusals;
    private final Sql earlier;
    private final Sql putBack;
    private final Sql releaseHeld;
    private final Promotion promotion;
    private final Sql underway;
    private final Sql preferHashes;
    private final Sql conflicts;
    private final Sql conflictsAfter;
    private final ArchiveDays archiveDays;
    private final Sql wake;

    public DeliveryRedriver(Schema schema) {
        // The one on which relays talk to each other.
        channel = schema.name() + "_journal";
        keepSubscriptions = schema.sql(DeliveryRedriver.class, "keep_subscriptions.sql");
        lockLanes = schema.sql(DeliveryRedriver.class, "lock_lanes.sql");
        refusals = schema.sql(DeliveryRedriver.class, "refusals.sql");
        earlier = DeadLetterFilter.statement(schema, DeliveryRedriver.class, "earlier.sql");
        putBack = schema.sql(DeliveryRedriver.class, "put_back.sql");
        releaseHeld = schema.sql(DeliveryRedriver.class, "release_held.sql");
        promotion = new Promotion(schema);
        underway = schema.sql(DeliveryRedriver.class, "underway.sql");
        preferHashes = schema.sql(DeliveryRedriver.class, "prefer_hashes.sql");
        conflicts = DeadLetterFilter.statement(schema, DeliveryRedriver.class, "conflicts.sql");
        conflictsAfter = schema.sql(DeliveryRedriver.class, "conflicts_after.sql");
        archiveDays = new ArchiveDays(schema);
        wake = schema.sql(DeliveryRedriver.class, "wake.sql");
    }

    @Override
    public String source() {
        return "subscription";
    }

    @Override
    public void lock(Connection tx, long[] ids) {
        Map<String, Integer> lanes = lanes(tx, ids);
        for (int tries = 0; tries < TRIES_MAX; tries++) {
            lockLanes.on(tx).set("ids", ids).list(row -> row.getString(1));
            Map<String, Integer> now = lanes(tx, ids);
            if (now.equals(lanes)) {
                return;
            }
            // The number of lanes was changed while we waited: what we have locked are not the lanes we need.
            lanes = now;
        }
        throw new IllegalStateException("the number of lanes changed " + TRIES_MAX + " times in a moment");
    }

    /** How many lanes the subscriptions have; none of them can go until the transaction ends. */
    private Map<String, Integer> lanes(Connection tx, long[] ids) {
        Map<String, Integer> lanes = new HashMap<>();
        keepSubscriptions.on(tx).set("ids", ids).list(row -> lanes.put(row.getString(1), row.getInt(2)));
        return lanes;
    }

    @Override
    public Map<Long, String> refusals(Connection tx, long[] ids) {
        Map<Long, String> reasons = new HashMap<>();
        refusals.on(tx)
                .set("ids", ids)
                .set("kept", Retention.USUAL.kept())
                .list(row -> reasons.put(row.getLong(1), row.getString(2)));
        return reasons;
    }

    @Override
    public List<Long> earlier(Connection tx, DeadLetterFilter filter, long[] found, Stretch stretch) {
        return filter.on(earlier.on(tx))
                .set("found", found)
                .set("after", stretch.after())
                .set("last", stretch.last())
                .set("up_to", stretch.upTo())
                .set("past", stretch.past())
                .set("limit", stretch.limit())
                .list(row -> row.getLong(1));
    }

    @Override
    public void redrive(Connection tx, long[] ids) {
        int changed = putBack.on(tx).set("ids", ids).update();
        if (changed != ids.length) {
            // Never half of it: the step is undone, and the next one looks again.
            throw new IllegalStateException(
                    changed + " of " + ids.length + " dead letters became deliveries, though their lanes are locked");
        }
    }

    @Override
    public void discard(Connection tx, long[] ids) {
        Map<String, Set<Integer>> freed = new TreeMap<>();
        releaseHeld
                .on(tx)
                .set("ids", ids)
                .list(row -> freed.computeIfAbsent(row.getString(1), name -> new HashSet<>())
                        .add(row.getInt(2)));
        freed.forEach((subscription, keyHashes) -> promotion.promote(tx, subscription, keyHashes));
    }

    @Override
    public long underway(Connection tx, UUID redrive) {
        return underway.on(tx).set("redrive", redrive).one(row -> row.getLong(1));
    }

    @Override
    public OrderConflicts conflicts(Connection tx, DeadLetterFilter filter, long entriesMax) {
        long after = conflictsAfter
                .on(tx)
                .set("owner", filter.owner())
                .set("entries_max", entriesMax)
                .one(row -> row.getLong(1));
        ArchiveDays.Span archived = archiveDays.of(tx, after, Long.MAX_VALUE).orElse(null);
        preferHashes.on(tx).one(row -> row.getString(1));
        return filter.on(conflicts.on(tx))
                .set("entries_max", entriesMax)
                .set("keys_max", KEYS_MAX)
                .set("messages_max", MESSAGES_MAX)
                .set("compared_max", COMPARED_MAX)
                .set("samples_max", SAMPLES_MAX)
                .set("first_archived", archived == null ? null : archived.first())
                .set("last_archived", archived == null ? null : archived.last())
                .one(row -> new OrderConflicts(row.getLong(1), row.getBoolean(2), texts(row.getArray(3))));
    }

    private static List<String> texts(Array array) throws SQLException {
        return List.of((String[]) array.getArray());
    }

    @Override
    public void wake(Connection tx) {
        wake.on(tx).set("channel", channel).one(row -> row.getString(1));
    }
}
