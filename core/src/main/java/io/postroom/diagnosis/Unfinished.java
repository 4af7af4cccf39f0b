package io.postroom.diagnosis;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A message that did not go through at once: what its delivery says, and what that of its key's head does. */
final class Unfinished {
    private final Facts facts;
    private final DiagnosisTable.Target target;

    Unfinished(Facts facts) {
        this.facts = facts;
        this.target = facts.target();
    }

    Answer answer(DiagnosisTable.Delivery delivery) {
        List<Obstacles.Obstacle> obstacles = new Obstacles(facts).list();
        List<Reason> blocked =
                obstacles.stream().map(Obstacles.Obstacle::reason).toList();
        List<Reason> reasons = new ArrayList<>();
        switch (delivery.state()) {
            case "held" -> {
                return told(Verdict.STUCK, List.of(held(delivery)));
            }
            case "unreadable" -> {
                return told(Verdict.STUCK, List.of(unreadable(delivery)));
            }
            case "scheduled" -> {
                Instant dueAt = Objects.requireNonNull(delivery.dueAt());
                reasons.addAll(blocked);
                reasons.add(facts.isAhead(dueAt) ? 0 : blocked.size(), scheduled(dueAt));
            }
            case "parked" -> {
                DiagnosisTable.KeyHead head = facts.head();
                if (head != null && isStubborn(head)) {
                    return told(Verdict.STUCK, List.of(parked(head, "is parked")));
                }
                reasons.addAll(blocked);
                reasons.add(head == null ? nextInLine() : parked(head, "is parked"));
            }
            case "sending" -> {
                reasons.addAll(blocked);
                reasons.add(sending(delivery));
            }
            default -> {
                reasons.addAll(blocked);
                reasons.add(waiting(delivery));
            }
        }
        return told(Obstacles.worst(obstacles), reasons);
    }

    /** Whether only somebody's act can move the head of a key. */
    static boolean isStubborn(DiagnosisTable.KeyHead head) {
        return head.state().equals("held") || head.state().equals("unreadable");
    }

    Reason scheduled(Instant dueAt) {
        return Reason.because(
                        Code.SCHEDULED,
                        facts.isAhead(dueAt)
                                ? "is not to be delivered before " + Words.at(dueAt)
                                : "was scheduled for " + Words.at(dueAt) + " and is due")
                .fact("scheduledFor", dueAt)
                .next();
    }

    private Reason waiting(DiagnosisTable.Delivery delivery) {
        Instant dueAt = Objects.requireNonNull(delivery.dueAt());
        String when = facts.isAhead(dueAt) ? "the next attempt is at " + Words.at(dueAt) : "the next attempt is due";
        String what = delivery.attempts() == 0
                ? "has its turn"
                : "failed " + Words.count(delivery.attempts(), "time", "times")
                        + (delivery.error() == null ? "" : ", last with " + Words.error(delivery.error()));
        return withDelivery(Reason.because(Code.WAITING, what + "; " + when), delivery)
                .fact("nextAttemptAt", dueAt)
                .next(
                        facts.attempts().failed() > 0
                                ? new String[] {"postroom subscription show " + target.name()}
                                : new String[0]);
    }

    private Reason sending(DiagnosisTable.Delivery delivery) {
        Instant since = Objects.requireNonNull(delivery.sendingSince());
        return withDelivery(
                        Reason.because(
                                Code.SENDING,
                                "is being sent by relay " + delivery.sendingBy() + " for "
                                        + Words.length(facts.since(since)) + ", attempt "
                                        + Math.max(1, delivery.attempts())),
                        delivery)
                .fact("sendingSince", since)
                .fact("sendingBy", delivery.sendingBy())
                .next();
    }

    private Reason nextInLine() {
        return Reason.because(Code.PARKED, "was parked behind another message of its key, and is next in line")
                .next();
    }

