package io.postroom.diagnosis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One message and one subscription: the facts, and what follows from them. Decides; asks nobody. */
final class Case {
    private final Facts facts;
    private final DiagnosisTable.Target target;
    private final DiagnosisTable.Lane lane;
    private final long position;
    private final Unfinished waiting;

    Case(Facts facts) {
        this.facts = facts;
        this.target = facts.target();
        this.lane = target.lane();
        this.position = facts.position();
        this.waiting = new Unfinished(facts);
    }

    Answer answer() {
        DiagnosisTable.Delivery delivery = facts.delivery();
        if (delivery != null) {
            return waiting.answer(delivery);
        }
        DiagnosisTable.Letter letter =
                facts.letters().isEmpty() ? null : facts.letters().get(0);
        if (letter != null && letter.isOpen()) {
            return answer(Verdict.STUCK, List.of(deadLetter(letter)));
        }
        if (letter != null && Objects.equals(letter.resolution(), "discarded")) {
            return answer(Verdict.DONE, List.of(discarded(letter)));
        }
        Optional<Reason> unwanted = filteredOut(facts.message(), target);
        if (unwanted.isPresent()) {
            return answer(Verdict.DONE, List.of(unwanted.get()));
        }
        if (isBeyondCopy()) {
            return answer(Verdict.DONE, List.of(beyondCopy()));
        }
        return isPast() ? answer(Verdict.DONE, List.of(past())) : ahead();
    }

    /** Which part of a filter leaves a message out. */
    static Optional<Reason> filteredOut(Found message, DiagnosisTable.Target target) {
        DiagnosisTable.Filter filter = target.filter();
        if (isOut(filter.aggregateTypes(), message.key().aggregateType())) {
            return Optional.of(filteredOut(
                    target,
                    "aggregate types",
                    filter.aggregateTypes(),
                    message.key().aggregateType()));
        }
        if (isOut(filter.eventTypes(), message.eventType())) {
            return Optional.of(filteredOut(target, "event types", filter.eventTypes(), message.eventType()));
        }
        if (isOut(filter.tenants(), message.key().tenantId())) {
            return Optional.of(filteredOut(
                    target, "tenants", filter.tenants(), message.key().tenantId()));
        }
        return Optional.empty();
    }

    private static boolean isOut(@Nullable List<String> wanted, @Nullable String value) {
        return wanted != null && (value == null || !wanted.contains(value));
    }

    private static Reason filteredOut(
            DiagnosisTable.Target target, String part, @Nullable List<String> wanted, @Nullable String value) {
        String names = Words.some(Objects.requireNonNull(wanted));
        return Reason.because(
                        Code.FILTERED_OUT,
                        "subscription " + target.name() + " does not want it: its filter names the " + part + " "
                                + names + ", and this is " + (value == null ? "of none" : value))
                .fact("filter", part)
                .fact("wanted", names)
                .fact("value", value == null ? "none" : value)
                .next("postroom subscription list");
    }

    private boolean isBeyondCopy() {
        Long end = lane.replayTo() == null ? Long.valueOf(lane.position()) : lane.replayTo();
        return target.copyOf() != null && position > end;
    }

    private Reason beyondCopy() {
        return Reason.because(
                        Code.BEYOND_COPY,
                        "subscription " + target.name() + " is a copy of " + target.copyOf()
                                + " that ends before this message")
                .fact("copyOf", target.copyOf())
                .fact("endsAt", lane.replayTo() == null ? lane.position() : lane.replayTo())
                .next();
    }

    /** Whether the lane has passed the message: now, before its number changed, or before it was moved back to replay. */
    private boolean isPast() {
        Long former = target.formerPosition();
        Long resumeAt = target.copyOf() == null ? lane.resumeAt() : null;
        return position <= lane.position()
                || former != null && position <= former
                || resumeAt != null && position <= resumeAt;
    }

    private Reason past() {
        boolean wasTried = facts.attempts().failed() > 0 || !facts.letters().isEmpty();
        DiagnosisTable.Skip skip = facts.skip();
        if (!wasTried && skip != null) {
            return withLane(Reason.because(
                            Code.SKIPPED,
                            (skip.surely() ? "was skipped and never sent: " : "may have been skipped and never sent: ")
                                    + skip.actor() + " moved the subscription past it at " + Words.at(skip.at()) + " ("
                                    + skip.reason() + ")"))
                    .fact("skippedAt", skip.at())
                    .fact("skippedBy", skip.actor())
                    .fact("skipReason", skip.reason())
                    .fact("surely", skip.surely())
                    .next("postroom subscription show " + target.name());
        }
        if (!wasTried && position <= target.beganAfter()) {
            return withLane(Reason.because(
                            Code.BEFORE_BEGIN,
                            "was there before subscription " + target.name() + " began, after position "
                                    + target.beganAfter() + ": only a replay sends it"))
                    .fact("beganAfter", target.beganAfter())
                    .next("postroom subscription replay " + target.name() + " --from " + position + " --to " + position
                            + " --dry-run");
        }
        return delivered();
    }

