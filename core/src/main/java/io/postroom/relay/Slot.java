package io.postroom.relay;

import io.postroom.journal.Journal;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.OwnHeaders;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One message while a lane has to do with it. For the lane's thread; {@link #sentNanos} is also read by the one that watches it. */
final class Slot {
    /** Where a message of a lane is. */
    enum State {
        /** To be sent. */
        READY,
        /** With the sink, which has not answered. */
        FLYING,
        /** Nothing more to do in this lane: accepted, or to be recorded as a delivery or a dead letter. */
        DONE
    }

    /** What says where a message is, small enough to be kept for many. */
    record Id(
            long position,
            int keyHash,
            Journal.Place place,
            int bytes,
            @Nullable Long deadLetter) {}

    /** What is known from earlier attempts. */
    record Past(int attempts, int crashes, boolean hung) {
        static final Past NONE = new Past(0, 0, false);
    }

    private final Id id;
    private final Past past;
    private final boolean claimed;
    private boolean recorded;
    private boolean perhapsRecorded;
    private int attempt;
    private @Nullable Envelope envelope;
    private State state = State.READY;
    private int flight;
    private boolean probe;
    private long sentNanos;

    private Slot(Id id, Past past, boolean claimed) {
        this.id = id;
        this.past = past;
        this.claimed = claimed;
    }

    /** A message read from the journal. */
    static Slot read(Id id, Message message) {
        Slot slot = new Slot(id, Past.NONE, false);
        slot.attempt = 1;
        slot.envelope = new Envelope(id.position(), message, 1);
        return slot;
    }

    /** A delivery whose next attempt has been counted; without a message if that cannot be read. */
    static Slot claimed(Id id, Past past, @Nullable Message message) {
        Slot slot = new Slot(id, past, true);
        slot.recorded = true;
        slot.attempt = past.attempts();
        slot.envelope = message == null ? null : new Envelope(id.position(), message, past.attempts());
        return slot;
    }

    Id id() {
        return id;
    }

    long position() {
        return id.position();
    }

    int keyHash() {
        return id.keyHash();
    }

    Past past() {
        return past;
    }

    /** Whether it came from the deliveries, not from the journal. */
    boolean isClaimed() {
        return claimed;
    }

    /** Whether it has a row among the deliveries, or may have one. */
    boolean isRecorded() {
        return recorded || perhapsRecorded;
    }

    /** The number of this attempt, or of the last one. */
    int attempt() {
        return attempt;
    }

    /** A relay that died may have sent it already: that counts as its first attempt. */
    void sentBefore() {
        attempt = 2;
        envelope = new Envelope(id.position(), envelope().message(), attempt);
    }

    /** It is about to get a row. */
    void noting() {
        perhapsRecorded = true;
    }

    /** It has a row now, in which this attempt is counted. */
    void noted() {
        recorded = true;
    }

    /** Whether the lane's position may pass it: it is done or surely has a row, so that it is not forgotten. */
    boolean isPassable() {
        return recorded || state == State.DONE;
    }

    Envelope envelope() {
        if (envelope == null) {
            throw new IllegalStateException("position " + id.position() + " is done already");
        }
        return envelope;
    }

    State state() {
        return state;
    }

    /** The sink is about to get it. */
    void fly(long nowNanos, boolean asProbe) {
        state = State.FLYING;
        flight++;
        probe = asProbe;
        sentNanos = nowNanos;
    }

    /** Tells this flight from later ones: an answer to another is none. */
    int flight() {
        return flight;
    }

    boolean isProbe() {
        return probe;
    }

    long sentNanos() {
        return sentNanos;
    }

    /** How long ago its message could go first, by this machine's clock; -1 if an operator wants it sent once more. */
    long ageMillis() {
        Message message = envelope().message();
        if (id.deadLetter() != null || message.headers().containsKey(OwnHeaders.REPLAY)) {
            return -1;
        }
        long since = message.occurredAt().toEpochMilli();
        Instant availableAt = message.availableAt();
        return Math.max(
                0,
                System.currentTimeMillis()
                        - (availableAt == null ? since : Math.max(since, availableAt.toEpochMilli())));
    }

    /** Not sent after all, or not taken by the sink. */
    void land() {
        state = State.READY;
        flight++;
    }

    /** Nothing more to do with it here; the message leaves memory. */
    void done() {
        state = State.DONE;
        flight++;
        envelope = null;
    }
}
