package io.postroom.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** What keeps a whole lane from being delivered, the outermost first: behind a pause nobody looks at a circuit. */
final class Obstacles {
    /** A live relay takes a lane over within a beat; after this time something is wrong. */
    private static final Duration TAKEOVER_MAX = Duration.ofMinutes(1);

    private final Facts facts;
    private final DiagnosisTable.Target target;
    private final DiagnosisTable.Lane lane;

    Obstacles(Facts facts) {
        this.facts = facts;
        this.target = facts.target();
        this.lane = target.lane();
    }

    /** A reason, and what it alone would mean. */
    record Obstacle(Reason reason, Verdict verdict) {}

    List<Obstacle> list() {
        List<Obstacle> found = new ArrayList<>();
        if (target.isServedElsewhere()) {
            found.add(new Obstacle(servedElsewhere(), Verdict.ON_ITS_WAY));
        } else if (target.pause() != null) {
            found.add(new Obstacle(paused(target.pause()), Verdict.STUCK));
        } else if (target.lanesWanted() != null) {
            found.add(new Obstacle(
                    lanesChanging(target.lanesWanted()),
                    target.relays().count() == 0 ? Verdict.STUCK : Verdict.ON_ITS_WAY));
        } else if (target.drainUntil() != null) {
            found.add(new Obstacle(lanesMoving(target.drainUntil()), Verdict.ON_ITS_WAY));
        } else if (target.relays().count() == 0) {
            found.add(new Obstacle(noRelay(), Verdict.STUCK));
        } else if (!lane.leased()) {
            Instant until = lane.leasedUntil();
            boolean late = until != null && facts.since(until).compareTo(TAKEOVER_MAX) > 0;
            found.add(new Obstacle(withoutOwner(), late ? Verdict.STUCK : Verdict.ON_ITS_WAY));
        } else if (target.circuit() != null) {
            found.add(new Obstacle(circuitOpen(target.circuit()), Verdict.STUCK));
        }
        Long resumeAt = lane.resumeAt();
        if (resumeAt != null && lane.replayTo() != null && facts.position() > resumeAt) {
            found.add(new Obstacle(replaying(lane.replayTo(), resumeAt), Verdict.ON_ITS_WAY));
        }
        return found;
    }

    private Reason servedElsewhere() {
        return Reason.because(
                        Code.SERVED_ELSEWHERE,
                        "subscription " + target.name() + " is served by " + target.servedBy()
                                + ": a source brings it from there; what has taken effect is in the inbox, what failed among the dead"
                                + " letters")
                .fact("servedBy", target.servedBy())
                .next("postroom deadletter list --subscription " + target.name());
    }

    private Reason paused(DiagnosisTable.Pause pause) {
        return Reason.because(
                        Code.PAUSED,
                        "subscription " + target.name() + " is paused since " + Words.at(pause.at()) + " by "
                                + pause.by() + ": " + pause.reason())
                .fact("pausedAt", pause.at())
                .fact("pausedFor", facts.since(pause.at()))
                .fact("pausedBy", pause.by())
                .fact("pauseReason", pause.reason())
                .next("postroom subscription resume " + target.name() + " --reason '…'");
    }

    private Reason lanesChanging(int wanted) {
        int busy = target.relays().lanesBusy();
        return Reason.because(
                        Code.LANES_CHANGING,
                        "the number of lanes is about to change from " + target.lanes() + " to " + wanted + "; "
                                + (busy == 0
                                        ? "a relay makes the change at its next beat"
                                        : Words.count(busy, "lane is", "lanes are") + " still to be given back"))
                .fact("lanes", target.lanes())
                .fact("lanesWanted", wanted)
                .fact("lanesBusy", busy)
                .fact("relays", target.relays().count())
                .next("postroom lane list --subscription " + target.name());
    }

    private Reason lanesMoving(Instant until) {
        return Reason.because(
                        Code.LANES_CHANGING,
                        "an operator is about to move the lanes of subscription " + target.name()
                                + ": relays give them back, until " + Words.at(until) + " at most")
                .fact("until", until)
                .fact("lanesBusy", target.relays().lanesBusy())
                .next("postroom lane list --subscription " + target.name());
    }

    private Reason noRelay() {
        DiagnosisTable.JournalEnd end = facts.end();
        Instant until = end.lastRelayUntil();
        return Reason.because(
                        Code.NO_RELAY,
                        "no live relay serves subscription " + target.name()
                                + (end.relays() > 0
                                        ? "; "
                                                + Words.count(
                                                        end.relays(),
                                                        "relay is alive, but serves none of its lanes",
                                                        "relays are alive, but serve none of its lanes")
                                        : until == null
                                                ? "; none is known"
                                                : "; the last one was heard of until " + Words.at(until)))
                .fact("relaysAlive", end.relays())
                .fact("lastRelay", end.lastRelay())
                .fact("lastRelayUntil", until)
                .next("postroom lane list --subscription " + target.name(), "postroom relay --config relay.yaml");
    }

    private Reason withoutOwner() {
        Instant until = lane.leasedUntil();
        String whose = lane.owner() == null ? "a relay that is gone" : "relay " + lane.owner();
        return Reason.because(
                        Code.LANE_WITHOUT_OWNER,
                        lane.label() + " has no owner: "
                                + (until == null
                                        ? "nobody has taken it yet"
                                        : whose + " had it, whose lease ran out at " + Words.at(until))
                                + "; " + Words.count(target.relays().count(), "live relay takes", "live relays take")
                                + " it within a beat (" + target.relays().names() + ")")
                .fact("lane", lane.number())
                .fact("lastOwner", until == null ? null : whose)
                .fact("leasedUntil", until)
                .fact("withoutOwnerFor", until == null ? null : facts.since(until))
                .fact("relaysServing", target.relays().names())
                .next("postroom lane list --subscription " + target.name());
    }

    private Reason circuitOpen(DiagnosisTable.OpenCircuit circuit) {
        String relay = Objects.requireNonNullElse(lane.owner(), "?");
        return Reason.because(
                        Code.CIRCUIT_OPEN,
                        "the destination takes nothing: relay " + relay + " has its circuit open since "
                                + Words.at(circuit.openedAt()) + ", next probe at " + Words.at(circuit.probeAt())
                                + "; " + Words.error(circuit.error()))
                .fact("relay", relay)
                .fact("openedAt", circuit.openedAt())
                .fact("openFor", facts.since(circuit.openedAt()))
                .fact("failures", circuit.failures())
                .fact("nextProbeAt", circuit.probeAt())
                .fact("errorClass", circuit.error().errorClass())
                .fact("error", circuit.error().message())
                .next("postroom subscription show " + target.name());
    }

    private Reason replaying(long to, long resumeAt) {
        return Reason.because(
                        Code.REPLAYING,
                        lane.label() + " replays older messages first: it is at position " + lane.position()
                                + ", replays up to " + to + " and then goes on after " + resumeAt)
                .fact("lane", lane.number())
                .fact("lanePosition", lane.position())
                .fact("replayTo", to)
                .fact("resumeAt", resumeAt)
                .next("postroom subscription show " + target.name());
    }

    /** What they mean together; without any, a message is on its way. */
    static Verdict worst(List<Obstacle> obstacles) {
        return obstacles.stream().map(Obstacle::verdict).min(Verdict::compareTo).orElse(Verdict.ON_ITS_WAY);
    }
}
