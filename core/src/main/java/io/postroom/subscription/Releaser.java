package io.postroom.subscription;

import io.postroom.PostroomException;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;

/** Frees keys: skips a message that waits, or ends the hold of one that was buried. */
final class Releaser {
    private final Acts acts;
    private final LaneTable lanes;
    private final DeliveryTable deliveries;

    Releaser(Acts acts, LaneTable lanes, DeliveryTable deliveries) {
        this.acts = acts;
        this.lanes = lanes;
        this.deliveries = deliveries;
    }

    SkippedMessage skip(String name, UUID messageId, Act act) {
        String attempt = "skip message " + messageId + " of subscription " + name;
        acts.check(act, attempt);
        return acts.transact(tx -> {
            SubscriptionTable.Locked subscription = acts.lock(tx, name, attempt);
            OptionalLong position = deliveries.find(tx, name, messageId);
            return position.isPresent()
                    ? skip(tx, subscription, position.getAsLong(), act, attempt)
                    : deliveries
                            .findSkipped(tx, name, messageId, null)
                            .orElseThrow(() -> notWaiting(attempt, "; ask postroom why " + messageId));
        });
    }

    SkippedMessage skip(String name, long position, Act act) {
        String attempt = "skip the message at position " + position + " of subscription " + name;
        acts.check(act, attempt);
        return acts.transact(tx -> {
            SubscriptionTable.Locked subscription = acts.lock(tx, name, attempt);
            return deliveries.read(tx, name, position).isPresent()
                    ? skip(tx, subscription, position, act, attempt)
                    : deliveries.findSkipped(tx, name, null, position).orElseThrow(() -> notWaiting(attempt, ""));
        });
    }

    private SkippedMessage skip(
            Connection tx, SubscriptionTable.Locked subscription, long position, Act act, String attempt) {
        String name = subscription.name();
        // The number of its lane cannot change meanwhile: that needs the lock of the subscription.
        deliveries.read(tx, name, position).ifPresent(row -> lanes.lock(tx, name, row.lane()));
        DeliveryTable.Row row = deliveries.read(tx, name, position).orElseThrow(() -> notWaiting(attempt, ""));
        requireSkippable(row, attempt);
        if (row.state().equals("sending")) {
            // The relay that had it may only stand still: when it goes on, it must not bring the message back.
            lanes.fence(tx, name, row.lane());
        }
        Fault fault = Fault.of("skipped", "skipped by " + act.actor() + ": " + act.reason());
        long[] letters = deliveries.discard(tx, name, new long[] {position}, act.actor(), fault);
        deliveries.forget(tx, name, position);
        int released = subscription.ordered() ? deliveries.promote(tx, name, row.keyHash()) : 0;
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("position", position);
        if (letters.length > 0) {
            details.put("deadLetter", letters[0]);
        }
        acts.record(tx, act, "skip", name, details);
        acts.table().wake(tx);
        return new SkippedMessage(position, letters.length > 0 ? letters[0] : null, released, false);
    }

    private static PostroomException notWaiting(String attempt, String hint) {
        return Acts.refused(
                "not-waiting",
                attempt,
                "it does not wait among the deliveries: it was delivered or buried, its lane has not come to it, or there is no"
                        + " such message" + hint);
    }

    private static void requireSkippable(DeliveryTable.Row row, String attempt) {
        if (row.state().equals("held")) {
            throw Acts.refused(
                    "is-held",
                    attempt,
                    "it is buried already, as dead letter " + row.deadLetter()
                            + ", which holds its key; discard that, or release the key");
        }
        // In a lane that nobody has, the attempt ended with its relay, or that relay stands still and is fenced out.
        if (row.state().equals("sending") && row.leased()) {
            throw Acts.refused(
                    "is-sending",
                    attempt,
                    "it is being sent, attempt " + row.attempts() + "; pause the subscription first");
        }
    }

    ReleasedKey release(String name, long deadLetter, Act act) {
        String attempt = "release the key of dead letter " + deadLetter + " in subscription " + name;
        acts.check(act, attempt);
        return acts.transact(tx -> {
            acts.lock(tx, name, attempt);
            DeliveryTable.Held before = held(tx, name, deadLetter, attempt);
            lanes.lock(tx, name, before.lane());
            DeliveryTable.Held held = held(tx, name, deadLetter, attempt);
            if (!held.held()) {
                return new ReleasedKey(held.aggregateType(), held.aggregateId(), 0, true);
            }
            deliveries.forget(tx, name, held.position());
            int released = deliveries.promote(tx, name, held.keyHash());
            acts.record(
                    tx,
                    act,
                    "release",
                    name,
                    Map.of("deadLetter", deadLetter, "position", held.position(), "released", released));
            acts.table().wake(tx);
            return new ReleasedKey(held.aggregateType(), held.aggregateId(), released, false);
        });
    }

    private DeliveryTable.Held held(Connection tx, String name, long deadLetter, String attempt) {
        return deliveries
                .findHeld(tx, name, deadLetter)
                .orElseThrow(() -> Acts.refused(
                        "dead-letter-unknown",
                        attempt,
                        "the subscription has no such dead letter; list its held keys"));
    }
}
