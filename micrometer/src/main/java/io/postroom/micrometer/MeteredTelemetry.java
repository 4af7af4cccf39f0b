package io.postroom.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Counts and times what this process does. Give it to {@code Postroom.builder(…).telemetry(…)}.
 *
 * <p>Counts are those of the process and begin with it. Safe for use by many threads.
 */
public final class MeteredTelemetry implements Telemetry {
    /** Maintenance tells every hour. */
    private static final Duration HOURLY_STALE_AFTER = Duration.ofHours(2).plusMinutes(5);

    /** A relay tells at every beat. */
    private static final Duration BEAT_STALE_AFTER = Duration.ofMinutes(3);

    private final Meters meters;
    private final PerValue<SubscriptionMeters> subscriptions;
    private final JobMeters jobs;
    private final Counter published;
    private final PerValue<Timer> appended;
    private final Counter stamped;
    private final Counter restamped;
    private final Timer stamps;
    private final PerValue<PerValue<Counter>> inbox;
    private final PerValue<PerValue<Counter>> requests;
    private final PerValue<PerValue<Counter>> steps;
    private final PerValue<PerValue<Counter>> externalCalls;
    private final PerValue<Told> readModelAges;
    private final PerValue<Told> readModelLimits;
    private final PerValue<Told> hourly;
    private final PerValue<Told> archiveDays;

    /** Of the schema that is called {@code postroom}. */
    public MeteredTelemetry(MeterRegistry registry) {
        this(registry, Schema.POSTROOM.name());
    }

    /** Give it to the Postroom of that schema; each has its own. */
    public MeteredTelemetry(MeterRegistry registry, String schema) {
        meters = new Meters(registry, schema);
        subscriptions = new PerValue<>(name -> new SubscriptionMeters(meters, name));
        jobs = new JobMeters(meters);
        published = meters.counter(
                "postroom.outbox.published", "Messages inserted into transactions, which may have rolled back.");
        appended = new PerValue<>(
                outcome -> meters.timer("postroom.outbox.append", "Inserts of messages.", "outcome", outcome));
        stamped = meters.counter("postroom.journal.stamped", "Messages that were given a position by this process.");
        restamped =
                meters.counter("postroom.journal.restamped", "Messages that were given a position after a restore.");
        stamps = meters.timer("postroom.journal.stamp", "Stamps that found something.");
        inbox = counters(
                "postroom.inbox.messages", "Messages that an inbox answered.", "consumer", "outcome", "failed");
        requests =
                counters("postroom.idempotency.requests", "Requests under a key.", "operation", "outcome", "mismatch");
        steps = counters("postroom.idempotency.steps", "Steps that changed hands.", "operation", "event", "lost");
        externalCalls = counters("postroom.externalcall.calls", "Calls to others.", "call", "outcome", "parked");
        readModelAges = new PerValue<>(name ->
                readModel("postroom.readmodel.age", "The oldest message that a read model has not applied.", name));
        readModelLimits = new PerValue<>(name -> readModel("postroom.readmodel.age.max", "How old that may be.", name));
        hourly = new PerValue<>(name -> meters.told(
                name, null, "As the last round of maintenance in this process found it.", HOURLY_STALE_AFTER));
        archiveDays = new PerValue<>(state -> meters.told(
                "postroom.archive.days",
                null,
                "Days, as the last round of maintenance in this process found them.",
                HOURLY_STALE_AFTER,
                "state",
                state));
    }

    @Override
    public void serves(String subscription) {
        subscriptions.of(subscription);
    }

    @Override
    public void worksOn(String queue, String kind) {
        jobs.worksOn(queue, kind);
    }

    @Override
    public void published(int messages) {
        published.increment(messages);
    }

    @Override
    public void appended(String outcome, long tookNanos) {
        appended.of(outcome).record(tookNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void stamped(long messages, Duration took) {
        stamped.increment(messages);
        stamps.record(took);
    }

    @Override
    public void restamped(long messages) {
        restamped.increment(messages);
    }

    @Override
    public void delivered(String subscription, long messages) {
        subscriptions.of(subscription).delivered(messages);
    }

    @Override
    public void accepted(String subscription, int attempt, long tookNanos, long ageMillis) {
        subscriptions.of(subscription).accepted(attempt, tookNanos, ageMillis);
    }

    @Override
    public void failed(Failure failure) {
        subscriptions.of(failure.subscription()).failed(failure);
    }

    @Override
    public void buried(String subscription, String cause) {
        subscriptions.of(subscription).buried(cause);
    }

    @Override
    public void staleSettle(String subscription, int lane) {
        subscriptions.of(subscription).staleSettle();
    }

    @Override
    public void laneAcquired(String subscription, int lane, boolean takeover) {
        subscriptions.of(subscription).acquired(takeover);
    }

    @Override
    public void laneReleased(String subscription, int lane, boolean lost) {
        if (lost) {
            subscriptions.of(subscription).lost();
        }
    }

    @Override
    public void received(String consumer, String outcome, long messages) {
        // The conventions' words for ours.
        String word = outcome.equals("first") ? "processed" : outcome.equals("conflict") ? "failed" : outcome;
        inbox.of(consumer).of(word).increment(messages);
    }

    @Override
    public void externalCall(String name, String outcome) {
        externalCalls.of(name).of(outcome).increment();
    }

    @Override
    public void requested(String scope, String outcome) {
        requests.of(scope).of(outcome).increment();
    }

    @Override
    public void steps(String scope, String event) {
        steps.of(scope).of(event).increment();
    }

    @Override
    public void lapsedKeys(long keys) {
        hourly.of("postroom.idempotency.lapsed").tell(keys);
    }

    @Override
    public void enqueued(String queue, int count) {
        jobs.enqueued(queue, count);
    }

    @Override
    public void jobWaited(String queue, String kind, Duration waited) {
        jobs.waited(queue, kind, waited);
    }

    @Override
    public void jobRan(String queue, String kind, String outcome, Duration took) {
        jobs.ran(queue, kind, outcome, took);
    }

    @Override
    public void staleJob(String queue, String kind) {
        jobs.stale(queue);
    }

    @Override
    public void reaped(int count) {
        jobs.reaped(count);
    }

    @Override
    public void timesMissed(String schedule, long times) {
        jobs.missed(schedule, times);
    }

    @Override
    public void strays(boolean present) {
        hourly.of("postroom.outbox.strays").tell(present ? 1 : 0);
    }

    @Override
    public void archiveDays(long archived, long stuck, long undropped) {
        archiveDays.of("archived").tell(archived);
        archiveDays.of("stuck").tell(stuck);
        archiveDays.of("undropped").tell(undropped);
    }

    @Override
    public void readModelAge(String readModel, Duration age, Duration ageMax) {
        readModelAges.of(readModel).tell(age.toNanos() / 1e9);
        readModelLimits.of(readModel).tell(ageMax.toNanos() / 1e9);
    }

    private Told readModel(String name, String description, String readModel) {
        return meters.told(name, "seconds", description, BEAT_STALE_AFTER, "read.model", readModel);
    }

    /** {@code alarming} is there from zero on: a counter that is seen first when it is one has not grown, and nobody would be told. */
    private PerValue<PerValue<Counter>> counters(
            String name, String description, String first, String second, String alarming) {
        return new PerValue<>(one -> {
            PerValue<Counter> counters =
                    new PerValue<>(two -> meters.counter(name, description, first, one, second, two));
            counters.of(alarming);
            return counters;
        });
    }
}
