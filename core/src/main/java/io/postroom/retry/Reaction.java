package io.postroom.retry;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** What a {@link RetryPolicy} does about one class of errors instead of its usual waits. Immutable. */
public abstract sealed class Reaction {
    /** The errors of a destination that is not there. Trying the next message at such a time cannot go better. */
    static final Map<String, Reaction> STANDARD = standard();

    private Reaction() {}

    abstract Decision decide(
            String kind, Schedule usual, int attempts, @Nullable Duration asked, RandomGenerator random);

    /** The reaction as {@link RetryPolicy#describe} says it. */
    abstract String words();

    /** The policy to follow instead, if there is one. */
    @Nullable
    RetryPolicy other() {
        return null;
    }

    /** Give up at once: trying again cannot help. */
    public static Reaction reject() {
        return new Reject();
    }

    /** The destination's fault: open its circuit and count no attempt. */
    public static Reaction unavailable() {
        return new Away();
    }

    /** The waits and the number of attempts of another policy. All attempts count, also those that failed otherwise. */
    public static Reaction retry(RetryPolicy other) {
        return new Retry(Objects.requireNonNull(other, "other"));
    }

    /** The policy's usual waits: takes back one of the standard reactions, or makes an exception from a superclass. */
    public static Reaction retry() {
        return new Retry(null);
    }

    private static Map<String, Reaction> standard() {
        Map<String, Reaction> reactions = new LinkedHashMap<>();
        List.of(
                        "java.net.ConnectException",
                        "java.net.NoRouteToHostException",
                        "java.net.UnknownHostException",
                        "java.net.http.HttpConnectTimeoutException",
                        "java.sql.SQLTransientConnectionException",
                        Fault.SQLSTATE + "08",
                        Fault.SQLSTATE + "57P01",
                        Fault.SQLSTATE + "57P02",
                        Fault.SQLSTATE + "57P03",
                        Fault.SQLSTATE + "53300")
                .forEach(kind -> reactions.put(kind, unavailable()));
        return Map.copyOf(reactions);
    }

    private static final class Reject extends Reaction {
        @Override
        Decision decide(String kind, Schedule usual, int attempts, @Nullable Duration asked, RandomGenerator random) {
            return new Decision.GiveUp("the retry policy rejects " + kind, true);
        }

        @Override
        String words() {
            return "rejected";
        }
    }

    private static final class Away extends Reaction {
        @Override
        Decision decide(String kind, Schedule usual, int attempts, @Nullable Duration asked, RandomGenerator random) {
            return new Decision.Unavailable();
        }

        @Override
        String words() {
            return "unavailable";
        }
    }

    private static final class Retry extends Reaction {
        private final @Nullable RetryPolicy other;

        Retry(@Nullable RetryPolicy other) {
            this.other = other;
        }

        // Only the other policy's waits: its standard reactions would undo what this reaction was made for.
        @Override
        Decision decide(String kind, Schedule usual, int attempts, @Nullable Duration asked, RandomGenerator random) {
            return (other == null ? usual : other.schedule()).decide(attempts, asked, random);
        }

        @Override
        String words() {
            return other == null ? "tried again as usual" : "tried again (" + other.describe() + ")";
        }

        @Override
        @Nullable
        RetryPolicy other() {
            return other;
        }
    }
}
