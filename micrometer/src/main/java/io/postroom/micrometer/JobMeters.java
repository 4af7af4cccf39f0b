package io.postroom.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** What workers of this process do. Safe for use by many threads. */
final class JobMeters {
    private final PerValue<Counter> enqueued;
    private final PerValue<Counter> stale;
    private final Counter reaped;
    private final PerValue<PerValue<Timer>> waits;
    private final PerValue<PerValue<PerValue<Timer>>> runs;

    JobMeters(MeterRegistry registry) {
        enqueued = new PerValue<>(queue -> Counter.builder("postroom.jobs.enqueued")
                .description("Jobs inserted into transactions, which may have rolled back.")
                .tag("queue", queue)
                .register(registry));
        stale = new PerValue<>(queue -> Counter.builder("postroom.jobs.stale")
                .description("Jobs that were taken away from their worker before it ended them.")
                .tag("queue", queue)
                .register(registry));
        reaped = Counter.builder("postroom.jobs.reaped")
                .description("Jobs that were taken away from workers that died or hang.")
                .register(registry);
        waits = new PerValue<>(queue -> new PerValue<>(kind -> Timer.builder("postroom.jobs.wait")
                .description("From when a job was due to its claim.")
                .tags("queue", queue, "kind", kind)
                .register(registry)));
        runs = new PerValue<>(queue -> new PerValue<>(kind -> {
            PerValue<Timer> outcomes = new PerValue<>(outcome -> Timer.builder("postroom.jobs.run")
                    .description("Claims of jobs, from their beginning to their end.")
                    .tags("queue", queue, "kind", kind, "outcome", outcome)
                    .register(registry));
            // From zero on: a counter that is seen first when it is one has not grown, and nobody would be told.
            outcomes.of("buried");
            return outcomes;
        }));
    }

    void enqueued(String queue, int jobs) {
        enqueued.of(queue).increment(jobs);
    }

    void stale(String queue) {
        stale.of(queue).increment();
    }

    void reaped(int jobs) {
        reaped.increment(jobs);
    }

    void waited(String queue, String kind, Duration waited) {
        waits.of(queue).of(kind).record(waited);
    }

    void ran(String queue, String kind, String outcome, Duration took) {
        runs.of(queue).of(kind).of(outcome).record(took);
    }
}
