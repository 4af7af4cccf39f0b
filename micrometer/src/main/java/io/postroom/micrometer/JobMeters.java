package io.postroom.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/** What workers of this process do. Safe for use by many threads. */
final class JobMeters {
    private final PerValue<Counter> enqueued;
    private final PerValue<Counter> stale;
    private final Counter reaped;
    private final PerValue<Counter> missed;
    private final PerValue<PerValue<Timer>> waits;
    private final PerValue<PerValue<PerValue<Timer>>> runs;

    JobMeters(Meters meters) {
        enqueued = new PerValue<>(queue -> meters.counter(
                "postroom.jobs.enqueued",
                "Jobs inserted into transactions, which may have rolled back.",
                "queue",
                queue));
        stale = new PerValue<>(queue -> meters.counter(
                "postroom.jobs.stale",
                "Jobs that were taken away from their worker before it ended them.",
                "queue",
                queue));
        reaped = meters.counter("postroom.jobs.reaped", "Jobs that were taken away from workers that died or hang.");
        missed = new PerValue<>(schedule -> meters.counter(
                "postroom.schedules.missed",
                "Times of schedules that were left out, because no node saw them in time.",
                "schedule",
                schedule));
        waits = new PerValue<>(queue -> new PerValue<>(kind -> meters.timer(
                "postroom.jobs.wait", "From when a job was due to its claim.", "queue", queue, "kind", kind)));
        runs = new PerValue<>(queue -> new PerValue<>(kind -> {
            PerValue<Timer> outcomes = new PerValue<>(outcome -> meters.timer(
                    "postroom.jobs.run",
                    "Claims of jobs, from their beginning to their end.",
                    "queue",
                    queue,
                    "kind",
                    kind,
                    "outcome",
                    outcome));
            // From zero on: a counter that is seen first when it is one has not grown, and nobody would be told.
            outcomes.of("buried");
            return outcomes;
        }));
    }

    void worksOn(String queue, String kind) {
        stale.of(queue);
        runs.of(queue).of(kind);
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

    void missed(String schedule, long times) {
        missed.of(schedule).increment(times);
    }

    void waited(String queue, String kind, Duration waited) {
        waits.of(queue).of(kind).record(waited);
    }

    void ran(String queue, String kind, String outcome, Duration took) {
        runs.of(queue).of(kind).of(outcome).record(took);
    }
}
