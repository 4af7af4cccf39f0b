package io.postroom.subscription;

import io.postroom.postgres.Database;
import java.sql.Connection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/**
 * Makes the changes of the number of lanes that operators have asked for. Any number of relays and operators may try at once; one of
 * them does it, in one transaction, when no relay has a lane.
 *
 * <p>Safe for use by many threads.
 */
public final class LaneChange {
    private final Database database;
    private final SubscriptionTable subscriptions;
    private final LaneTable lanes;

    public LaneChange(Database database) {
        this.database = database;
        this.subscriptions = new SubscriptionTable(database.schema());
        this.lanes = new LaneTable(database.schema());
    }

    /** Makes the change that was asked for, if there is one and no relay has a lane; returns whether it did. */
    public boolean make(String name) {
        return database.transact(tx -> {
            SubscriptionTable.Locked subscription = subscriptions.lock(tx, name).orElse(null);
            if (subscription == null || subscription.lanesWanted() == null) {
                return false;
            }
            List<LaneTable.Locked> old = lanes.lock(tx, name);
            if (old.stream().anyMatch(LaneTable.Locked::leased)) {
                return false;
            }
            change(tx, subscription, old);
            subscriptions.wake(tx);
            return true;
        });
    }

    /** Forgets where lanes were before their number changed, once all of them are beyond. */
    public boolean forgetFormer(Connection tx, String name) {
        return lanes.forgetFormer(tx, name);
    }

    private void change(Connection tx, SubscriptionTable.Locked subscription, List<LaneTable.Locked> old) {
        String name = subscription.name();
        int count = Objects.requireNonNull(subscription.lanesWanted());
        long[] positions = old.stream().mapToLong(LaneTable.Locked::position).toArray();
        long slowest = old.stream().mapToLong(LaneTable.Locked::position).min().orElse(0);
        long fastest = old.stream().mapToLong(LaneTable.Locked::position).max().orElse(0);
        // Greater than all of them: a number that is used again, for another lane, must not let an old owner in.
        long fence = old.stream().mapToLong(LaneTable.Locked::fence).max().orElse(0) + 1;
        UUID dead = old.stream()
                .map(LaneTable.Locked::owner)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        lanes.changeCount(tx, name, count, slowest == fastest ? new long[0] : positions);
        lanes.close(tx, name, count);
        lanes.level(tx, name, count, slowest, fence, dead);
        lanes.moveDeliveries(tx, name, count);
    }
}
