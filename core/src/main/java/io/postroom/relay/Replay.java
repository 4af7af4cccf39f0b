package io.postroom.relay;

import io.postroom.message.Message;
import org.jspecify.annotations.Nullable;

/** A lane that an operator has moved back, until it is where it was told to. For the lane's thread. */
final class Replay {
    /** Tells a message that was delivered before from one that was not; the value is the last position of the replay. */
    static final String HEADER = "postroom-replay";

    private static final double NANOS = 1e9;

    private final long to;
    private final long resumeAt;
    private final double perNano;
    private final long beganNanos = System.nanoTime();
    private long taken;

    private Replay(long to, long resumeAt, double perNano) {
        this.to = to;
        this.resumeAt = resumeAt;
        this.perNano = perNano;
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
        double earned = (nowNanos - beganNanos) * perNano + 1 - taken;
        return (int) Math.max(0, Math.min(room, Math.floor(earned)));
    }

    void took(int messages) {
        taken += messages;
    }

    /** How long until the next message may be read. */
    long restNanos(long nowNanos) {
        return allowed(1, nowNanos) > 0 ? 0 : (long) Math.ceil((taken - (nowNanos - beganNanos) * perNano) / perNano);
    }

    Message marked(Message message) {
        return message.withHeader(HEADER, Long.toString(to));
    }
}
