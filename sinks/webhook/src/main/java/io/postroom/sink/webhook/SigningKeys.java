package io.postroom.sink.webhook;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The secrets that sign at the moment, newest first. Every webhook carries a signature of each, so that a receiver may change
 * from the old to the new one at any time within the window and verifies every webhook before, during and after. Safe for use
 * by many threads.
 */
final class SigningKeys {
    static final int ACTIVE_MAX = 5;

    /** Replaced as a whole, so that one webhook is signed by one state. */
    private volatile List<Active> keys;

    private record Active(SigningKey key, @Nullable Instant until) {
        boolean at(Instant now) {
            return until == null || now.isBefore(until);
        }
    }

    SigningKeys(List<SigningKey> keys) {
        this.keys = keys.stream().map(key -> new Active(key, null)).toList();
    }

    /** From now on the given key signs for good; those before it sign until the given time or their own end, if that is sooner. */
    synchronized void rotate(SigningKey next, Instant now, Instant until) {
        List<Active> rotated = new ArrayList<>();
        rotated.add(new Active(next, null));
        for (Active old : keys) {
            if (old.key.sameAs(next)) {
                throw new IllegalArgumentException("could not rotate secret: the new one signs already; give another");
            }
            if (old.at(now)) {
                rotated.add(new Active(old.key, old.until == null || until.isBefore(old.until) ? until : old.until));
            }
        }
        if (rotated.size() > ACTIVE_MAX) {
            throw new IllegalStateException("could not rotate secret: " + (rotated.size() - 1)
                    + " sign already, the limit is " + ACTIVE_MAX + "; wait until a window has passed");
        }
        keys = List.copyOf(rotated);
    }

    /** The webhook-signature header. */
    String sign(String id, long timestampSeconds, byte[] body, Instant now) {
        byte[] prefix = (id + "." + timestampSeconds + ".").getBytes(StandardCharsets.US_ASCII);
        return keys.stream()
                .filter(active -> active.at(now))
                .map(active -> active.key.sign(prefix, body))
                .collect(Collectors.joining(" "));
    }

    int active(Instant now) {
        return (int) keys.stream().filter(active -> active.at(now)).count();
    }
}
