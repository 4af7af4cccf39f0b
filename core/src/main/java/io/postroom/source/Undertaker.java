package io.postroom.source;

import io.postroom.deadletter.Cause;
import io.postroom.message.Message;
import io.postroom.retry.Decision;
import io.postroom.telemetry.Telemetry;

/** Buries what a source has given up on, whole and with its history. Safe for use by many threads. */
record Undertaker(ReceptionTable table, String consumer, String node, Telemetry telemetry) {

    /** A message that came from the broker; nothing happens if another copy of it has taken effect meanwhile. */
    void bury(Application.Grave grave, Application.Item item, Trial trial, Trial.Verdict verdict) {
        Arrival arrival = item.arrival();
        Message message = arrival.envelope().message();
        // What conflicts with a message that took effect is not that message.
        if (!verdict.fault().errorClass().equals(Application.CONFLICT)
                && table.isAccepted(grave.tx(), consumer, message.id())) {
            return;
        }
        Cause cause = cause(verdict);
        table.bury(
                grave.tx(),
                new ReceptionTable.Grave(
                        Reception.KAFKA,
                        consumer,
                        arrival.letterPosition(grave.ofSubscription()),
                        arrival.place(),
                        message,
                        cause.word(),
                        trial.attempts(),
                        verdict.fault(),
                        trial.history(),
                        node,
                        null));
        telemetry.buried(consumer, cause.word());
    }

    /** A message that was redriven and failed again. */
    void buryAgain(Application.Grave grave, ReceptionTable.Redriven redriven, Trial trial, Trial.Verdict verdict) {
        Cause cause = cause(verdict);
        table.bury(
                grave.tx(),
                new ReceptionTable.Grave(
                        Reception.KAFKA,
                        consumer,
                        redriven.position(),
                        redriven.place(),
                        redriven.message(),
                        cause.word(),
                        trial.attempts(),
                        verdict.fault(),
                        trial.history(),
                        node,
                        redriven.deadLetter()));
        telemetry.buried(consumer, cause.word());
    }

    private static Cause cause(Trial.Verdict verdict) {
        if (verdict.word().equals(Trial.CRASHED)) {
            return Cause.CRASHED;
        }
        return ((Decision.GiveUp) verdict.decision()).rejected() ? Cause.REJECTED : Cause.EXHAUSTED;
    }
}
