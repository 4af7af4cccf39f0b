package io.postroom.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The messages of one lane between its settled position and where it has read to, in order of position.
 *
 * <p>Messages leave memory when they are done; their slots stay until all before them are done, so that only a finished prefix is
 * ever settled. For the lane's thread only.
 */
final class Window {
    /** What a small message takes beside its payload: objects, names, its place in queues. */
    private static final int OVERHEAD_BYTES = 512;

    /** How many slow messages are noted at once. */
    private static final int SLOW_MAX = 1_000;

    private final Deque<Slot> slots = new ArrayDeque<>();
    private long settled;
    private long readTo;
    private long bytes;

    Window(long position) {
        settled = position;
        readTo = position;
    }

    void add(Slot slot) {
        slots.addLast(slot);
        bytes += weight(slot);
    }

    /** Goes on somewhere else. Messages that were passed may still be on their way, and take their room. */
    void moveTo(long position) {
        slots.clear();
        settled = position;
        readTo = position;
    }

    /** The slot's message has left memory. */
    void done(Slot slot) {
        bytes -= weight(slot);
    }

    /** Everything up to here is in the window or not of this lane. */
    void readTo(long position) {
        readTo = position;
    }

    long readTo() {
        return readTo;
    }

    /** Of the messages that hold the position back, those that have been on their way since before a time. */
    List<Slot> slow(long sinceNanos) {
        List<Slot> slow = new ArrayList<>(0);
        for (Slot slot : slots) {
            if (slot.isPassable()) {
                continue;
            }
            if (slot.state() != Slot.State.FLYING || slot.sentNanos() - sinceNanos > 0 || slow.size() >= SLOW_MAX) {
                break;
            }
            slow.add(slot);
        }
        return slow;
    }

    /** The position up to which everything is done, or has a delivery. */
    long finished() {
        for (Slot first = slots.peekFirst(); first != null && first.isPassable(); first = slots.peekFirst()) {
            settled = first.position();
            slots.removeFirst();
        }
        if (slots.isEmpty()) {
            settled = readTo;
        }
        return settled;
    }

    /** The same if these were done, too. */
    long finishedWith(Collection<Slot> batch) {
        Set<Slot> done = batch.size() == 1 ? Set.copyOf(batch) : new HashSet<>(batch);
        long position = settled;
        for (Slot slot : slots) {
            if (!slot.isPassable() && !done.contains(slot)) {
                return position;
            }
            position = slot.position();
        }
        return readTo;
    }

    int messages() {
        return slots.size();
    }

    long bytes() {
        return bytes;
    }

    private static long weight(Slot slot) {
        return slot.id().bytes() + (long) OVERHEAD_BYTES;
    }
}
