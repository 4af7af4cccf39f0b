package io.postroom.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a lane has to send, in their turn: one of a key at a time, and what has become due among what was read. For the
 * lane's thread only.
 */
final class LaneQueue {
    private final KeyOrder order;
    private final Deque<Slot> ready = new ArrayDeque<>();
    /** They found the destination unavailable, hold their keys and go first, unless another is to be the probe. */
    private final Deque<Slot> turnedAway = new ArrayDeque<>();

    LaneQueue(Order order) {
        this.order = new KeyOrder(order);
    }

    boolean isEmpty() {
        return ready.isEmpty() && turnedAway.isEmpty();
    }

    /** Whether there is any that was not sent yet. */
    boolean hasReady() {
        return !ready.isEmpty();
    }

    /** Whether there is any that was sent and not taken. */
    boolean hasTurnedAway() {
        return !turnedAway.isEmpty();
    }

    void add(Collection<Slot> slots) {
        ready.addAll(slots);
    }

    /** They go before all that was not sent yet, in their order. */
    void addFirst(List<Slot> slots) {
        for (int i = slots.size() - 1; i >= 0; i--) {
            ready.addFirst(slots.get(i));
        }
    }

    /** It is on its way: later ones of its key must wait. */
    void hold(Slot slot) {
        order.hold(slot.keyHash());
    }

    /** It was not taken, keeps its key and goes before all others. */
    void turnAway(Slot slot) {
        order.hold(slot.keyHash());
        turnedAway.addLast(slot);
    }

    /** What is due goes before what was read, but only every other one: neither waits until all of the other is through. */
    void addDue(List<Slot> due) {
        if (due.isEmpty()) {
            return;
        }
        Deque<Slot> claimed = new ArrayDeque<>();
        Deque<Slot> read = new ArrayDeque<>();
        ready.forEach(slot -> (slot.isClaimed() ? claimed : read).addLast(slot));
        claimed.addAll(due);
        ready.clear();
        while (!claimed.isEmpty() && !read.isEmpty()) {
            ready.addLast(claimed.removeFirst());
            ready.addLast(read.removeFirst());
        }
        ready.addAll(claimed);
        ready.addAll(read);
    }

    /**
     * Takes the next one; null if it has lined up behind another of its key.
     *
     * @param unsent whether it is to be one that was not sent yet, if there is any
     */
    @Nullable
    Slot next(boolean unsent) {
        Slot held = unsent && !ready.isEmpty() ? null : turnedAway.pollFirst();
        if (held != null) {
            return held;
        }
        Slot slot = ready.removeFirst();
        return order.mayGo(slot) ? slot : null;
    }

    /** The same of those that were read up to a position; others go to {@code later}. */
    @Nullable
    Slot nextUpTo(long position, Collection<Slot> later) {
        Slot slot = ready.removeFirst();
        if (!isReadUpTo(slot, position)) {
            later.add(slot);
            return null;
        }
        return order.mayGo(slot) ? slot : null;
    }

    /** Whether there is any that was read up to a position. */
    boolean hasReadyUpTo(long position) {
        return ready.stream().anyMatch(slot -> isReadUpTo(slot, position));
    }

    private static boolean isReadUpTo(Slot slot, long position) {
        return !slot.isClaimed() && slot.position() <= position;
    }

    /** Takes this one out of its turn; false if it has lined up behind another of its key. */
    boolean take(Slot slot) {
        ready.remove(slot);
        return order.mayGo(slot);
    }

    /**
     * Takes what a projection may apply together with one that is taken already. It passes over none: nothing of the lane is on its way, so
     * no key is held.
     */
    List<Slot> takeBatch(Applier applier, Slot first) {
        return applier.batch(first, ready);
    }

    /** Takes those of a key, lined up or about to be sent; none where keys have no order. */
    List<Slot> takeBehind(int keyHash) {
        if (!order.isKept()) {
            return List.of();
        }
        List<Slot> behind = new ArrayList<>(order.takeBehind(keyHash));
        ready.removeIf(each -> each.keyHash() == keyHash && behind.add(each));
        return behind;
    }

    /** Takes what was claimed and not sent. */
    List<Slot> takeClaimed() {
        List<Slot> claimed = ready.stream().filter(Slot::isClaimed).toList();
        ready.removeAll(claimed);
        return claimed;
    }

    /** Takes everything, in order of position. */
    List<Slot> takeAll() {
        List<Slot> all = order.takeAll();
        all.addAll(ready);
        all.addAll(turnedAway);
        ready.clear();
        turnedAway.clear();
        all.sort(Comparator.comparingLong(Slot::position));
        return all;
    }

    /** The key's message is done: those behind it are next. */
    void free(int keyHash) {
        order.free(keyHash, ready);
    }
}
