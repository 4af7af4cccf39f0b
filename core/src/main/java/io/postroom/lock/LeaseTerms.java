package io.postroom.lock;

import io.postroom.PostroomException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * For how long a lease is given. Immutable.
 *
 * @param lease how long after a crash nobody else gets it. It is renewed at a third of that while its process lives
 * @param heldMax how long it is renewed at most, so that work that hangs does not keep it for ever
 */
public record LeaseTerms(Duration lease, Duration heldMax) {
    public static final Duration LEASE_MIN = Duration.ofSeconds(1);
    public static final Duration LEASE_MAX = Duration.ofHours(1);
    public static final Duration HELD_MAX = Duration.ofDays(3660);

    /** What {@link #of} allows. */
    public static final Duration HELD_STANDARD = Duration.ofDays(1);

    public LeaseTerms {
        List<String> problems = new ArrayList<>();
        check(problems, "lease", lease, LEASE_MIN, LEASE_MAX);
        check(problems, "heldMax", heldMax, lease, HELD_MAX);
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "lock.terms-invalid", "could not use the terms of a lease: " + String.join("; ", problems));
        }
    }

    /** A lease that is renewed for a day at most. */
    public static LeaseTerms of(Duration lease) {
        return new LeaseTerms(lease, HELD_STANDARD);
    }

    /** The same lease, renewed for so long at most. */
    public LeaseTerms heldMax(Duration heldMax) {
        return new LeaseTerms(lease, heldMax);
    }

    /** How long after it was taken or renewed it is renewed again. */
    Duration third() {
        return lease.dividedBy(3);
    }

    private static void check(List<String> problems, String name, Duration value, Duration min, Duration max) {
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            problems.add(name + " is " + value + ", the range is " + min + " to " + max);
        }
    }
}