    Reason parked(DiagnosisTable.KeyHead head, String how) {
        String which = head.messageId() == null ? "the message" : "message " + head.messageId();
        String[] next = head.deadLetter() != null && head.state().equals("held")
                ? new String[] {
                    "postroom deadletter show " + head.deadLetter(),
                    "postroom deadletter redrive " + head.deadLetter() + " --reason '…'"
                }
                : head.messageId() == null ? new String[0] : new String[] {"postroom why " + head.messageId()};
        return Reason.because(
                        Code.PARKED,
                        how + " behind " + which + " of its key at position " + head.position() + ", which "
                                + headState(head)
                                + (head.error() == null ? "" : ": " + Words.error(head.error())))
                .fact("headPosition", head.position())
                .fact(
                        "headMessage",
                        head.messageId() == null ? null : head.messageId().toString())
                .fact("headState", head.state())
                .fact("headAttempts", head.attempts())
                .fact("headDueAt", head.dueAt())
                .fact("headDeadLetter", head.deadLetter())
                .fact("headError", head.error() == null ? null : head.error().line())
                .next(next);
    }

    private String headState(DiagnosisTable.KeyHead head) {
        return switch (head.state()) {
            case "held" ->
                "was given up and holds the key until somebody decides (dead letter " + head.deadLetter() + ")";
            case "unreadable" -> "no relay so far can read";
            case "sending" -> "is being sent";
            default ->
                facts.isAhead(head.dueAt())
                        ? "is tried again at " + Words.at(Objects.requireNonNull(head.dueAt()))
                        : "is due";
        };
    }

    private Reason held(DiagnosisTable.Delivery delivery) {
        Long letter = Objects.requireNonNull(delivery.deadLetter());
        Optional<DiagnosisTable.Letter> whole =
                facts.letters().stream().filter(each -> each.id() == letter).findFirst();
        return withDelivery(
                        Reason.because(
                                Code.HELD,
                                "was given up after " + Words.count(delivery.attempts(), "attempt", "attempts")
                                        + " and holds its key until somebody decides: dead letter " + letter
                                        + whole.map(each -> ", " + Words.error(each.error()))
                                                .orElse("")),
                        delivery)
                .fact("deadLetter", letter)
                .fact("buriedAt", whole.map(DiagnosisTable.Letter::buriedAt).orElse(null))
                .next(
                        "postroom deadletter show " + letter,
                        "postroom deadletter redrive " + letter + " --reason '…'",
                        "postroom deadletter discard " + letter + " --reason '…'");
    }

    private Reason unreadable(DiagnosisTable.Delivery delivery) {
        if (delivery.error() != null && delivery.error().errorClass().equals("message.gone")) {
            return gone(delivery);
        }
        return withDelivery(
                        Reason.because(
                                Code.UNREADABLE,
                                "no relay so far can read it"
                                        + (delivery.error() == null ? "" : ": " + Words.error(delivery.error()))
                                        + "; it waits for one that can, and the later ones of its key with it"),
                        delivery)
                .fact("eventVersion", facts.message().eventVersion())
                .fact("since", delivery.createdAt())
                .next("postroom message versions");
    }

    /** No relay will ever be able to read it. */
    private Reason gone(DiagnosisTable.Delivery delivery) {
        return withDelivery(
                        Reason.because(
                                Code.UNREADABLE,
                                "its content is gone: the outbox partition that held it was dropped while it waited; the later ones of"
                                        + " its key wait behind it until it is skipped"),
                        delivery)
                .fact("since", delivery.createdAt())
                .next("postroom subscription skip " + target.name() + " --position " + facts.position()
                        + " --reason '…'");
    }

    private Reason.Draft withDelivery(Reason.Draft draft, DiagnosisTable.Delivery delivery) {
        DiagnosisTable.Attempts attempts = facts.attempts();
        Long redrivenFrom = delivery.state().equals("held") ? null : delivery.deadLetter();
        return draft.fact("position", facts.position())
                .fact("lane", target.lane().number())
                .fact("attempts", delivery.attempts())
                .fact("crashes", delivery.crashes() == 0 ? null : delivery.crashes())
                .fact("lastFailedAt", attempts.lastAt())
                .fact("lastFailedOn", attempts.node())
                .fact(
                        "error",
                        delivery.error() == null ? null : delivery.error().line())
                .fact("redrivenFrom", redrivenFrom);
    }

    private Answer told(Verdict verdict, List<Reason> reasons) {
        return new Answer(target.name(), verdict, reasons);
    }
}
