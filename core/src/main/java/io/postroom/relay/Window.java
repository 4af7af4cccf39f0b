package io.postroom.relay;

import io.postroom.message.Envelope;
import java.time.Duration;
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
    /** What a small message takes beside its payload: objects, names, its place in queues. */
    private static final int OVERHEAD_BYTES = 512;

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
        /** No wait is set for longer; what is left of it then begins anew. */
        private static final Duration WAIT_MAX = Duration.ofHours(1);

        private final long position;
        private final long bytes;
        private @Nullable Envelope envelope;
        private long dueNanos;
        private Duration rest = Duration.ZERO;

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

        /** The next attempt is another one. */
        void tryAgain() {
            envelope = envelope().again();
        }

        /** Not before this time has passed, however long it is. */
        void waitFor(Duration wait) {
            boolean tooLong = wait.compareTo(WAIT_MAX) > 0;
            rest = tooLong ? wait.minus(WAIT_MAX) : Duration.ZERO;
            dueNanos = System.nanoTime() + (tooLong ? WAIT_MAX : wait).toNanos();
        }

        /** How long it must still wait; zero or less when it is due. */
        long waitNanos() {
            return dueNanos - System.nanoTime();
        }

        /** Whether the wait is over; if there is more of it, that begins. */
        boolean isDue() {
            if (waitNanos() > 0) {
                return false;
            }
            if (rest.isZero()) {
                return true;
            }
            waitFor(rest);
            return false;
        }

        /** Orders by due time; nanoTime may wrap, so only differences count. */
        static int compareDue(Slot one, Slot other) {
            return Long.compare(one.dueNanos - other.dueNanos, 0);
        }
    }

    Slot add(Envelope envelope, long payloadBytes) {
        Slot slot = new Slot(envelope, payloadBytes + OVERHEAD_BYTES);
        slots.addLast(slot);
        bytes += slot.bytes;
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
