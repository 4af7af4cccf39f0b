package io.postroom.source;

import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The attempts at one message that failed, and what is to become of it. For one thread. */
final class Trial {
    /** So many of the last attempts are kept. */
    private static final int HISTORY_MAX = 100;

    static final String CRASHED = "crashed";

    private final RetryPolicy policy;
    private final String node;
    private final List<Map<String, Object>> history = new ArrayList<>();
    private int attempts;

    Trial(RetryPolicy policy, String node, int attempts) {
        this.policy = policy;
        this.node = node;
        this.attempts = attempts;
    }

    /** What was decided about an attempt, and why it failed. */
    record Verdict(Decision decision, Fault fault, String word) {}

    /** How many attempts count against the message. */
    int attempts() {
        return attempts;
    }

    /** Counts an attempt that failed, unless it was not the message's fault. */
    Verdict judge(Throwable thrown, Duration took) {
        Outcome outcome = thrown instanceof OutcomeException known && !(known.outcome() instanceof Outcome.Accepted)
                ? known.outcome()
                : new Outcome.Retry(Fault.of(thrown), null);
        Verdict verdict = judge(outcome);
        if (!(verdict.decision() instanceof Decision.Unavailable)) {
            attempts++;
            note(verdict, took);
        }
        return verdict;
    }

    /** The verdict if the attempts so far, none of which came to an end, are all that it has. */
    Optional<Verdict> crashed() {
        if (attempts == 0) {
            return Optional.empty();
        }
        Fault fault = Fault.of(
                "crash", "the process that had its partition ended, or lost the partition, during attempt " + attempts);
        Verdict verdict = new Verdict(policy.decide(fault, attempts, null), fault, CRASHED);
        if (!(verdict.decision() instanceof Decision.GiveUp)) {
            return Optional.empty();
        }
        note(verdict, Duration.ZERO);
        return Optional.of(verdict);
    }

    private Verdict judge(Outcome outcome) {
        int now = attempts + 1;
        if (outcome instanceof Outcome.Rejected rejected) {
            Fault fault = rejected.fault();
            Supplier<Decision> never = () -> new Decision.GiveUp("it was rejected", true);
            return new Verdict(policy.overrule(fault, now, null).orElseGet(never), fault, "rejected");
        }
        if (outcome instanceof Outcome.Unavailable unavailable) {
            Fault fault = unavailable.fault();
            @Nullable Duration after = unavailable.after();
            Decision decision = policy.overrule(fault, now, after).orElseGet(Decision.Unavailable::new);
            return new Verdict(decision, fault, "unavailable");
        }
        Outcome.Retry retry = (Outcome.Retry) outcome;
        return new Verdict(policy.decide(retry.fault(), now, retry.after()), retry.fault(), "retry");
    }

    private void note(Verdict verdict, Duration took) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("attempt", attempts);
        entry.put("at", Instant.now().toString());
        entry.put("seconds", took.toNanos() / 1e9);
        entry.put("node", node);
        entry.put("outcome", verdict.word());
        entry.put("errorClass", verdict.fault().errorClass());
        entry.put("error", verdict.fault().message());
        entry.put("fingerprint", verdict.fault().fingerprint());
        history.add(entry);
        if (history.size() > HISTORY_MAX) {
            history.remove(0);
        }
    }

    /** As dead letters have it. */
    String history() {
        return JsonMapper.shared().writeValueAsString(history);
    }
}
