package io.postroom.job;

import io.postroom.PostroomException;
import io.postroom.message.InvalidMessageException;
import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a job, checked before any SQL runs. Payload, headers and tenant have those of a message.
 *
 * <p>The SQL function {@code enqueue} has the same rules and the same codes; one table of bad inputs tests both.
 */
public final class JobRules {
    public static final int KIND_LENGTH_MAX = 200;
    public static final int QUEUE_LENGTH_MAX = 100;
    public static final int PRIORITY_MAX = 999;
    public static final Duration RUN_AFTER_MAX = Duration.ofDays(3_660);
    public static final Duration DEADLINE_MIN = Duration.ofMillis(1);
    public static final Duration DEADLINE_MAX = Duration.ofDays(7);
    public static final int RESULT_BYTES_MAX = 65_536;
    public static final int PROGRESS_NOTE_LENGTH_MAX = 500;
    public static final int KEY_LENGTH_MAX = 200;

    /** Less than what has ended is kept. */
    public static final Duration UNIQUE_WITHIN_MAX = Duration.ofDays(6);

    public static final int NEEDS_MAX = 100;

    private static final Pattern KIND = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.:/-]*");
    private static final Pattern QUEUE = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");
    /** The id of the message that a job is checked as. To draw one for each job would cost half as much as the checks. */
    private static final UUID CHECKED_ID = new UUID(0x7000L, 0x8000_0000_0000_0000L);

    private static final int SHOWN_MAX = 60;
    private static final String KEY_FORM = ", it must be 1 to 200 characters without control characters";

    private JobRules() {}

    /** Throws an {@link InvalidJobException} that names the value, the limit and what to do. */
    static void check(Job job) {
        checkThat(
                isKind(job.kind()),
                job,
                "kind-invalid",
                () -> "kind is " + quote(job.kind())
                        + ", it must be 1 to 200 letters, digits or _ . : / -, beginning with a letter or digit");
        checkThat(
                isQueue(job.queue()),
                job,
                "queue-invalid",
                () -> "queue is " + quote(job.queue())
                        + ", it must be a lower-case letter and up to 99 letters, digits or _ . -");
        checkThat(
                job.priority() >= 0 && job.priority() <= PRIORITY_MAX,
                job,
                "priority-invalid",
                () -> "priority is " + job.priority() + ", the range is 0 to " + PRIORITY_MAX);
        checkTimes(job);
        checkBonds(job);
        checkRetry(job);
        checkMessage(job);
    }

    private static void checkBonds(Job job) {
        Unique unique = job.unique();
        if (unique != null) {
            checkThat(
                    isKey(unique.key()),
                    job,
                    "unique-key-invalid",
                    () -> "unique key is " + quote(unique.key()) + KEY_FORM);
            Duration within = unique.within();
            checkThat(
                    within == null || within.toMillis() >= 1 && within.compareTo(UNIQUE_WITHIN_MAX) <= 0,
                    job,
                    "unique-within-invalid",
                    () -> "unique within is " + within + ", the range is 1 ms to " + UNIQUE_WITHIN_MAX.toDays()
                            + " days");
        }
        LimitKey limit = job.limit();
        if (limit != null) {
            checkThat(
                    isQueue(limit.name()),
                    job,
                    "limit-name-invalid",
                    () -> "limit name is " + quote(limit.name())
                            + ", it must be a lower-case letter and up to 99 letters, digits or _ . -, and has a key");
            checkThat(
                    isKey(limit.key()),
                    job,
                    "limit-key-invalid",
                    () -> "limit key is " + quote(limit.key()) + KEY_FORM);
        }
        checkThat(
                job.needs().size() <= NEEDS_MAX,
                job,
                "needs-too-many",
                () -> "it needs " + job.needs().size() + " others, the most is " + NEEDS_MAX
                        + "; put them into a batch, and need that");
        checkThat(
                job.needs().size() < 2
                        || job.needs().stream().map(Need::anyEnd).distinct().count() == 1,
                job,
                "needs-mixed",
                () -> "some of what it needs must be done and some only ended; say the same of all");
    }

    private static boolean isKey(String key) {
        int length = key.codePointCount(0, key.length());
        return length >= 1 && length <= KEY_LENGTH_MAX && key.codePoints().noneMatch(Character::isISOControl);
    }

    static boolean isKind(String kind) {
        return kind.length() <= KIND_LENGTH_MAX && KIND.matcher(kind).matches();
    }

    static boolean isQueue(String queue) {
        return QUEUE.matcher(queue).matches();
    }

    private static void checkTimes(Job job) {
        Duration after = job.runAfter();
        checkThat(
                after == null || job.runAt() == null,
                job,
                "run-at-invalid",
                () -> "it has both a time and a wait; give one of them");
        checkThat(
                after == null || !after.isNegative() && after.compareTo(RUN_AFTER_MAX) <= 0,
                job,
                "run-after-invalid",
                () -> "run after is " + after + ", the range is 0 to " + RUN_AFTER_MAX.toDays() + " days");
        Duration deadline = job.deadline();
        checkThat(
                deadline == null || isDeadline(deadline),
                job,
                "deadline-invalid",
                () -> "deadline is " + deadline + ", the range is 1 ms to " + DEADLINE_MAX.toDays() + " days");
    }

    static boolean isDeadline(Duration deadline) {
        return deadline.compareTo(DEADLINE_MIN) >= 0 && deadline.compareTo(DEADLINE_MAX) <= 0;
    }

    private static void checkRetry(Job job) {
        if (job.retry() == null) {
            return;
        }
        try {
            RetryPolicy.parse(job.retry());
        } catch (PostroomException e) {
            throw new InvalidJobException(
                    "job.retry-invalid", "could not enqueue job of kind " + job.kind() + ": " + e.getMessage(), e);
        }
    }

    /** By the rules of messages, told as those of a job. */
    private static void checkMessage(Job job) {
        Instant runAt = job.runAt();
        Message.Builder like = Message.about("job", "job")
                .event("job")
                .id(CHECKED_ID)
                .tenantId(job.tenantId())
                .payload(job.payload())
                .headers(job.headers())
                .occurredAt(Instant.EPOCH);
        if (runAt != null) {
            like.availableAt(runAt);
        }
        try {
            MessageRules.check(like.build());
        } catch (InvalidMessageException e) {
            String code = e.code().substring("message.".length());
            String problem =
                    e.getMessage().substring(e.getMessage().indexOf(": ") + 2).replace("publish", "enqueue");
            throw code.equals("available-at-invalid")
                    ? broken(job, "run-at-invalid", problem.replace("available at", "run at"))
                    : broken(job, code, problem);
        }
    }

    private static void checkThat(boolean holds, Job job, String code, Supplier<String> problem) {
        if (!holds) {
            throw broken(job, code, problem.get());
        }
    }

    static InvalidJobException broken(Job job, String code, String problem) {
        String kind = isKind(job.kind()) ? job.kind() : quote(job.kind());
        return new InvalidJobException("job." + code, "could not enqueue job of kind " + kind + ": " + problem);
    }

    /** A value as an operator can read it: short, quoted, with nothing that could act on a terminal. */
    static String quote(@Nullable String text) {
        if (text == null) {
            return "null";
        }
        String shown = text.codePoints()
                .limit(SHOWN_MAX)
                .mapToObj(c -> Character.isISOControl(c) ? String.format("\\u%04x", c) : Character.toString(c))
                .reduce("", String::concat);
        return "'" + shown + "'" + (text.length() > SHOWN_MAX ? " and so on, " + text.length() + " characters" : "");
    }
}
