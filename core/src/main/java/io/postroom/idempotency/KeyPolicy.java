package io.postroom.idempotency;

import io.postroom.PostroomException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How a request is answered once. Each method with a value gives a copy that differs in it: {@code KeyPolicy.STANDARD.expiry(…)}.
 * Immutable.
 *
 * @param expiry how long an answer is kept; after that the key is as if it had never been there
 * @param failures which failures are given again
 * @param patience how long a request waits for another that runs with its key, without holding a connection
 * @param lease in steps: how long after a crash nobody goes on. It is renewed while the steps go on. In a command and in each step: how
 *     long its transaction may stand idle, at least {@link #IDLE_MIN}, before PostgreSQL ends it
 * @param runtimeMax in steps: how long they may take in one go; after that their thread is interrupted and the lease is not renewed, so that
 *     what hangs is not kept
 */
public record KeyPolicy(Duration expiry, Failures failures, Duration patience, Duration lease, Duration runtimeMax) {
    public static final Duration EXPIRY_MAX = Duration.ofDays(366);
    public static final Duration PATIENCE_MAX = Duration.ofMinutes(5);
    public static final Duration LEASE_MIN = Duration.ofMillis(500);
    public static final Duration LEASE_MAX = Duration.ofHours(1);
    public static final Duration RUNTIME_MAX = Duration.ofDays(1);

    /** However short a lease is: a process that is only slow must not lose its transaction to this. */
    public static final Duration IDLE_MIN = Duration.ofSeconds(10);

    /** A day, client errors stored, no patience, a lease of 30 seconds and ten minutes for all steps. */
    public static final KeyPolicy STANDARD = new KeyPolicy(
            Duration.ofHours(24),
            Failures.CLIENT_ERRORS_STORED,
            Duration.ZERO,
            Duration.ofSeconds(30),
            Duration.ofMinutes(10));

    public KeyPolicy {
        List<String> problems = new ArrayList<>();
        check(problems, "expiry", expiry, Duration.ofSeconds(1), EXPIRY_MAX);
        check(problems, "patience", patience, Duration.ZERO, PATIENCE_MAX);
        check(problems, "lease", lease, LEASE_MIN, LEASE_MAX);
        check(problems, "runtimeMax", runtimeMax, lease, RUNTIME_MAX);
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "idempotency.policy-invalid", "could not use the policy: " + String.join("; ", problems));
        }
    }

    public KeyPolicy expiry(Duration expiry) {
        return new KeyPolicy(expiry, failures, patience, lease, runtimeMax);
    }

    public KeyPolicy failures(Failures failures) {
        return new KeyPolicy(expiry, failures, patience, lease, runtimeMax);
    }

    public KeyPolicy patience(Duration patience) {
        return new KeyPolicy(expiry, failures, patience, lease, runtimeMax);
    }

    public KeyPolicy lease(Duration lease) {
        return new KeyPolicy(expiry, failures, patience, lease, runtimeMax);
    }

    public KeyPolicy runtimeMax(Duration runtimeMax) {
        return new KeyPolicy(expiry, failures, patience, lease, runtimeMax);
    }

    /**
     * How long a transaction of ours may say nothing; then its process is taken for gone, and PostgreSQL ends it. In a step too, however
     * long its lease is renewed: whoever goes on would wait for the rows that it has locked.
     */
    Duration idleMax() {
        return lease.compareTo(IDLE_MIN) < 0 ? IDLE_MIN : lease;
    }

    private static void check(List<String> problems, String name, Duration value, Duration min, Duration max) {
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            problems.add(name + " is " + value + ", the range is " + min + " to " + max);
        }
    }
}
