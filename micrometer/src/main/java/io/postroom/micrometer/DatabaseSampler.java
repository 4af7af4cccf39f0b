package io.postroom.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.postroom.Postroom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/**
 * Looks at the database every so often and keeps what it found as gauges: lag, lanes, dead letters, jobs.
 *
 * <p>One for each schema and process is enough, and one process of a system. No statement takes longer than {@link #STATEMENT_MAX}, and
 * none counts further than a limit. A reading that fails makes its own gauges not a number until it succeeds, and no others; so does a
 * sampler that hangs. If it is the first one, of lag and lanes, {@code postroom.db.up} is zero. {@link #close} ends its thread and takes
 * the gauges away. Thread-safe.
 */
public final class DatabaseSampler implements AutoCloseable {
    /** How often it looks. */
    public static final Duration EVERY = Duration.ofSeconds(15);

    public static final Duration STATEMENT_MAX = Duration.ofSeconds(2);

    /** Somebody who cannot even be told that the server is gone must not wait for ever. */
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

    private final Postroom postroom;
    private final List<SampledReading> readings;
    private final MeterRegistry registry;
    private final Gauge up;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "postroom-metrics");
        made.setDaemon(true);
        return made;
    });

    /** Looks at a schema of a database, and at what {@code more} reads besides. */
    public DatabaseSampler(DataSource source, String schema, MeterRegistry registry, List<Reading> more) {
        this.postroom = Postroom.builder(source)
                .schema(schema)
                .answerWithin(ANSWER_WITHIN)
                .statementMax(STATEMENT_MAX)
                .build();
        this.registry = registry;
        Meters meters = new Meters(registry, schema);
        SampledReading core = new SampledReading(new CoreReading(), postroom, meters);
        this.readings = new ArrayList<>(List.of(
                core,
                new SampledReading(new RedriveReading(), postroom, meters),
                new SampledReading(new JobReading(), postroom, meters)));
        more.forEach(reading -> readings.add(new SampledReading(reading, postroom, meters)));
        this.up = Gauge.builder("postroom.db.up", core, reading -> reading.isFresh() ? 1 : 0)
                .description("1 while the database can be read; the figures that come from it are not a number else.")
                .tags(meters.tags(Tags.empty()))
                .register(registry);
    }

    /** Begins at once and goes on until it is closed. */
    public void start() {
        thread.scheduleWithFixedDelay(this::look, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Looks once, on the caller's thread. */
    public synchronized void look() {
        for (SampledReading reading : readings) {
            if (!thread.isShutdown()) {
                reading.look(thread::isShutdown);
            }
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
        synchronized (this) {
            readings.forEach(SampledReading::clear);
            registry.remove(up);
        }
    }
}
