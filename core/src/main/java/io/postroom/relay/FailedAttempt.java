package io.postroom.relay;

import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Decides what becomes of a message that was not accepted, and says so. For the lane's thread. */
final class FailedAttempt {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    private final Surroundings lane;
    private final Slot slot;
    private final Failure failure;
    private final Circuit circuit;
    private final Subscription subscription;
    private final String eventType;
    private final String id;
    private final int attempt;

    /** Where the message was to go, and what its lane is made of. */
    record Surroundings(
            Relay.Target target,
            LaneQueue queue,
            LaneProbes probes,
            LaneSettler settler,
            LaneTally tally,
            Telemetry telemetry) {}

    FailedAttempt(Surroundings lane, Slot slot, Failure failure) {
        this.lane = lane;
        this.slot = slot;
        this.failure = failure;
        this.circuit = lane.target().circuit();
        this.subscription = lane.target().subscription();
        this.eventType = slot.envelope().message().eventType();
        this.id = slot.envelope().message().id().toString();
        this.attempt = slot.attempt();
    }

    void settle() {
        lane.telemetry()
                .failed(new Telemetry.Failure(
                        subscription.name(),
                        eventType,
                        failure.word(),
                        failure.fault().errorClass(),
                        attempt,
                        System.nanoTime() - slot.sentNanos()));
        lane.tally().reportAnswered();
        Decision decision = failure.decide(subscription.retry(), attempt);
        Optional<Decision> own = decision instanceof Decision.Unavailable
                ? failure.asOwnFault(subscription.retry(), attempt)
                : Optional.empty();
        boolean alone = own.isPresent() && circuit.blame().failsAlone(slot.position());
        settle(alone ? own.get() : decision, own.isPresent(), alone);
    }

    /**
     * Settles as was decided.
     *
     * @param away whether it failed as if the destination was away, though nobody has said so
     * @param alone whether in this it is the only one
     */
    private void settle(Decision decision, boolean away, boolean alone) {
        if (failure.isUnanswered() && !isToBlame()) {
            standAside(
                    decision,
                    RelaySettings.PAUSE_MAX,
                    "nothing else was answered meanwhile, so no attempt is counted; another message goes first");
        } else if (decision instanceof Decision.Unavailable) {
            unavailable(away);
        } else if (isRetryable(decision) && circuit.blame().failsEverybody(slot.keyHash(), subscription.outageKeys())) {
            standAside(
                    decision,
                    RelaySettings.OUTAGE_PROBE_MAX,
                    "so did messages of " + subscription.outageKeys()
                            + " keys and none was accepted: the destination is held to be at fault, no attempt is counted");
        } else {
            if (alone && slot.isProbe()) {
                lane.probes().passOver();
            } else if (!alone && !failure.isUnanswered()) {
                circuit.answered(slot.sentNanos());
            }
            lane.settler().tried(slot, failure);
            decide(decision);
        }
    }

    private void unavailable(boolean away) {
        boolean gone = failure.isForGood(subscription.retry(), attempt);
        // In an outage every message would say the same: the first one speaks for all, and one now and then.
        log(
                open(gone, away) ? Level.WARN : Level.DEBUG,
                gone
                        ? "the destination wants no more, no attempt is counted; the subscription is paused"
                        : "the destination takes nothing, no attempt is counted");
        putBack(away);
        handBackOthers();
    }

    /**
     * The message goes again, and no attempt is counted.
     *
     * @param perhapsAlone whether it may be the only one that the destination does not take: then others are to find out
     */
    private void putBack(boolean perhapsAlone) {
        slot.land();
        boolean applied = lane.target().receiver().projection() != null;
        // What a projection applies may overtake only what has a delivery.
        boolean delivery = slot.isClaimed() || perhapsAlone && applied;
        if (perhapsAlone) {
            lane.probes().takeTurns(slot, delivery);
        }
        if (delivery) {
            lane.settler().keepWaiting(slot, Duration.ZERO, attempt - 1, null);
        } else if (applied) {
            // Nothing else is on its way: it is the next one again, with all that was taken back behind it.
            lane.queue().addFirst(List.of(slot));
        } else {
            lane.queue().turnAway(slot);
        }
    }

    /** Hands back what was claimed and not sent: during an outage no attempt is to be begun. */
    private void handBackOthers() {
        lane.queue().takeClaimed().forEach(lane.settler()::handBack);
    }

    private boolean open(boolean gone, boolean away) {
        if (gone) {
            return circuit.gone(failure.fault());
        }
        // Perhaps many in a row have a destination of their own that is away: one that goes through must be found.
        return away && failure.after() == null
                ? circuit.suspected(failure.fault(), slot.isProbe(), RelaySettings.OUTAGE_PROBE_MAX)
                : circuit.unavailable(failure.fault(), failure.after(), slot.isProbe());
    }

    private void decide(Decision decision) {
        if (decision instanceof Decision.TryAgain again) {
            log(
                    attempt == 1 ? Level.WARN : Level.INFO,
                    "trying again in " + again.after().toMillis() + " ms");
            lane.settler().keepWaiting(slot, again.after(), attempt, failure.fault());
        } else {
            Decision.GiveUp over = (Decision.GiveUp) decision;
            log(Level.WARN, "buried: " + over.why());
            LaneRecord.Cause cause = over.rejected() ? LaneRecord.Cause.REJECTED : LaneRecord.Cause.EXHAUSTED;
            lane.settler().bury(slot, cause, failure.fault());
            lane.telemetry().buried(subscription.name(), cause.word());
        }
    }

    /** A destination that answers later messages, or has answered any since this one last hung, is well: the message is not. */
    private boolean isToBlame() {
        return circuit.blame().hasAnsweredSince(slot.sentNanos()) || slot.past().hung() && !slot.isProbe();
    }

    /** Whether it is tried again, or would be if it had not been so often: not what can never be accepted. */
    private boolean isRetryable(Decision decision) {
        return !failure.isUnanswered() && !(decision instanceof Decision.GiveUp over && over.rejected());
    }

    /** Perhaps the destination is at fault, perhaps this message: another message is to find out. */
    private void standAside(Decision decision, Duration probeMax, String why) {
        // The time that was asked for is this message's alone: others go as probes meanwhile.
        boolean news = circuit.suspected(failure.fault(), slot.isProbe(), probeMax);
        log(news ? Level.WARN : Level.DEBUG, why);
        Duration probeIn = circuit.view().map(Circuit.View::probeIn).orElse(Duration.ZERO);
        Duration aside = probeIn.plus(RelaySettings.STAND_ASIDE);
        Duration asked = asked(decision);
        lane.settler().keepWaiting(slot, asked.compareTo(aside) > 0 ? asked : aside, attempt - 1, failure.fault());
        handBackOthers();
    }

    /** The time that was asked for with the answer, as far as the policy lets it count; an hour at most for a last attempt. */
    private Duration asked(Decision decision) {
        Duration after = failure.after();
        if (after == null) {
            return Duration.ZERO;
        }
        if (decision instanceof Decision.TryAgain again) {
            return again.after();
        }
        return after.compareTo(RelaySettings.PAUSE_MAX) > 0 ? RelaySettings.PAUSE_MAX : after;
    }

    private void log(Level level, String next) {
        Fault fault = failure.fault();
        LOG.atLevel(level)
                .log(
                        "could not deliver message {} at position {} to subscription {}, attempt {}: {}: {}; {}",
                        id,
                        slot.position(),
                        subscription.name(),
                        attempt,
                        fault.errorClass(),
                        fault.message(),
                        next);
    }
}
