package io.postroom.testkit;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/**
 * A sink that lets a {@link CrashPoint} be reached before a message has its effect, or after the effect but before the answer.
 *
 * <p>Everything else is left to the sink behind it. Safe for use by many threads if that one is.
 */
public final class CrashingSink implements Sink {
    private final Sink behind;
    private final List<Rule> before = new CopyOnWriteArrayList<>();
    private final List<Rule> after = new CopyOnWriteArrayList<>();

    public CrashingSink(Sink behind) {
        this.behind = Objects.requireNonNull(behind, "behind");
    }

    private record Rule(Predicate<? super Envelope> which, CrashPoint point) {
        void passed(Envelope envelope) {
            if (which.test(envelope)) {
                point.reach();
            }
        }
    }

    /** Reaches the point before the sink behind gets a message that fits. */
    public CrashingSink before(Predicate<? super Envelope> which, CrashPoint point) {
        before.add(new Rule(which, point));
        return this;
    }

    /** Reaches the point when the sink behind has accepted a message that fits, before anybody hears of it. */
    public CrashingSink after(Predicate<? super Envelope> which, CrashPoint point) {
        after.add(new Rule(which, point));
        return this;
    }

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        before.forEach(rule -> rule.passed(envelope));
        CompletionStage<Outcome> answer = behind.send(envelope);
        return after.isEmpty()
                ? answer
                : answer.thenApply(outcome -> {
                    if (outcome instanceof Outcome.Accepted) {
                        after.forEach(rule -> rule.passed(envelope));
                    }
                    return outcome;
                });
    }

    @Override
    public void flush() {
        behind.flush();
    }

    @Override
    public void close() {
        behind.close();
    }
}
