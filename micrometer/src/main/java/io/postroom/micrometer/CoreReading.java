package io.postroom.micrometer;

import io.postroom.Postroom;
import io.postroom.deadletter.OpenLetters;
import io.postroom.subscription.LaneState;
import io.postroom.subscription.PutAside;
import io.postroom.subscription.SubscriptionState;
import java.time.Duration;

/** Subscriptions, lanes and dead letters. Every statement counts up to a limit and no further. */
final class CoreReading implements Reading {
    private static final Figure PENDING = Figure.count(
            "postroom.outbox.pending",
            "Messages that a subscription has not passed; those without a position are counted to 10000.");
    private static final Figure AGE = Figure.age(
            "postroom.outbox.oldest.age", "Lag: how long the oldest message waits that a subscription has not passed.");
    private static final Figure DELIVERIES = Figure.count(
            "postroom.relay.deliveries",
            "Messages that did not go through at once, by what they wait for; each state up to 10000.");
    private static final Figure DELIVERY_AGE = Figure.age(
            "postroom.relay.deliveries.oldest.age",
            "How long the oldest message waits that did not go through at once.");
    private static final Figure BLOCKED = Figure.count(
            "postroom.relay.blocked.keys", "Keys that wait because one of their messages was given up, up to 10000.");
    private static final Figure LANES = Figure.count("postroom.relay.lanes", "Lanes of a subscription.");
    private static final Figure LEASED = Figure.count("postroom.relay.lanes.leased", "Those that a live relay has.");
    private static final Figure ACTIVE =
            Figure.count("postroom.relay.active", "Lanes that a relay has, by the name it gave itself.");
    private static final Figure CIRCUIT =
            Figure.flag("postroom.sink.circuit.open", "1 while a live relay finds that the destination takes nothing.");
    private static final Figure PAUSED =
            Figure.flag("postroom.subscription.paused", "1 while an operator has paused it.");
    private static final Figure LETTERS = Figure.count(
            "postroom.deadletter.count", "Open dead letters, counted up to 10000 for each subscription or queue.");

    @Override
    public void read(Postroom postroom, Figures figures) {
        for (SubscriptionState state : postroom.subscriptions().list()) {
            // A copy that is done says nothing about today.
            if (!state.isDone()) {
                read(state, figures);
            }
        }
        for (LaneState lane : postroom.subscriptions().lanes(null)) {
            String node = lane.ownerName();
            if (lane.isHeld() && node != null) {
                figures.put(ACTIVE, 1, "subscription", lane.subscription(), "node", node);
            }
        }
        for (OpenLetters open : postroom.deadLetters().countOpen()) {
            figures.put(
                    LETTERS,
                    open.letters(),
                    "source",
                    open.source(),
                    "subscription",
                    open.owner(),
                    "event.type",
                    open.eventType(),
                    "reason",
                    open.cause().word());
        }
    }

    private static void read(SubscriptionState state, Figures figures) {
        String[] tags = {"subscription", state.name()};
        figures.put(PENDING, state.lagMessages(), tags);
        figures.put(AGE, seconds(state.lag()), tags);
        PutAside putAside = state.putAside();
        figures.put(DELIVERIES, putAside.waiting(), "subscription", state.name(), "state", "waiting");
        figures.put(DELIVERIES, putAside.sending(), "subscription", state.name(), "state", "sending");
        figures.put(DELIVERIES, putAside.parked(), "subscription", state.name(), "state", "parked");
        figures.put(DELIVERIES, putAside.unreadable(), "subscription", state.name(), "state", "unreadable");
        figures.put(DELIVERY_AGE, seconds(putAside.oldest()), tags);
        figures.put(BLOCKED, state.heldKeys(), tags);
        // What a broker serves has no lanes here that anybody should have.
        if (state.servedBy().equals("postgres")) {
            figures.put(LANES, state.lanes(), tags);
            figures.put(LEASED, state.lanesLeased(), tags);
        }
        figures.put(CIRCUIT, state.unavailableSince() == null ? 0 : 1, tags);
        figures.put(PAUSED, state.pause() == null ? 0 : 1, tags);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
