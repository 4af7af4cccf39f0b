package io.postroom.micrometer;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One reading with its meters and its own freshness: what one cannot read says nothing about what others can. For the sampler's thread;
 * whether it is fresh, any may ask.
 */
final class SampledReading {
    /** After so many looks without an answer nothing is known any more. */
    private static final int MISSED_MAX = 4;

    private static final Logger LOG = LoggerFactory.getLogger(DatabaseSampler.class);

    private final Reading reading;
    private final Postroom postroom;
    private final SampledMeters meters;
    private volatile boolean succeeded;
    private volatile long succeededNanos;
    private boolean said;

    SampledReading(Reading reading, Postroom postroom, Meters meters) {
        this.reading = reading;
        this.postroom = postroom;
        this.meters = new SampledMeters(meters, this::isFresh);
    }

    /** {@code isClosed}: whoever closes the sampler interrupts it, and need not be told. */
    void look(BooleanSupplier isClosed) {
        try {
            Figures figures = new Figures();
            reading.read(postroom, figures);
            meters.show(figures);
            succeededNanos = System.nanoTime();
            succeeded = true;
            said = false;
        } catch (RuntimeException e) {
            // Whatever it is: an executor forgets a task that throws.
            succeeded = false;
            if (!said && !isClosed.getAsBoolean()) {
                said = true;
                LOG.warn(
                        "could not read figures of schema {}: {}; they are not a number until it can be read again",
                        postroom.database().schema().name(),
                        e.getMessage(),
                        e instanceof PostroomException ? null : e);
            }
        }
    }

    boolean isFresh() {
        Duration every = DatabaseSampler.EVERY;
        return succeeded
                && System.nanoTime() - succeededNanos
                        < every.multipliedBy(MISSED_MAX).toNanos();
    }

    void clear() {
        meters.clear();
    }
}