    private Reason delivered() {
        DiagnosisTable.Attempts attempts = facts.attempts();
        DiagnosisTable.Letter letter =
                facts.letters().isEmpty() ? null : facts.letters().get(0);
        boolean again = lane.replayTo() != null && position > lane.position() && position <= lane.replayTo();
        DiagnosisTable.Settlement accepted = attempts.accepted();
        // A message that had to wait was passed by its lane before it was delivered.
        DiagnosisTable.Settlement settled = attempts.failed() == 0 && letter == null ? facts.settlement() : null;
        Reason.Draft draft = Reason.because(
                Code.DELIVERED,
                "was delivered"
                        + (accepted != null
                                ? " at " + Words.at(accepted.at()) + " by relay " + accepted.node()
                                : settled == null
                                        ? ""
                                        : " by relay " + settled.node() + ", no later than " + Words.at(settled.at()))
                        + (attempts.failed() == 0
                                ? ""
                                : " after "
                                        + Words.count(attempts.failed(), "attempt that failed", "attempts that failed"))
                        + (letter == null ? "" : ", redriven by " + letter.resolvedBy())
                        + ": " + lane.label() + " is at position " + lane.position()
                        + (again
                                ? " of a replay up to " + lane.replayTo() + ", and it will be sent again"
                                : position <= lane.position() ? ", past it" : ", and was past it before"));
        return withLane(draft)
                .fact("deliveredAt", accepted == null ? null : accepted.at())
                .fact("deliveredAfter", accepted == null ? earliest(letter) : null)
                .fact("deliveredBefore", accepted != null || settled == null ? null : settled.at())
                .fact("deliveredBy", accepted != null ? accepted.node() : settled == null ? null : settled.node())
                .fact("attemptsFailed", attempts.failed() == 0 ? null : attempts.failed())
                .fact("lastFailedAt", attempts.lastAt())
                .fact(
                        "lastError",
                        attempts.error() == null ? null : attempts.error().line())
                .fact("redrivenFrom", letter == null ? null : letter.id())
                .fact("redrivenAt", letter == null ? null : letter.resolvedAt())
                .next();
    }

    private @Nullable Instant earliest(DiagnosisTable.@Nullable Letter letter) {
        if (letter != null) {
            return letter.resolvedAt();
        }
        Instant failedAt = facts.attempts().lastAt();
        return failedAt == null ? facts.message().stampedAt() : failedAt;
    }

    private Answer ahead() {
        List<Obstacles.Obstacle> obstacles = new Obstacles(facts).list();
        List<Reason> reasons = new ArrayList<>();
        obstacles.forEach(each -> reasons.add(each.reason()));
        Verdict verdict = Obstacles.worst(obstacles);
        if (target.isServedElsewhere()) {
            // Its lanes stand still, and say nothing.
            return answer(verdict, reasons);
        }
        Instant availableAt = facts.message().availableAt();
        if (facts.isAhead(availableAt)) {
            reasons.add(waiting.scheduled(Objects.requireNonNull(availableAt)));
        }
        DiagnosisTable.KeyHead head = facts.head();
        if (target.ordered() && head != null) {
            reasons.add(0, waiting.parked(head, "will be parked when its lane gets there,"));
            if (!Unfinished.isStubborn(head)) {
                // The head moves once the lane does.
                reasons.add(reasons.remove(0));
            } else {
                verdict = Verdict.STUCK;
            }
        }
        reasons.add(behind());
        return answer(verdict, reasons);
    }

    private Reason behind() {
        long before = position - lane.position();
        Instant waitingSince = lane.waitingSince();
        return withLane(Reason.because(
                        Code.AHEAD,
                        lane.label() + " is at position " + lane.position() + ", "
                                + Words.count(before, "position", "positions") + " before it"
                                + (lane.leased() && lane.owner() != null ? "; relay " + lane.owner() + " has it" : "")))
                .fact("positionsBefore", before)
                .fact("laneLag", Math.max(0, facts.end().position() - lane.position()))
                .fact("laneWaitsFor", waitingSince == null ? null : facts.since(waitingSince))
                .next("postroom lane list --subscription " + target.name());
    }

    private Reason deadLetter(DiagnosisTable.Letter letter) {
        return Reason.because(
                        Code.DEAD_LETTER,
                        "was given up (" + letter.cause() + ") after "
                                + Words.count(letter.attempts(), "attempt", "attempts") + ": dead letter " + letter.id()
                                + ", open since " + Words.at(letter.buriedAt()) + ", " + Words.error(letter.error()))
                .fact("deadLetter", letter.id())
                .fact("cause", letter.cause())
                .fact("attempts", letter.attempts())
                .fact("buriedAt", letter.buriedAt())
                .fact("buriedBy", letter.buriedBy())
                .fact("errorClass", letter.error().errorClass())
                .fact("error", letter.error().message())
                .next(
                        "postroom deadletter show " + letter.id(),
                        "postroom deadletter redrive " + letter.id() + " --dry-run",
                        "postroom deadletter redrive " + letter.id() + " --reason '…'");
    }

    private Reason discarded(DiagnosisTable.Letter letter) {
        boolean skipped = letter.cause().equals("skipped");
        return Reason.because(
                        skipped ? Code.SKIPPED : Code.DISCARDED,
                        (skipped ? "was skipped by " : "was given up and then discarded by ") + letter.resolvedBy()
                                + " at " + Words.at(Objects.requireNonNull(letter.resolvedAt())) + ": dead letter "
                                + letter.id())
                .fact("deadLetter", letter.id())
                .fact("discardedAt", letter.resolvedAt())
                .fact("discardedBy", letter.resolvedBy())
                .fact("error", letter.error().line())
                .next("postroom deadletter show " + letter.id());
    }

    private Reason.Draft withLane(Reason.Draft draft) {
        return draft.fact("lane", lane.number())
                .fact("lanePosition", lane.position())
                .fact("position", position)
                .fact("owner", lane.leased() ? lane.owner() : null);
    }

    private Answer answer(Verdict verdict, List<Reason> reasons) {
        return new Answer(target.name(), verdict, reasons);
    }
}
