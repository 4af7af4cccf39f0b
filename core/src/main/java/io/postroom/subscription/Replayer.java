package io.postroom.subscription;

import io.postroom.inbox.Retention;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Lets a subscription, or a copy of it, deliver messages once more. Refuses to begin among messages that are gone. */
final class Replayer {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");

    private final Acts acts;
    private final LaneTable lanes;
    private final Drain drain;

    Replayer(Acts acts, LaneTable lanes, Drain drain) {
        this.acts = acts;
        this.lanes = lanes;
        this.drain = drain;
    }

    /** A stretch of the journal. */
    private record Span(long after, long upTo) {}

    ReplayPlan plan(ReplayRequest request) {
        String name = request.name();
        Span span = span(request, Long.MAX_VALUE, attempt(name));
        return counted(
                name, acts.transact(tx -> plan(tx, acts.lock(tx, name, attempt(name)), span, lanes.lock(tx, name))));
    }

    ReplayPlan replay(ReplayRequest request, Act act, Duration patience) {
        String name = request.name();
        String attempt = attempt(name);
        acts.check(act, attempt);
        Span span = span(request, Long.MAX_VALUE, attempt);
        // Refused before relays are asked for their lanes.
        acts.transact(tx -> plan(tx, acts.lock(tx, name, attempt), span, lanes.lock(tx, name)));
        return drain.whileFree(name, attempt, patience, tx -> replay(tx, request, span, act));
    }

    private Optional<ReplayPlan> replay(Connection tx, ReplayRequest request, Span span, Act act) {
        String name = request.name();
        SubscriptionTable.Locked subscription = acts.lock(tx, name, attempt(name));
        List<LaneTable.Locked> locked = lanes.lock(tx, name);
        if (locked.stream().anyMatch(LaneTable.Locked::leased)) {
            return Optional.empty();
        }
        ReplayPlan plan = plan(tx, subscription, span, locked);
        // Once more: a day may have been dropped since, and none is from here on.
        acts.keep(tx, request.from(), span.after(), attempt(name));
        lanes.move(tx, name, plan.moves());
        acts.table().beginReplay(tx, name, request.rate(), plan.after(), plan.upTo());
        acts.record(tx, act, "replay", name, details(plan, request.rate(), LaneCounter.details(plan.moves())));
        return Optional.of(plan);
    }

    private ReplayPlan plan(
            Connection tx, SubscriptionTable.Locked subscription, Span span, List<LaneTable.Locked> locked) {
        String name = subscription.name();
        String attempt = attempt(name);
        Acts.requireServedHere(subscription, attempt);
        requireReplayable(tx, subscription, span, attempt);
        if (subscription.copyOf() != null) {
            throw Acts.refused(
                    "is-copy",
                    attempt,
                    "it is a copy of " + subscription.copyOf() + "; make another copy of that one, or remove this one");
        }
        LaneChanges.requireQuiet(subscription, lanes, tx, attempt);
        locked.stream().filter(LaneTable.Locked::isReplaying).findFirst().ifPresent(lane -> {
            throw Acts.refused(
                    "replaying",
                    attempt,
                    "it replays already, lane " + lane.lane() + " is at position " + lane.position() + " and ends at "
                            + lane.replayTo() + "; wait, or skip the rest");
        });
        List<LaneMove> moves = new ArrayList<>();
        List<Integer> leftAlone = new ArrayList<>();
        for (LaneTable.Locked lane : locked) {
            if (lane.position() > span.after()) {
                moves.add(LaneMove.replay(
                        lane.lane(), lane.position(), span.after(), Math.min(span.upTo(), lane.position())));
            } else {
                leftAlone.add(lane.lane());
            }
        }
        if (moves.isEmpty()) {
            throw Acts.refused(
                    "nothing-to-replay",
                    attempt,
                    "no lane has come beyond position " + span.after() + "; they deliver what is there anyway");
        }
        long upTo = moves.stream().mapToLong(LaneMove::upTo).max().orElse(span.upTo());
        return new ReplayPlan(name, span.after(), upTo, moves, leftAlone);
    }

    ReplayPlan planCopy(ReplayRequest request, String copy) {
        String attempt = attemptToCopy(request.name(), copy);
        requireName(copy, attempt);
        Span span = span(request, acts.upTo(Point.now(), attempt), attempt);
        return counted(request.name(), acts.transact(tx -> {
            SubscriptionTable.Locked subscription = acts.lock(tx, request.name(), attempt);
            requireNew(tx, copy, attempt);
            return planCopy(tx, subscription, copy, span, attempt);
        }));
    }

