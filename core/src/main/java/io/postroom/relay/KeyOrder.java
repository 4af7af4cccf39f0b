package io.postroom.relay;

import io.postroom.message.Message;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * Lets one message of a key go at a time; the others of the key line up behind it. For the lane's thread only.
 *
 * <p>A key is held from the moment one of its messages is on its way, or has failed, until that one is accepted. Without order,
 * every message may go at once.
 */
final class KeyOrder {
    private final boolean kept;
    private final Map<Message.Key, Deque<Window.Slot>> held = new HashMap<>();

    KeyOrder(Order order) {
        this.kept = order == Order.KEY;
    }

    /** Whether a message may go now; if not, it has been lined up behind the one before it. */
    boolean mayGo(Window.Slot slot) {
        if (held.isEmpty()) {
            return true;
        }
        Deque<Window.Slot> behind = held.get(slot.envelope().message().key());
        if (behind == null) {
            return true;
        }
        behind.addLast(slot);
        return false;
    }

    /** The key's message is on its way, or waits to be tried again: later ones of the key must wait. */
    void hold(Message.Key key) {
        if (kept) {
            held.computeIfAbsent(key, ignored -> new ArrayDeque<>(0));
        }
    }

    /** The key's message was accepted: those behind it go to the front of {@code ready}, in their order. */
    void free(Message.Key key, Deque<Window.Slot> ready) {
        Deque<Window.Slot> behind = held.remove(key);
        while (behind != null && !behind.isEmpty()) {
            ready.addFirst(behind.removeLast());
        }
    }

    /** Whether any key is held at all. */
    boolean isHolding() {
        return !held.isEmpty();
    }
}
