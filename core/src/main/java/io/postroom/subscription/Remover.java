package io.postroom.subscription;

import io.postroom.retry.Fault;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Removes subscriptions that nobody serves any more. */
final class Remover {
    private static final int SHOWN_MAX = 5;

    private final Acts acts;
    private final LaneTable lanes;
    private final DeliveryTable deliveries;

    Remover(Acts acts, LaneTable lanes, DeliveryTable deliveries) {
        this.acts = acts;
        this.lanes = lanes;
        this.deliveries = deliveries;
    }

    RemovalPlan plan(String name) {
        return acts.database().run(tx -> plan(tx, name));
    }

    RemovalPlan remove(String name, boolean withDeliveries, Act act) {
        String attempt = attempt(name);
        acts.check(act, attempt);
        return acts.transact(tx -> {
            SubscriptionTable.Locked subscription =
                    acts.table().lockToRemove(tx, name).orElseThrow(() -> acts.unknown(tx, name, attempt));
            lanes.lock(tx, name);
            RemovalPlan plan = plan(tx, name);
            requireNoGeneration(subscription, attempt);
            Acts.requireServedHere(subscription, attempt);
            requireUnserved(tx, subscription, attempt);
            requireNoCopies(tx, name, attempt);
            if (!withDeliveries) {
                requireEmpty(plan, attempt);
            }
            discard(tx, name, act);
            acts.record(
                    tx,
                    act,
                    "remove",
                    name,
                    Map.of(
                            "lanes", plan.lanes(),
                            "undelivered", plan.undelivered(),
                            "deliveries", plan.deliveriesTotal(),
                            "deadLetters", plan.deadLetters()));
            acts.table().wake(tx);
            return plan;
        });
    }

    /** Takes a subscription away with all that waits in it. For one that is locked, with its lanes, and that nobody serves. */
    void discard(Connection tx, String name, Act act) {
        Fault fault = Fault.of("skipped", "subscription removed by " + act.actor() + ": " + act.reason());
        deliveries.discard(tx, name, new long[0], act.actor(), fault);
        deliveries.resolveOpen(tx, name, act.actor());
        acts.table().remove(tx, name);
    }

    private static void requireNoGeneration(SubscriptionTable.Locked subscription, String attempt) {
        if (subscription.readModel() != null) {
            throw Acts.refused(
                    "is-generation",
                    attempt,
                    "it keeps a generation of read model " + subscription.readModel()
                            + "; retire that: postroom projection retire " + subscription.readModel());
        }
    }

    private RemovalPlan plan(Connection tx, String name) {
        SubscriptionState state = acts.table().find(tx, name).orElseThrow(() -> acts.unknown(tx, name, attempt(name)));
        return new RemovalPlan(
                name,
                state.lanes(),
                state.lagMessages(),
                acts.table().countDeliveries(tx, name, Integer.MAX_VALUE),
                acts.table().countDeadLetters(tx, name));
    }

    private void requireUnserved(Connection tx, SubscriptionTable.Locked subscription, String attempt) {
        String name = subscription.name();
        List<LaneTable.Leased> leased = lanes.leased(tx, name);
        if (!leased.isEmpty()) {
            throw Acts.refused(
                    "served",
                    attempt,
                    leased.stream()
                                    .limit(SHOWN_MAX)
                                    .map(lane -> "lane " + lane.lane() + " is with relay " + lane.relay())
                                    .collect(Collectors.joining(", "))
                            + "; pause it first and wait until its lanes are free, or stop the relay");
        }
        boolean isDone =
                acts.table().find(tx, name).map(SubscriptionState::isDone).orElse(false);
        List<SubscriptionTable.LiveRelay> relays = acts.table().relays(tx, name);
        if (!relays.isEmpty() && subscription.pause() == null && !isDone) {
            throw Acts.refused(
                    "served",
                    attempt,
                    "relay " + relays.get(0).name() + " serves it; pause it first, or stop the relay");
        }
    }

    private void requireNoCopies(Connection tx, String name, String attempt) {
        List<String> copies = acts.table().copies(tx, name);
        if (!copies.isEmpty()) {
            throw Acts.refused(
                    "has-copies",
                    attempt,
                    copies.size() == 1
                            ? "it has a copy, " + copies.get(0) + "; remove that first"
                            : "it has " + copies.size() + " copies, such as " + copies.get(0) + "; remove them first");
        }
    }

    private static void requireEmpty(RemovalPlan plan, String attempt) {
        if (plan.deliveriesTotal() > 0 || plan.deadLetters() > 0) {
            throw Acts.refused(
                    "not-empty",
                    attempt,
                    "it has " + plan.deliveriesTotal() + (plan.deliveriesTotal() == 1 ? " delivery" : " deliveries")
                            + " and "
                            + plan.deadLetters()
                            + (plan.deadLetters() == 1 ? " open dead letter" : " open dead letters")
                            + "; deal with them, or have them discarded with the removal");
        }
    }

    private static String attempt(String name) {
        return "remove subscription " + name;
    }
}
