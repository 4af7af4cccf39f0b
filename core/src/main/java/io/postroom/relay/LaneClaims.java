package io.postroom.relay;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The deliveries of a lane whose attempts are under way: claims those that are due, and of those that a relay may have died of a few
 * at a time. For the lane's thread, except {@link #look}.
 */
final class LaneClaims {
    private final LaneStore store;
    private final DeliveryReader reader;
    private final Suspects suspects;
    private final RelaySettings settings;

    /** The positions whose deliveries are being sent, as far as this lane knows. */
    private final Set<Long> inHand = new HashSet<>();

    private int claimed;
    private boolean unsure;
    private final Set<Slot> suspected = new HashSet<>();
    /** To be sent when nothing else is on its way. */
    private @Nullable Slot lone;
    /** Nothing else is to be on its way, until it is written what became of the one that is. */
    private boolean isolated;
    /** What was sent alone has come through, and that is not written yet. */
    private boolean unwritten;

    /** Something was due and could not be claimed. */
    private boolean barred;

    private long lookNanos = System.nanoTime();
    private volatile boolean lookAsked;

    LaneClaims(Lane.Surroundings surroundings, LaneStore store) {
        this.store = store;
        this.reader = new DeliveryReader(surroundings.database(), surroundings.journal(), surroundings.deliveries());
        this.suspects = surroundings.suspects();
        this.settings = surroundings.settings();
    }

    /** Takes what was claimed; says whether it is to be sent. */
    interface Taker {
        boolean take(Slot slot, DeliveryReader.Claimed claimed);
    }

    /** Others may have changed deliveries of this lane. */
    void look() {
        lookAsked = true;
    }

    /** How long until it is time to look for deliveries; for ever while there is no room for more. */
    long restNanos(long now) {
        if (claimed > RelaySettings.CLAIM_MAX / 2) {
            return Long.MAX_VALUE;
        }
        return lookAsked ? 0 : lookNanos - now;
    }

    /** Whether it is time to look, and there is room for more. */
    boolean isToLook() {
        return restNanos(System.nanoTime()) <= 0;
    }

    /** Looks whether something is due; if not, notes when to look again. */
    boolean isDue() {
        if (unsure) {
            store.unclaim(inHand);
            unsure = false;
        }
        lookAsked = false;
        Duration due = store.nextDue().orElse(settings.heartbeat());
        if (due.isZero() || due.isNegative()) {
            return true;
        }
        lookNanos = System.nanoTime() + Math.min(due.toNanos(), settings.heartbeatNanos());
        return false;
    }

    /** Begins the next attempts of deliveries that are due, of those that the lane has come to. */
    void claim(int limit, long readTo, Taker taker) {
        boolean entered = suspected.isEmpty() && suspects.enter(this);
        unsure = true;
        List<DeliveryReader.Claimed> rows = reader.read(store.claim(
                Math.min(limit, RelaySettings.CLAIM_MAX - claimed), settings.batchBytes(), entered, readTo));
        unsure = false;
        barred = rows.isEmpty();
        claimed += rows.size();
        for (DeliveryReader.Claimed each : rows) {
            Slot slot = Slot.claimed(each.row().id(), each.row().past(), each.message());
            inHand.add(slot.position());
            if (taker.take(slot, each) && slot.past().crashes() > 0) {
                suspected.add(slot);
                lone = each.row().alone() ? slot : lone;
            }
        }
        if (entered && suspected.isEmpty()) {
            suspects.leave(this);
        } else if (entered && lone != null) {
            suspects.isolate(this);
            isolated = true;
        }
        // What is due and cannot be claimed now is beyond what was read, or a suspect while another lane has one.
        lookNanos = System.nanoTime() + (rows.isEmpty() ? RelaySettings.SUSPECT_PAUSE.toNanos() : 0);
    }

    /** The lane has read on: what is due may be claimed now. */
    void readOn() {
        if (barred) {
            barred = false;
            lookNanos = System.nanoTime();
        }
    }

    /** They are about to get deliveries, which say that they are being sent. */
    void noting(Collection<Slot> slots) {
        slots.forEach(slot -> inHand.add(slot.position()));
    }

    /** Returns whether it was the last of the suspects. */
    boolean done(Slot slot) {
        if (slot.isRecorded()) {
            inHand.remove(slot.position());
        }
        if (slot.isClaimed()) {
            claimed--;
        }
        lone = lone == slot ? null : lone;
        boolean last = suspected.remove(slot) && suspected.isEmpty();
        unwritten |= last && isolated;
        return last;
    }

    void written(LaneStore.Written written) {
        if (written.record().endsSuspect) {
            // The next suspects go when this is written: if one of those ended the process, these would be blamed too.
            leave();
        }
        long wait = written.promoted() > 0 ? 0 : written.record().firstWait().toNanos();
        long look = System.nanoTime() + wait;
        lookNanos = look - lookNanos < 0 ? look : lookNanos;
    }

    /** Lets another lane have its suspects sent. */
    void leave() {
        suspected.clear();
        lone = null;
        isolated = false;
        unwritten = false;
        suspects.leave(this);
    }

    /** The message that is to be sent while nothing else is on its way, if there is one and it is not sent yet. */
    @Nullable
    Slot lone() {
        return lone;
    }

    /** Nothing else is on its way: if the relay ends from here on, it ended of that message. */
    void markLone() {
        store.markAlone(Objects.requireNonNull(lone, "there is none"));
        lone = null;
    }

    /** Whether a message may be sent as far as suspects are concerned, this lane's or another's. */
    boolean allowSending() {
        // If the next one ended the process, what has come through before would be blamed.
        return !unwritten && suspects.allow(this);
    }
}
