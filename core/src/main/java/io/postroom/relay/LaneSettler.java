package io.postroom.relay;

import io.postroom.retry.Fault;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of a lane's messages: each is accepted, kept as a delivery or buried, and leaves memory with that; what is to be written
 * of it is collected, and settled together with the position.
 *
 * <p>A key is blocked while it has deliveries: its later messages are parked behind them. Without order none is. For the lane's thread.
 */
final class LaneSettler {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    private final Subscription subscription;
    private final boolean ordered;
    private final String node;
    private final LaneStore store;
    private final LaneClaims claims;
    private final Window window;
    private final LaneQueue queue;
    private final Set<Integer> blocked = new HashSet<>();
    private LaneRecord changes = new LaneRecord();

    LaneSettler(
            Subscription subscription,
            String node,
            LaneStore store,
            LaneClaims claims,
            Window window,
            LaneQueue queue) {
        this.subscription = subscription;
        this.ordered = subscription.order() == Order.KEY;
        this.node = node;
        this.store = store;
        this.claims = claims;
        this.window = window;
        this.queue = queue;
    }

    boolean isBlocked(Slot slot) {
        return !blocked.isEmpty() && blocked.contains(slot.keyHash());
    }

    /** The message has a delivery, and the later ones of its key must not overtake it. */
    void block(Slot slot) {
        if (ordered) {
            blocked.add(slot.keyHash());
        }
    }

    void block(Collection<Integer> keyHashes) {
        if (ordered) {
            blocked.addAll(keyHashes);
        }
    }

    void accepted(Slot slot) {
        addAccepted(changes, slot);
        pass(slot);
    }

    /** What is to be written of a message that went through: nothing, if it has no delivery. */
    private void addAccepted(LaneRecord record, Slot slot) {
        if (!slot.isRecorded()) {
            return;
        }
        record.accepted.add(slot.position());
        if (slot.isClaimed()) {
            record.tried.add(attempt(slot, "accepted", null));
        }
        if (isBlocked(slot)) {
            record.keys.add(slot.keyHash());
        }
    }

    /** An attempt at the message failed, and counts. */
    void tried(Slot slot, Failure failure) {
        changes.tried.add(attempt(slot, failure.word(), failure.fault()));
    }

    private LaneRecord.Tried attempt(Slot slot, String outcome, @Nullable Fault fault) {
        Duration took = Duration.ofNanos(System.nanoTime() - slot.sentNanos());
        return new LaneRecord.Tried(slot.position(), slot.attempt(), took, node, outcome, fault);
    }

    /** A scheduled message holds up nothing, not even its own key. */
    void schedule(Slot slot, Duration early, @Nullable Instant dueAt) {
        keep(new LaneRecord.Kept(slot.id(), LaneRecord.State.SCHEDULED, early, dueAt, 0, null), slot);
    }

    /** Others of its key go first. */
    void park(Slot slot) {
        keepUncounted(slot, LaneRecord.State.PARKED, null);
    }

    /** Nobody here can read it: it waits for a relay that can, and its key with it. */
    void putAside(Slot slot, Fault unreadable) {
        LOG.warn(
                "could not read message at position {} for subscription {}: {}; it and the later ones of its key wait for a relay that can",
                slot.position(),
                subscription.name(),
                unreadable.message());
        block(slot);
        keepUncounted(slot, LaneRecord.State.UNREADABLE, unreadable);
    }

    /** It was not sent after all, and is due at once. */
    void handBack(Slot slot) {
        keepUncounted(slot, LaneRecord.State.WAITING, null);
    }

    /** The message waits for its next attempt, and the later ones of its key behind it. */
    void keepWaiting(Slot slot, Duration wait, int attempts, @Nullable Fault fault) {
        block(slot);
        keep(new LaneRecord.Kept(slot.id(), LaneRecord.State.WAITING, wait, attempts, fault), slot);
        parkBehind(slot);
    }

    private void keepUncounted(Slot slot, LaneRecord.State state, @Nullable Fault fault) {
        keep(new LaneRecord.Kept(slot.id(), state, Duration.ZERO, slot.attempt() - 1, fault), slot);
    }

    private void keep(LaneRecord.Kept kept, Slot slot) {
        changes.kept.add(kept);
        touch(slot);
        done(slot);
    }

    void bury(Slot slot, LaneRecord.Cause cause, Fault fault) {
        changes.buried.add(new LaneRecord.Buried(slot.id(), cause, slot.attempt(), fault));
        if (subscription.onBurial() == OnBurial.HOLD) {
            block(slot);
            touch(slot);
            done(slot);
            parkBehind(slot);
        } else {
            touch(slot);
            pass(slot);
        }
    }

    /** Marks a key whose deliveries change: after the next record it may be free, or its next message may go. */
    private void touch(Slot slot) {
        if (isBlocked(slot)) {
            changes.keys.add(slot.keyHash());
        }
    }

    /** Those of the key that are lined up or about to be sent must not overtake it. */
    private void parkBehind(Slot slot) {
        queue.takeBehind(slot.keyHash()).forEach(this::park);
    }

    /** The message is done, and the next one of its key may go. */
    private void pass(Slot slot) {
        done(slot);
        queue.free(slot.keyHash());
    }

    private void done(Slot slot) {
        slot.done();
        changes.endsSuspect |= claims.done(slot);
        if (!slot.isClaimed()) {
            window.done(slot);
        }
    }

    /** Whether there is more to write than the position. */
    boolean hasToRecord() {
        return !changes.isEmpty() || store.isRecording();
    }

    /** Whether others wait for it to be written that a suspect came through. */
    boolean endsSuspect() {
        return changes.endsSuspect;
    }

    /** Whether the position can move. */
    boolean hasFinished() {
        return window.finished() > store.settled();
    }

    /** Notes among the deliveries that the messages are being sent, before that is so or because it takes long. */
    void note(List<Slot> slots) {
        claims.noting(slots);
        store.note(slots);
    }

    /** Writes what is finished, and what became of the rest. */
    void settle() {
        writeSealed();
        List<Slot> slow = window.slow(System.nanoTime() - RelaySettings.SLOW.toNanos());
        if (!slow.isEmpty()) {
            // Else a crash would repeat all that has overtaken them.
            note(slow);
        }
        long position = Math.max(window.finished(), store.settled());
        if (!changes.isEmpty()) {
            store.seal(changes, position);
            changes = new LaneRecord();
            written(store.write());
        } else if (position > store.settled()) {
            store.settle(position);
        }
    }

    /** Writes what was to be written the last time, if that was not answered. */
    void writeSealed() {
        if (store.isRecording()) {
            written(store.write());
        }
    }

    /** A batch to apply, with all that is to be written in its transaction. */
    Applier.Attempt attempt(List<Slot> batch) {
        LaneRecord record = changes.copy();
        long position = Math.max(store.settled(), window.finishedWith(batch));
        return new Applier.Attempt(batch, record, position, slot -> addAccepted(record, slot));
    }

    /** The batch took effect, and the lane has moved. */
    void applied(List<Slot> batch, LaneStore.Written written) {
        changes = new LaneRecord();
        batch.forEach(this::pass);
        written.record().endsSuspect |= changes.endsSuspect;
        changes.endsSuspect = false;
        written(written);
    }

    private void written(LaneStore.Written written) {
        claims.written(written);
        blocked.removeAll(written.record().keys);
        block(written.stillBlocked());
        // What happened to a key after this record was closed is in the next one.
        block(changes.keys);
    }
}
