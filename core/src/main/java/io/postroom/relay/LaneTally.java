package io.postroom.relay;

import io.postroom.telemetry.Telemetry;

/** Counts what a lane's destination has accepted, and tells telemetry and the circuit. For the lane's thread only. */
final class LaneTally {
    private final String subscription;
    private final Circuit circuit;
    private final Telemetry telemetry;
    private long accepted;
    private long acceptedAtSettle;
    private long reported;
    private boolean answered;
    private long answeredSentNanos;

    LaneTally(Relay.Target target, Telemetry telemetry) {
        this.subscription = target.subscription().name();
        this.circuit = target.circuit();
        this.telemetry = telemetry;
    }

    void accepted(Slot slot) {
        accepted++;
        telemetry.accepted(subscription, slot.attempt(), System.nanoTime() - slot.sentNanos(), slot.ageMillis());
        if (!answered || slot.sentNanos() - answeredSentNanos > 0) {
            answeredSentNanos = slot.sentNanos();
        }
        answered = true;
        if (!circuit.isClosed()) {
            reportAnswered();
        }
    }

    long accepted() {
        return accepted;
    }

    /** The lane has been settled. */
    void settled() {
        acceptedAtSettle = accepted;
    }

    /** Whether nothing was accepted since the lane was settled. */
    boolean isSettled() {
        return accepted == acceptedAtSettle;
    }

    /** Tells the circuit that the destination has accepted something since the last time. */
    void reportAnswered() {
        if (answered) {
            answered = false;
            circuit.accepted(answeredSentNanos);
        }
    }

    void reportAccepted() {
        if (accepted > reported) {
            telemetry.delivered(subscription, accepted - reported);
            reported = accepted;
        }
    }
}
