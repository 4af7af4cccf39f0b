package io.postroom.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The meters of one subscription: found once for it, so that a message costs no search by tags. Safe for use by many threads. */
final class SubscriptionMeters {
    /** Those of OpenTelemetry's conventions for messaging, in milliseconds, and what a backlog is like. */
    private static final Duration[] AGES = durations(
            5, 10, 25, 50, 75, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000, 30_000, 60_000, 300_000);

    private final Meters meters;
    private final String subscription;
    private final Counter delivered;
    private final Counter retries;
    private final Timer accepted;
    private final Timer commitToAck;
    private final Counter acquired;
    private final Counter takeovers;
    private final Counter lost;
    private final Counter staleSettles;
    private final PerValue<PerValue<Counter>> failures = new PerValue<>(type -> new PerValue<>(
            reason -> counter("failures", "Attempts that failed.", "event.type", type, "reason", reason)));
    private final PerValue<PerValue<Timer>> failed =
            new PerValue<>(outcome -> new PerValue<>(error -> deliveryTimer(outcome, error)));
    private final PerValue<Counter> buried;

    SubscriptionMeters(Meters meters, String subscription) {
        this.meters = meters;
        this.subscription = subscription;
        delivered = counter("delivered", "Messages that a sink, a handler or a projection has taken.");
        retries = counter("retries", "Attempts after the first one of a message.");
        accepted = deliveryTimer("accepted", "none");
        commitToAck = meters.histogram(
                "postroom.relay.commit.to.ack",
                "From when a message occurred, or could go first, to when it was taken. Without replays and redrives.",
                AGES,
                "subscription",
                subscription);
        acquired = counter("lanes.acquired", "Lanes that this process has taken.");
        takeovers = counter("lanes.takeovers", "Lanes that it took because their relay let the lease run out.");
        lost = counter("lanes.lost", "Lanes that it lost.");
        staleSettles = counter("stale.settles", "Positions that it wanted to write and that were no longer its own.");
        buried = new PerValue<>(reason -> meters.counter(
                "postroom.deadletter.added",
                "Messages that were given up.",
                "subscription",
                subscription,
                "reason",
                reason));
        // From zero on: a counter that is seen first when it is one has not grown, and nobody would be told.
        List.of("rejected", "exhausted", "crashed").forEach(buried::of);
    }

    void delivered(long messages) {
        delivered.increment(messages);
    }

    void accepted(int attempt, long tookNanos, long ageMillis) {
        accepted.record(tookNanos, TimeUnit.NANOSECONDS);
        if (ageMillis >= 0) {
            commitToAck.record(ageMillis, TimeUnit.MILLISECONDS);
        }
        if (attempt > 1) {
            retries.increment();
        }
    }

    void failed(Telemetry.Failure failure) {
        failures.of(failure.eventType()).of(failure.reason()).increment();
        failed.of(failure.reason()).of(failure.errorClass()).record(failure.tookNanos(), TimeUnit.NANOSECONDS);
        if (failure.attempt() > 1) {
            retries.increment();
        }
    }

    void buried(String reason) {
        buried.of(reason).increment();
    }

    void acquired(boolean takeover) {
        acquired.increment();
        if (takeover) {
            takeovers.increment();
        }
    }

    void lost() {
        lost.increment();
    }

    void staleSettle() {
        staleSettles.increment();
    }

    private Timer deliveryTimer(String outcome, String errorType) {
        return meters.timer(
                "postroom.relay.delivery",
                "Attempts, from handing over to the answer.",
                "subscription",
                subscription,
                "outcome",
                outcome,
                "error.type",
                errorType);
    }

    private Counter counter(String name, String description, String... tags) {
        String[] all = Stream.concat(Stream.of("subscription", subscription), Stream.of(tags))
                .toArray(String[]::new);
        return meters.counter("postroom.relay." + name, description, all);
    }

    private static Duration[] durations(long... millis) {
        return Arrays.stream(millis).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
    }
}
