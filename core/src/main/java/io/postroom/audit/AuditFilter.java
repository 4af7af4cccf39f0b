package io.postroom.audit;

import io.postroom.PostroomException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which entries of the audit are meant: those that fit everything that is given. What is null fits all. Immutable.
 *
 * @param subject what it was done to, such as {@code subscription billing}
 * @param action noun and verb, such as {@code subscription pause}
 * @param actor who says to have done it
 * @param from the first moment that fits
 * @param to the first moment that fits no more
 */
public record AuditFilter(
        @Nullable String subject,
        @Nullable String action,
        @Nullable String actor,
        @Nullable Instant from,
        @Nullable Instant to) {
    /** Everything. */
    public static final AuditFilter ALL = builder().build();

    public AuditFilter {
        List<String> problems = new ArrayList<>();
        check(problems, "subject", subject, Audit.SUBJECT_LENGTH_MAX);
        check(problems, "action", action, Audit.ACTION_LENGTH_MAX);
        check(problems, "actor", actor, Audit.ACTOR_LENGTH_MAX);
        if (from != null && to != null && !from.isBefore(to)) {
            problems.add("it begins at " + from + " and ends at " + to + "; let it begin before it ends");
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "audit.filter-invalid", "could not use the filter: " + String.join("; ", problems));
        }
    }

    /** What was done to one thing. */
    public static AuditFilter ofSubject(String subject) {
        return builder().subject(subject).build();
    }

    public static Builder builder() {
        return new Builder();
    }

    private static void check(List<String> problems, String name, @Nullable String value, int lengthMax) {
        if (value != null) {
            Audit.check(problems, name, value, lengthMax);
        }
    }

    /** Collects what is meant. For one thread. */
    public static final class Builder {
        private @Nullable String subject;
        private @Nullable String action;
        private @Nullable String actor;
        private @Nullable Instant from;
        private @Nullable Instant to;

        private Builder() {}

        /** What it was done to. */
        public Builder subject(@Nullable String subject) {
            this.subject = subject;
            return this;
        }

        /** Noun and verb. */
        public Builder action(@Nullable String action) {
            this.action = action;
            return this;
        }

        /** Who says to have done it. */
        public Builder actor(@Nullable String actor) {
            this.actor = actor;
            return this;
        }

        /** The first moment that fits. */
        public Builder from(@Nullable Instant from) {
            this.from = from;
            return this;
        }

        /** The first moment that fits no more. */
        public Builder to(@Nullable Instant to) {
            this.to = to;
            return this;
        }

        public AuditFilter build() {
            return new AuditFilter(subject, action, actor, from, to);
        }
    }
}
