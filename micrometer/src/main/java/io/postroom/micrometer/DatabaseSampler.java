package io.postroom.micrometer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the database every so often and keeps what it found as gauges: lag, lanes, dead letters, jobs.
 *
 * <p>One for each process is enough, and one process of a system. No statement takes longer than {@link #STATEMENT_MAX}, and none counts
 * further than a limit. A look that fails makes all its gauges not a number, and {@code postroom.db.up} zero, until one succeeds; so does
 * a sampler that hangs. {@link #close} ends its thread and takes the gauges away. Thread-safe.
 */
public final class DatabaseSampler implements AutoCloseable {
    /** How often it looks. */
    public static final Duration EVERY = Duration.ofSeconds(15);

    public static final Duration STATEMENT_MAX = Duration.ofSeconds(2);

    /** Somebody who cannot even be told that the server is gone must not wait for ever. */
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);

    /** After so many looks without an answer nothing is known any more. */
    private static final int MISSED_MAX = 4;

    private static final Logger LOG = LoggerFactory.getLogger(DatabaseSampler.class);

    private final Postroom postroom;
    private final List<Reading> readings;
    private final MeterRegistry registry;
    private final SampledMeters meters;
    private final Gauge up;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "postroom-metrics");
        made.setDaemon(true);
        return made;
    });
    private volatile boolean succeeded;
    private volatile long succeededNanos;
    private boolean said;

    /** Looks at a schema of a database, and at what {@code more} reads besides. */
    public DatabaseSampler(DataSource source, String schema, MeterRegistry registry, List<Reading> more) {
        this.postroom = Postroom.builder(source)
                .schema(schema)
                .answerWithin(ANSWER_WITHIN)
                .statementMax(STATEMENT_MAX)
                .build();
        this.registry = registry;
        this.readings = new ArrayList<>(List.of(new CoreReading()));
        readings.addAll(more);
        this.meters = new SampledMeters(registry, this::isFresh);
        this.up = Gauge.builder("postroom.db.up", this, sampler -> sampler.isFresh() ? 1 : 0)
                .description("1 while the database can be read; the figures that come from it are not a number else.")
                .register(registry);
    }

    /** Begins at once and goes on until it is closed. */
    public void start() {
        thread.scheduleWithFixedDelay(this::look, 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Looks once, on the caller's thread. */
    public synchronized void look() {
        try {
            Figures figures = new Figures();
            readings.forEach(reading -> reading.read(postroom, figures));
            meters.show(figures);
            succeededNanos = System.nanoTime();
            succeeded = true;
            said = false;
        } catch (RuntimeException e) {
            // Whatever it is: an executor forgets a task that throws.
            succeeded = false;
            if (!said && !thread.isShutdown()) {
                said = true;
                LOG.warn(
                        "could not read the figures of schema {}: {}; they are not a number until it can be read again",
                        postroom.database().schema().name(),
                        e.getMessage(),
                        e instanceof PostroomException ? null : e);
            }
        }
    }

    private boolean isFresh() {
        return succeeded
                && System.nanoTime() - succeededNanos
                        < EVERY.multipliedBy(MISSED_MAX).toNanos();
    }

    @Override
    public void close() {
        thread.shutdownNow();
        synchronized (this) {
            meters.clear();
            registry.remove(up);
        }
    }
}
