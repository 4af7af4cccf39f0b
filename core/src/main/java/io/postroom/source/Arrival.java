package io.postroom.source;

import io.postroom.message.Envelope;
import io.postroom.retry.Fault;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message as a source got it from its broker.
 *
 * @param place where it was, for operators: topic, partition and offset
 * @param sequenced whether the envelope's position is that of a journal; else it only says where in its partition it was
 * @param unreadable why it is no message, if it is none; the envelope then holds what there was
 */
public record Arrival(
        String place,
        Envelope envelope,
        boolean sequenced,
        @Nullable Fault unreadable) {
    public static final int PLACE_LENGTH_MAX = 500;

    /** Beyond every position of a journal. */
    static final long BEYOND = 1L << 62;

    public Arrival {
        Objects.requireNonNull(envelope, "envelope");
        if (place.isEmpty() || place.length() > PLACE_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "place is " + place.length() + " characters long, the range is 1 to " + PLACE_LENGTH_MAX);
        }
    }

    /** The position of its dead letter, if the journal has the message there; else it is {@link #beyond}. */
    long letterPosition(boolean ofSubscription) {
        return ofSubscription && sequenced
                ? envelope.position()
                : beyond(envelope.message().id());
    }

    /** A number beyond all positions: one for each message, whichever copy of it fails. */
    static long beyond(UUID id) {
        return BEYOND | id.getMostSignificantBits() * 31 + id.getLeastSignificantBits() & BEYOND - 1;
    }
}
