package io.postroom.deadletter;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What an operator asks to be done to dead letters. Immutable.
 *
 * @param id chosen by whoever asks, so that asking twice is asking once
 * @param patch changes the payloads before they are redriven; null: as they are
 * @param rate so many a second; null: as fast as it goes
 * @param canary so many first, the rest only when all of them were delivered; null: all at once
 */
public record RedriveRequest(
        UUID id,
        RedriveAction action,
        DeadLetterFilter filter,
        @Nullable JsonPatch patch,
        @Nullable Double rate,
        @Nullable Integer canary,
        String actor,
        String reason) {
    /** A second. */
    public static final double RATE_MIN = 0.001;

    /** A second. */
    public static final double RATE_MAX = 100_000;

    public static final int CANARY_MAX = 10_000;

    /** Begins to ask for messages to be put back on their way. */
    public static Builder redrive(DeadLetterFilter filter) {
        return new Builder(RedriveAction.REDRIVE, filter);
    }

    /** Begins to ask for dead letters to be ended. */
    public static Builder discard(DeadLetterFilter filter) {
        return new Builder(RedriveAction.DISCARD, filter);
    }

    /** Whether another asks for the same, whoever asks and why. */
    boolean isSameAs(RedriveRequest other) {
        return id.equals(other.id)
                && action == other.action
                && filter.equals(other.filter)
                && Objects.equals(patch, other.patch)
                && Objects.equals(rate, other.rate)
                && Objects.equals(canary, other.canary);
    }

    /** What is asked for, in a line. */
    String describe() {
        return action.word() + " of " + FilterText.describe(filter)
                + (patch == null ? "" : " with a patch of " + patch.size() + " operations")
                + (rate == null ? "" : " at " + rate + "/s")
                + (canary == null ? "" : " after a canary of " + canary);
    }

    /** Collects what is asked for; {@link #build} reports every problem at once. For one thread. */
    public static final class Builder {
        private final RedriveAction action;
        private final DeadLetterFilter filter;
        private UUID id = UUID.randomUUID();
        private String actor = "";
        private String reason = "";
        private @Nullable JsonPatch patch;
        private @Nullable Double rate;
        private @Nullable Integer canary;

        private Builder(RedriveAction action, DeadLetterFilter filter) {
            this.action = action;
            this.filter = Objects.requireNonNull(filter, "filter");
        }

        /** The identity of the act; a random one unless given. */
        public Builder id(UUID id) {
            this.id = Objects.requireNonNull(id, "id");
            return this;
        }

        public Builder actor(String actor) {
            this.actor = Objects.requireNonNull(actor, "actor");
            return this;
        }

        public Builder reason(String reason) {
            this.reason = Objects.requireNonNull(reason, "reason");
            return this;
        }

        public Builder patch(@Nullable JsonPatch patch) {
            this.patch = patch;
            return this;
        }

        public Builder rate(@Nullable Double rate) {
            this.rate = rate;
            return this;
        }

        public Builder canary(@Nullable Integer canary) {
            this.canary = canary;
            return this;
        }

        public RedriveRequest build() {
            List<String> problems = new ArrayList<>(Audit.problems(actor, reason));
            if (filter.isEmpty()) {
                problems.add("the filter is empty and would mean every dead letter there is; name at least the"
                        + " subscription");
            }
            if (rate != null && !(rate >= RATE_MIN && rate <= RATE_MAX)) {
                problems.add("rate is " + rate + " a second, the range is " + RATE_MIN + " to " + RATE_MAX);
            }
            if (canary != null && (canary < 1 || canary > CANARY_MAX)) {
                problems.add("canary is " + canary + ", the range is 1 to " + CANARY_MAX);
            }
            if (action == RedriveAction.DISCARD && (patch != null || canary != null)) {
                problems.add("a discard delivers nothing; leave out the " + (patch != null ? "patch" : "canary"));
            }
            if (!problems.isEmpty()) {
                throw new PostroomException(
                        "redrive.invalid", "could not request a " + action.word() + ": " + String.join("; ", problems));
            }
            return new RedriveRequest(id, action, filter, patch, rate, canary, actor, reason);
        }
    }
}