    ReplayPlan copy(ReplayRequest request, String copy, Act act) {
        String attempt = attemptToCopy(request.name(), copy);
        requireName(copy, attempt);
        acts.check(act, attempt);
        Span span = span(request, acts.upTo(Point.now(), attempt), attempt);
        return acts.transact(tx -> {
            SubscriptionTable.Locked subscription = acts.lock(tx, request.name(), attempt);
            ReplayPlan plan = planCopy(tx, subscription, copy, span, attempt);
            acts.keep(tx, request.from(), span.after(), attempt);
            if (!acts.table().makeCopy(tx, request.name(), copy, request.rate(), span.after())) {
                throw taken(copy, attempt);
            }
            lanes.open(tx, copy, subscription.lanes(), span.after(), span.upTo());
            acts.record(tx, act, "replay", request.name(), details(plan, request.rate(), copy));
            acts.table().wake(tx);
            return plan;
        });
    }

    private ReplayPlan planCopy(
            Connection tx, SubscriptionTable.Locked subscription, String copy, Span span, String attempt) {
        requireReplayable(tx, subscription, span, attempt);
        if (subscription.copyOf() != null) {
            throw Acts.refused(
                    "is-copy",
                    attempt,
                    subscription.name() + " is a copy of " + subscription.copyOf() + "; make a copy of that one");
        }
        List<LaneMove> moves = IntStream.range(0, subscription.lanes())
                .mapToObj(lane -> LaneMove.replay(lane, span.upTo(), span.after(), span.upTo()))
                .toList();
        return new ReplayPlan(copy, span.after(), span.upTo(), moves, List.of());
    }

    /** A projection would apply again what it has applied: nothing tells it that a message comes for the second time. */
    private void requireReplayable(Connection tx, SubscriptionTable.Locked subscription, Span span, String attempt) {
        if (subscription.receiver().equals("projection")) {
            throw Acts.refused(
                    "is-projection",
                    attempt,
                    "a projection applies its messages, and would apply them twice; "
                            + (subscription.readModel() == null
                                    ? "put it behind an inbox, or make it a read model, which can be rebuilt"
                                    : "rebuild its read model instead: postroom projection rebuild "
                                            + subscription.readModel()));
        }
        boolean feeds = acts.table().feedsKafka(tx, subscription.name());
        if (feeds || subscription.receiver().equals("inbox")) {
            long remembered = acts.table().rememberedFrom(tx, Retention.USUAL.kept());
            if (span.after() < remembered) {
                throw Acts.refused(
                        "inbox-forgets",
                        attempt,
                        "it begins after position " + span.after() + ", and what came up to position " + remembered
                                + (feeds ? " the inboxes that it feeds through Kafka" : " its inbox")
                                + " may have forgotten: that would take effect twice; begin after that, or declare"
                                + " a longer retention for the inbox in good time");
            }
        }
    }

    private ReplayPlan counted(String name, ReplayPlan plan) {
        List<LaneMove> moves = LaneCounter.counted(acts, lanes, name, plan.moves());
        return new ReplayPlan(plan.name(), plan.after(), plan.upTo(), moves, plan.leftAlone());
    }

    private Span span(ReplayRequest request, long end, String attempt) {
        long after = acts.before(request.from(), attempt);
        Point to = request.to();
        long upTo = to == null ? end : acts.upTo(to, attempt);
        if (upTo <= after) {
            throw Acts.refused(
                    "replay-empty",
                    attempt,
                    "from " + request.from() + " to " + (to == null ? "now" : to)
                            + " there is nothing: it begins after position " + after + " and ends at " + upTo
                            + "; name an earlier beginning or a later end");
        }
        acts.requireKept(request.from(), after, attempt);
        return new Span(after, upTo);
    }

    private void requireNew(Connection tx, String copy, String attempt) {
        if (acts.table().find(tx, copy).isPresent()) {
            throw taken(copy, attempt);
        }
    }

    private static RuntimeException taken(String copy, String attempt) {
        return Acts.refused(
                "name-taken",
                attempt,
                "there is a subscription " + copy + " already; choose another name, or remove it");
    }

    private static void requireName(String copy, String attempt) {
        if (!NAME.matcher(copy).matches()) {
            throw Acts.refused(
                    "invalid",
                    attempt,
                    "name is '" + copy
                            + "', it must be 1 to 100 lower-case letters, digits or _ . -, beginning with a letter");
        }
    }

    private static Map<String, Object> details(ReplayPlan plan, @Nullable Double rate, Object more) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("after", plan.after());
        details.put("upTo", plan.upTo());
        if (rate != null) {
            details.put("rate", rate);
        }
        details.put(more instanceof String ? "copy" : "lanes", more);
        return details;
    }

    private static String attempt(String name) {
        return "replay subscription " + name;
    }

    private static String attemptToCopy(String name, String copy) {
        return "replay subscription " + name + " as " + copy;
    }
}
