package io.postroom.relay;

import io.postroom.message.Message;
import io.postroom.message.OwnHeaders;
import org.jspecify.annotations.Nullable;

/** A lane that an operator has moved back, until it is where it was told to. For the lane's thread. */
final class Replay {
    private static final double NANOS = 1e9;

    private final long to;
    private final long resumeAt;
    private final double perNano;
    /** What may be read at once after a pause: a second's worth, or one message. */
    private final double most;

    private double allowance = 1;
    private long atNanos = System.nanoTime();

    private Replay(long to, long resumeAt, double perNano) {
        this.to = to;
        this.resumeAt = resumeAt;
        this.perNano = perNano;
        this.most = Math.max(1, perNano * NANOS);
    }

    static @Nullable Replay of(RelayTable.Plan plan) {
        Long to = plan.replayTo();
        Long resumeAt = plan.resumeAt();
        if (to == null || resumeAt == null) {
            return null;
        }
        Double rate = plan.replayRate();
        return new Replay(to, resumeAt, rate == null ? Double.POSITIVE_INFINITY : rate / plan.lanes() / NANOS);
    }

    long to() {
        return to;
    }

    long resumeAt() {
        return resumeAt;
    }

    /** How many messages may be read now, of as many as there is room for. */
    int allowed(int room, long nowNanos) {
        if (Double.isInfinite(perNano)) {
            return room;
        }
        // After a pause it does not make up for lost time.
        allowance = Math.min(most, allowance + (nowNanos - atNanos) * perNano);
        atNanos = nowNanos;
        return (int) Math.min(room, Math.max(0, Math.floor(allowance)));
    }

    void took(int messages) {
        allowance -= messages;
    }

    /** How long until the next message may be read. */
    long restNanos(long nowNanos) {
        return allowed(1, nowNanos) > 0 ? 0 : (long) Math.ceil((1 - allowance) / perNano);
    }

    Message marked(Message message) {
        return marked(message, to);
    }

    static Message marked(Message message, long to) {
        return message.withHeader(OwnHeaders.REPLAY, Long.toString(to));
    }
}
