package io.postroom.inbox;

import io.postroom.PostroomException;
import java.time.Duration;

/**
 * How long a consumer's messages are remembered after they were accepted, and for how long after that its source may bring them again.
 *
 * <p>A message that comes again after it was forgotten takes effect twice, so the one is never shorter than the other.
 */
public record Retention(Duration kept, Duration redelivery) {
    public static final Duration KEPT_MIN = Duration.ofHours(1);
    public static final Duration KEPT_MAX = Duration.ofDays(366);

    /** Eight days: a day more than Kafka keeps its records unless told otherwise. */
    public static final Retention USUAL = new Retention(Duration.ofDays(8), Duration.ofDays(7));

    public Retention {
        if (kept.compareTo(KEPT_MIN) < 0 || kept.compareTo(KEPT_MAX) > 0) {
            throw new PostroomException(
                    "inbox.retention-invalid",
                    "could not use retention " + kept + ": the range is " + KEPT_MIN + " to " + KEPT_MAX
                            + "; choose how long messages are remembered");
        }
        if (redelivery.isNegative()) {
            throw new PostroomException(
                    "inbox.redelivery-invalid",
                    "could not use redelivery window " + redelivery
                            + ": the least is zero; say how long the source may bring a message again");
        }
        if (kept.compareTo(redelivery) < 0) {
            throw new PostroomException(
                    "inbox.retention-too-short",
                    "could not use retention " + kept + ": the source may bring messages again for " + redelivery
                            + ", and one that comes after it was forgotten takes effect twice; keep them for at least that"
                            + " long");
        }
    }

    /** Remembered for so long; say with {@link #redeliveredWithin} how long they may come again. */
    public static Retention keep(Duration kept) {
        return new Retention(kept, Duration.ZERO);
    }

    /** The same for a source that may bring a message again for so long: what a broker keeps, or what a replay may reach back. */
    public Retention redeliveredWithin(Duration redelivery) {
        return new Retention(kept, redelivery);
    }
}
