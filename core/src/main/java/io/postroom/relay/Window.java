package io.postroom.relay;

import io.postroom.message.Envelope;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one lane between its settled position and where it has read to, in order of position.
 *
 * <p>Accepted messages leave memory at once; their slots stay until all before them are accepted, so that only a finished prefix
 * is ever settled. For the lane's thread only.
 */
final class Window {
    private final Deque<Slot> slots = new ArrayDeque<>();
    private long settled;
    private long readTo;
    private long bytes;

    Window(long position) {
        settled = position;
        readTo = position;
    }

    /** A message's place in the window. */
    static final class Slot {
        private final long position;
        private final long bytes;
        private @Nullable Envelope envelope;
        long dueNanos;

        Slot(Envelope envelope, long bytes) {
            this.position = envelope.position();
            this.envelope = envelope;
            this.bytes = bytes;
        }

        Envelope envelope() {
            if (envelope == null) {
                throw new IllegalStateException("position " + position + " was accepted already");
            }
            return envelope;
        }

        void tryAgain(long dueNanos) {
            this.envelope = envelope().again();
            this.dueNanos = dueNanos;
        }
    }

    Slot add(Envelope envelope, long bytes) {
        Slot slot = new Slot(envelope, bytes);
        slots.addLast(slot);
        this.bytes += bytes;
        return slot;
    }

    void accepted(Slot slot) {
        slot.envelope = null;
        bytes -= slot.bytes;
    }

    /** Everything up to here is in the window or not of this lane. */
    void readTo(long position) {
        readTo = position;
    }

    /** The position up to which everything is accepted. */
    long finished() {
        for (Slot first = slots.peekFirst(); first != null && first.envelope == null; first = slots.peekFirst()) {
            settled = first.position;
            slots.removeFirst();
        }
        return slots.isEmpty() ? readTo : settled;
    }

    int messages() {
        return slots.size();
    }

    long bytes() {
        return bytes;
    }
}
