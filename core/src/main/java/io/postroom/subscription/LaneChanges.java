package io.postroom.subscription;

import io.postroom.postgres.Database;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Asks for another number of lanes. {@link LaneChange} makes it. */
final class LaneChanges {
    static final int LANES_MAX = 256;

    private final Acts acts;
    private final LaneTable lanes;
    private final LaneChange change;

    LaneChanges(Acts acts, LaneTable lanes) {
        this.acts = acts;
        this.lanes = lanes;
        Database database = acts.database();
        this.change = new LaneChange(database);
    }

    LaneCount change(String name, int count, Act act) {
        String attempt = "change the lanes of subscription " + name;
        acts.check(act, attempt);
        if (count < 1 || count > LANES_MAX) {
            throw Acts.refused("lanes-invalid", attempt, count + " were asked for, the range is 1 to " + LANES_MAX);
        }
        int former = acts.transact(tx -> ask(tx, name, count, act, attempt));
        change.make(name);
        return count(name, former, attempt);
    }

    LaneCount finish(String name) {
        change.make(name);
        return count(name, 0, "change the lanes of subscription " + name);
    }

    private int ask(Connection tx, String name, int count, Act act, String attempt) {
        SubscriptionTable.Locked subscription = acts.lock(tx, name, attempt);
        Integer wanted = subscription.lanesWanted();
        @Nullable Integer wish = count == subscription.lanes() ? null : count;
        if (wish == null ? wanted == null : wish.equals(wanted)) {
            return subscription.lanes();
        }
        if (wish != null) {
            requireChangeable(tx, subscription, attempt);
        }
        acts.table().wantLanes(tx, name, wish);
        acts.record(tx, act, "lanes", name, Map.of("from", subscription.lanes(), "to", count));
        acts.table().wake(tx);
        return subscription.lanes();
    }

    private void requireChangeable(Connection tx, SubscriptionTable.Locked subscription, String attempt) {
        Acts.requireServedHere(subscription, attempt);
        if (subscription.copyOf() != null) {
            throw Acts.refused(
                    "is-copy", attempt, "it is a copy of " + subscription.copyOf() + ", which ends by itself");
        }
        requireCaughtUp(subscription, lanes, tx, attempt);
        List<LaneTable.Locked> locked = lanes.lock(tx, subscription.name());
        locked.stream().filter(LaneTable.Locked::isReplaying).findFirst().ifPresent(lane -> {
            throw Acts.refused(
                    "replaying",
                    attempt,
                    "it replays, lane " + lane.lane() + " is at position " + lane.position() + " and ends at "
                            + lane.replayTo() + "; wait, or skip the rest");
        });
    }

    /** Refuses to move lanes while their number changes. */
    static void requireQuiet(SubscriptionTable.Locked subscription, LaneTable lanes, Connection tx, String attempt) {
        if (subscription.lanesWanted() != null) {
            throw Acts.refused(
                    "lanes-changing",
                    attempt,
                    "its lanes are about to change from " + subscription.lanes() + " to " + subscription.lanesWanted()
                            + "; wait until that is done");
        }
        requireCaughtUp(subscription, lanes, tx, attempt);
    }

    /** Where the former lanes were is known for one change only. */
    private static void requireCaughtUp(
            SubscriptionTable.Locked subscription, LaneTable lanes, Connection tx, String attempt) {
        if (subscription.catchUpTo() != null && !lanes.forgetFormer(tx, subscription.name())) {
            throw Acts.refused(
                    "lanes-changing",
                    attempt,
                    "the number of its lanes has changed, and not all of them have come to position "
                            + subscription.catchUpTo() + ", where the fastest was before; wait until they have");
        }
    }

    private LaneCount count(String name, int former, String attempt) {
        return acts.database().run(tx -> {
            SubscriptionState state = acts.table().find(tx, name).orElseThrow(() -> acts.unknown(tx, name, attempt));
            return new LaneCount(name, former, state.lanes(), state.lanesWanted(), state.lanesLeased());
        });
    }
}
