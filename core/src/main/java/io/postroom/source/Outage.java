package io.postroom.source;

import io.postroom.retry.Fault;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A time in which nothing can be applied, for no fault of a message: said when it begins, once a minute, and when it is over. */
final class Outage {
    private static final Logger LOG = LoggerFactory.getLogger(Outage.class);
    private static final long AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

    private final String consumer;
    private final String place;
    private boolean said;
    private long saidNanos;

    Outage(String consumer, String place) {
        this.consumer = consumer;
        this.place = place;
    }

    void goesOn(@Nullable Throwable thrown) {
        long now = System.nanoTime();
        if (!said || now - saidNanos > AGAIN_NANOS) {
            said = true;
            saidNanos = now;
            Fault fault = thrown == null ? Fault.of("unknown", "no reason was given") : Fault.of(thrown);
            LOG.warn(
                    "consumer {} cannot go on at {}: {}: {}; nothing is lost, it is tried again",
                    consumer,
                    place,
                    fault.errorClass(),
                    fault.message());
        }
    }

    void isOver() {
        if (said) {
            said = false;
            LOG.info("consumer {} goes on at {}", consumer, place);
        }
    }
}
