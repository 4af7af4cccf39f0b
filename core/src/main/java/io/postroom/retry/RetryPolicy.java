package io.postroom.retry;

import io.postroom.PostroomException;
import io.postroom.retry.Schedule.Curve;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * When a failed attempt is made again, and when no more.
 *
 * <p>By name there are {@code quick} (three attempts at once, then waits of 1 s and 2 s, 5 attempts), {@code linear} (waits of
 * 30 s, 60 s, 90 s and so on up to 4 min, 10 attempts) and {@code quadratic} (waits of 5 s times the square of their number up
 * to 1 h, 10 attempts); by hand there is {@link #builder}, for settings there is {@link #parse}.
 *
 * <p>Some errors mean that the destination is not there, and by the <em>standard reactions</em> count as
 * {@link Decision.Unavailable}: ConnectException, NoRouteToHostException, UnknownHostException, HttpConnectTimeoutException,
 * SQLTransientConnectionException, and any SQLException with a SQLSTATE of class 08 (connection), 57P01 to 57P03 (shut down or
 * starting) or 53300 (too many connections); also as the cause of another exception. That is a guess: a relay counts the attempts of
 * a message that fails so while others are accepted, see {@link #asOwnFault}. {@link Builder#on} replaces one of them,
 * {@link Builder#standardReactions} leaves them all out.
 *
 * <p>Immutable, keeps no state between attempts, and may be used by any number of threads.
 */
public final class RetryPolicy {
    public static final int ATTEMPTS_MAX = 1_000;
    public static final int REACTIONS_MAX = 100;
    public static final Duration WAIT_MIN = Duration.ofMillis(1);
    public static final Duration CAP_MAX = Duration.ofDays(30);

    /** The policy of whoever names none: {@code quick}. */
    public static final RetryPolicy STANDARD = named("quick");

    /** So many reactions are listed by {@link #describe}; a line has an end. */
    private static final int REACTIONS_SHOWN_MAX = 5;

    private final @Nullable String name;
    private final Schedule schedule;
    private final Map<String, Reaction> own;
    private final Map<String, Reaction> reactions;

    private RetryPolicy(Builder builder, @Nullable String name) {
        this.name = name;
        schedule = builder.schedule();
        own = new LinkedHashMap<>(builder.reactions);
        reactions = new HashMap<>(builder.standardReactions ? Reaction.STANDARD : Map.of());
        reactions.putAll(own);
    }

    /** One of {@code quick}, {@code linear} and {@code quadratic}. */
    public static RetryPolicy named(String name) {
        return PolicyText.named(name);
    }

    /**
     * Reads a policy from a setting: one of {@code quick}, {@code linear}, {@code quadratic} and {@code exponential}, and after
     * it what is to differ, for example {@code exponential first=1s cap=5m attempts=8 jitter=0.2}. The settings are
     * {@code attempts}, {@code immediate}, {@code cap}, {@code jitter} and the wait that grows: {@code first} of quick and
     * exponential, {@code step} of linear, {@code unit} of quadratic.
     */
    public static RetryPolicy parse(String text) {
        return parse(text, Map.of());
    }

    /** The same, with reactions to some classes of errors, as {@link Builder#on} takes them. */
    public static RetryPolicy parse(String text, Map<String, Reaction> reactions) {
        return PolicyText.parse(text, reactions);
    }

    public static Builder builder() {
        return new Builder();
    }

    /**
     * Decides about an attempt that failed. The nearest reaction wins: one to the fault's own SQLSTATE or class before one to a
     * superclass, the same for each of its causes, and {@code Exception} and its like last.
     *
     * @param attempts how many attempts were made, this one included
     * @param asked the wait that the destination asked for; it counts if it is the longer one, up to the cap
     */
    public Decision decide(Fault fault, int attempts, @Nullable Duration asked) {
        return decide(fault, attempts, asked, ThreadLocalRandom.current());
    }

    Decision decide(Fault fault, int attempts, @Nullable Duration asked, RandomGenerator random) {
        if (attempts < 1) {
            throw new IllegalArgumentException(
                    "attempts is " + attempts + ", the least is 1: count the one that failed");
        }
        for (String kind : fault.kinds()) {
            Reaction reaction = reactions.get(kind);
            if (reaction != null) {
                return reaction.decide(kind, schedule, attempts, asked, random);
            }
        }
        return schedule.decide(attempts, asked, random);
    }

    /**
     * Decides about an attempt of which the destination itself has said that it is rejected or that nothing can be delivered: only a
     * reaction that names exactly this error class counts for more than that. Empty if there is none.
     */
    public Optional<Decision> overrule(Fault fault, int attempts, @Nullable Duration asked) {
        return Optional.ofNullable(own.get(fault.errorClass()))
                .map(reaction ->
                        reaction.decide(fault.errorClass(), schedule, attempts, asked, ThreadLocalRandom.current()));
    }

    /**
     * Decides about an attempt that failed with an error which only a standard reaction takes for the destination's, and which turned
     * out to be of what was sent: the usual waits, and the attempt counts. Empty if it was not a standard reaction that decided.
     */
    public Optional<Decision> asOwnFault(Fault fault, int attempts, @Nullable Duration asked) {
        for (String kind : fault.kinds()) {
            if (reactions.containsKey(kind)) {
                return own.containsKey(kind)
                        ? Optional.empty()
                        : Optional.of(schedule.decide(attempts, asked, ThreadLocalRandom.current()));
            }
        }
        return Optional.empty();
    }

    /** How many attempts are made in all. */
    public int attemptsMax() {
        return schedule.attemptsMax();
    }

    /** The policy in one line, for example {@code linear: 30 s × n up to 4 min, 10 attempts}. */
    public String describe() {
        StringBuilder line = new StringBuilder(name == null ? "" : name + ": ").append(schedule.describe());
        own.entrySet().stream()
                .limit(REACTIONS_SHOWN_MAX)
                .forEach(each -> line.append("; ")
                        .append(each.getKey())
                        .append(" is ")
                        .append(each.getValue().words()));
        if (own.size() > REACTIONS_SHOWN_MAX) {
            line.append("; and ").append(own.size() - REACTIONS_SHOWN_MAX).append(" more reactions");
        }
        return line.toString();
    }

    @Override
    public String toString() {
        return describe();
    }

    Schedule schedule() {
        return schedule;
    }

    /** Collects a policy; {@link #build} reports every problem at once. */
    public static final class Builder {
        private final Map<Curve, Duration> curves = new EnumMap<>(Curve.class);
        private final Map<String, Reaction> reactions = new LinkedHashMap<>();
        private final List<String> reactionProblems = new ArrayList<>();
        private boolean standardReactions = true;
        private int attemptsMax = 5;
        private int immediate = 1;
        private Duration cap = Duration.ofHours(1);
        private double jitter = 0.25;

        private Builder() {}

        /** How many attempts are made in all, 1 to 1000; 5 unless given. */
        public Builder attemptsMax(int attemptsMax) {
            this.attemptsMax = attemptsMax;
            return this;
        }

        /** How many attempts, the first included, follow each other at once; 1 unless given: each is waited for. */
        public Builder immediate(int attempts) {
            this.immediate = attempts;
            return this;
        }

        /** Waits that double, beginning with this one. So they do, from 1 s, if no other growth is given. */
        public Builder exponential(Duration first) {
            return grow(Curve.EXPONENTIAL, first);
        }

        /** Waits that grow by this step. With a cap as long as the step, all are the same. */
        public Builder linear(Duration step) {
            return grow(Curve.LINEAR, step);
        }

        /** Waits of this unit times 1, 4, 9, 16 and so on. */
        public Builder quadratic(Duration unit) {
            return grow(Curve.QUADRATIC, unit);
        }

        Builder grow(Curve curve, Duration unit) {
            curves.put(curve, unit);
            return this;
        }

        /** The longest wait, also of those that a destination asks for, up to 30 days; 1 h unless given. */
        public Builder cap(Duration cap) {
            this.cap = cap;
            return this;
        }

        /**
         * The share of a wait, 0 to 1, by which it may be shortened at random; 0.25 unless given. Only ever shortened, so that a
         * wait is never longer than the operator was told, and what failed together does not come back together.
         */
        public Builder jitter(double share) {
            this.jitter = share;
            return this;
        }

        /** A reaction to an exception class by its name, a sink's word ({@code http.410}) or a SQLSTATE ({@code sqlstate.40}). */
        public Builder on(String errorClass, Reaction reaction) {
            if (!Fault.isErrorClass(errorClass)) {
                reactionProblems.add(
                        "error class is '" + OneLine.excerpt(errorClass) + "', it must be " + Fault.ERROR_CLASS_RULE);
            } else if (reactions.put(errorClass, reaction) != null) {
                reactionProblems.add(errorClass + " has two reactions");
            }
            RetryPolicy other = reaction.other();
            if (other != null && !other.own.isEmpty()) {
                reactionProblems.add("the policy for " + OneLine.excerpt(errorClass)
                        + " has reactions of its own, which are never asked; leave them out");
            }
            return this;
        }

        /** A reaction to an exception class, its subclasses and whatever has one of them as a cause. */
        public Builder on(Class<? extends Throwable> errorClass, Reaction reaction) {
            return on(Fault.nameOf(errorClass), reaction);
        }

        /** Whether errors of a destination that is not there count as unavailable, as {@link RetryPolicy} lists; true unless given. */
        public Builder standardReactions(boolean standardReactions) {
            this.standardReactions = standardReactions;
            return this;
        }

        public RetryPolicy build() {
            return build(null, "could not make retry policy", List.of());
        }

        RetryPolicy build(@Nullable String name, String attempt, List<String> known) {
            List<String> problems = new ArrayList<>(known);
            problems.addAll(problems());
            if (!problems.isEmpty()) {
                throw new PostroomException("retry.policy-invalid", attempt + ": " + String.join("; ", problems));
            }
            return new RetryPolicy(this, name);
        }

        private List<String> problems() {
            List<String> problems = new ArrayList<>();
            if (attemptsMax < 1 || attemptsMax > ATTEMPTS_MAX) {
                problems.add("attempts max is " + attemptsMax + ", the range is 1 to " + ATTEMPTS_MAX);
            }
            if (immediate < 1 || immediate > ATTEMPTS_MAX) {
                problems.add("immediate is " + immediate + ", the range is 1 to " + ATTEMPTS_MAX
                        + "; 1 means that each attempt is waited for");
            }
            boolean capFits = within(cap, CAP_MAX);
            if (!capFits) {
                problems.add("cap is " + Schedule.show(cap) + ", the range is 1 ms to 30 d");
            }
            if (curves.size() > 1) {
                problems.add("waits are "
                        + curves.keySet().stream().map(Curve::word).collect(Collectors.joining(" and "))
                        + " at once; choose one");
            }
            curves.forEach((curve, unit) -> {
                if (!within(unit, capFits ? cap : CAP_MAX)) {
                    problems.add(curve.word() + " " + curve.setting + " is " + Schedule.show(unit)
                            + ", the range is 1 ms to the cap, " + Schedule.show(capFits ? cap : CAP_MAX));
                }
            });
            if (!(jitter >= 0 && jitter <= 1)) {
                problems.add("jitter is " + jitter + ", the range is 0 to 1");
            }
            if (reactions.size() > REACTIONS_MAX) {
                problems.add("there are " + reactions.size() + " reactions, the most is " + REACTIONS_MAX);
            }
            problems.addAll(reactionProblems);
            return problems;
        }

        private Schedule schedule() {
            Map.Entry<Curve, Duration> growth = curves.isEmpty()
                    ? Map.entry(Curve.EXPONENTIAL, Duration.ofSeconds(1))
                    : curves.entrySet().iterator().next();
            return new Schedule(attemptsMax, immediate, growth.getKey(), growth.getValue(), cap, jitter);
        }

        private static boolean within(Duration value, Duration most) {
            return value.compareTo(WAIT_MIN) >= 0 && value.compareTo(most) <= 0;
        }
    }
}
