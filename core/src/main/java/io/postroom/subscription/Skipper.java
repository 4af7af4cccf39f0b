package io.postroom.subscription;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lets the lanes of a subscription go on without what lies before a point. */
final class Skipper {
    private final Acts acts;
    private final LaneTable lanes;
    private final Drain drain;

    Skipper(Acts acts, LaneTable lanes, Drain drain) {
        this.acts = acts;
        this.lanes = lanes;
        this.drain = drain;
    }

    SkipPlan plan(String name, Point to) {
        String attempt = attempt(name);
        long position = acts.before(to, attempt);
        List<LaneMove> moves = acts.transact(tx -> moves(position, acts.lock(tx, name, attempt), lanes.lock(tx, name)));
        return new SkipPlan(name, position, LaneCounter.counted(acts, lanes, name, moves));
    }

    SkipPlan skip(String name, Point to, Act act, Duration patience) {
        String attempt = attempt(name);
        acts.check(act, attempt);
        long position = acts.before(to, attempt);
        boolean needless = acts.transact(tx -> moves(position, acts.lock(tx, name, attempt), lanes.lock(tx, name))
                .isEmpty());
        return needless
                ? new SkipPlan(name, position, List.of())
                : drain.whileFree(name, attempt, patience, tx -> skip(tx, name, position, act));
    }

    private Optional<SkipPlan> skip(Connection tx, String name, long to, Act act) {
        SubscriptionTable.Locked subscription = acts.lock(tx, name, attempt(name));
        List<LaneTable.Locked> locked = lanes.lock(tx, name);
        if (locked.stream().anyMatch(LaneTable.Locked::leased)) {
            return Optional.empty();
        }
        List<LaneMove> moves = moves(to, subscription, locked);
        if (!moves.isEmpty()) {
            lanes.move(tx, name, moves);
            acts.table().noteSkip(tx, name, to);
            acts.record(tx, act, "skip", name, Map.of("to", to, "lanes", LaneCounter.details(moves)));
        }
        return Optional.of(new SkipPlan(name, to, moves));
    }

    private static List<LaneMove> moves(long to, SubscriptionTable.Locked subscription, List<LaneTable.Locked> locked) {
        Acts.requireServedHere(subscription, attempt(subscription.name()));
        List<LaneMove> moves = new ArrayList<>();
        for (LaneTable.Locked lane : locked) {
            Long replayTo = lane.replayTo();
            if (to <= lane.position()) {
                continue;
            }
            if (replayTo != null && to < replayTo) {
                moves.add(LaneMove.skipReplayed(lane.lane(), lane.position(), to, replayTo, lane.resumesAt()));
            } else if (replayTo != null) {
                moves.add(LaneMove.endReplay(lane.lane(), lane.position(), replayTo, lane.resumesAt()));
            } else if (subscription.copyOf() == null) {
                moves.add(LaneMove.skip(lane.lane(), lane.position(), to));
            }
        }
        return moves;
    }

    private static String attempt(String name) {
        return "skip messages of subscription " + name;
    }
}
