package io.postroom.relay;

/**
 * A lane's part in finding out whether a destination that took nothing takes messages again: which of its messages is the next probe.
 *
 * <p>Whoever fails as if the destination was away may be the only one. So messages take turns: those that were turned away with those
 * that were not sent yet, and what is due with what can be read. For the lane's thread.
 */
final class LaneProbes {
    private final Circuit circuit;

    /** Of what the lane has in memory, something that was not sent yet goes before what was turned away. */
    private boolean unsentFirst;

    /** What is due is not to be every probe: what can be read goes before it. */
    private boolean readFirst;

    LaneProbes(Circuit circuit) {
        this.circuit = circuit;
    }

    /** Whether the destination took nothing the last time, so that only probes go. */
    boolean isOut() {
        return !circuit.isClosed();
    }

    /** Whether a message may go now: any one, or one as the probe. */
    boolean allowSending() {
        return circuit.isClosed() || circuit.mayProbe(this);
    }

    /** A message goes now; returns whether it is a probe. */
    boolean send() {
        boolean probe = isOut();
        if (probe) {
            circuit.probing(this);
        }
        return probe;
    }

    /** Whether a probe is on its way, of this lane or another: nothing else may go, and its answer wakes the lanes. */
    boolean isAwaited() {
        return circuit.isProbing();
    }

    /** How long until a probe may go. */
    long waitNanos() {
        return circuit.waitNanos();
    }

    /** Nobody will answer this lane's probe, if there is one: another may go. */
    void leave() {
        circuit.leave(this);
    }

    /** This lane's probe failed by itself, which tells nothing about the destination: another may go at once. */
    void passOver() {
        circuit.passOver(this);
    }

    /**
     * A message failed as if the destination was away: others go as probes, too, beginning with one that was not sent yet.
     *
     * @param delivery whether it waits among the deliveries from now on, where it is due at once
     */
    void takeTurns(Slot turnedAway, boolean delivery) {
        unsentFirst = !turnedAway.isProbe() || !unsentFirst;
        readFirst = delivery;
    }

    /** Whatever can be read may have to line up behind keys that are blocked: then what is due is the probe, else all would be read. */
    void foundNoneToRead() {
        readFirst = false;
    }

    /** Whether the next message is to be one that was not sent yet, if there is any. */
    boolean isUnsentNext() {
        return isOut() && unsentFirst;
    }

    /**
     * Whether the next probe is to be one that is due: no other has its turn.
     *
     * @param readable whether more can be read
     */
    boolean isDueNext(LaneQueue queue, boolean readable) {
        boolean queued = queue.hasReady() || queue.hasTurnedAway() && !unsentFirst;
        return !queued && !(readFirst && readable);
    }
}
