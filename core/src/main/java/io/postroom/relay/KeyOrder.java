package io.postroom.relay;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Lets one message of a key go at a time. For the lane's thread only.
 *
 * <p>A key is held from the moment one of its messages is on its way until that one is done; the others line up behind it, in
 * memory. Without order, every message may go at once. Keys are told apart by their hash, as lanes are: two keys with one hash wait
 * for each other, which loses nothing.
 */
final class KeyOrder {
    private final boolean kept;
    private final Map<Integer, Deque<Slot>> held = new HashMap<>();

    KeyOrder(Order order) {
        this.kept = order == Order.KEY;
    }

    boolean isKept() {
        return kept;
    }

    /** Whether a message may go now; if not, it has been lined up behind the one before it. */
    boolean mayGo(Slot slot) {
        if (held.isEmpty()) {
            return true;
        }
        Deque<Slot> behind = held.get(slot.keyHash());
        if (behind == null) {
            return true;
        }
        behind.addLast(slot);
        return false;
    }

    /** The key's message is on its way: later ones of the key must wait. */
    void hold(int keyHash) {
        if (kept) {
            held.computeIfAbsent(keyHash, ignored -> new ArrayDeque<>(0));
        }
    }

    /** The key's message is done: those behind it go to the front of {@code ready}, in their order. */
    void free(int keyHash, Deque<Slot> ready) {
        Deque<Slot> behind = held.isEmpty() ? null : held.remove(keyHash);
        while (behind != null && !behind.isEmpty()) {
            ready.addFirst(behind.removeLast());
        }
    }

    /** The key's message has to wait for long: those behind it are the caller's. */
    List<Slot> takeBehind(int keyHash) {
        Deque<Slot> behind = held.remove(keyHash);
        return behind == null ? List.of() : List.copyOf(behind);
    }

    /** All that line up, of every key, in no order. */
    List<Slot> takeAll() {
        List<Slot> all = new ArrayList<>();
        held.values().forEach(all::addAll);
        held.clear();
        return all;
    }
}
