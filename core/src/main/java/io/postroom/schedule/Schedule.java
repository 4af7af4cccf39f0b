package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.job.Job;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A job that is enqueued again and again: by a {@link Recurrence}, or some time after the one before has ended. Immutable.
 *
 * @param recurrence when; null for a delay. A rate counts from the year 1970
 * @param delay how long after the end of the one before; null for a recurrence
 * @param overlap whether a job may be enqueued while the one before has not ended
 * @param job what is enqueued each time
 */
public record Schedule(
        String name,
        @Nullable Recurrence recurrence,
        @Nullable Duration delay,
        Missed missed,
        boolean overlap,
        Job job) {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");

    public Schedule {
        Objects.requireNonNull(job, "job");
        List<String> problems = new ArrayList<>();
        if (!NAME.matcher(name).matches()) {
            problems.add("its name must be a lower-case letter and up to 99 letters, digits or _ . -");
        }
        if ((recurrence == null) == (delay == null)) {
            problems.add("it needs either a recurrence or a delay");
        }
        if (delay != null && (delay.compareTo(FixedRate.PERIOD_MIN) < 0 || delay.compareTo(FixedRate.PERIOD_MAX) > 0)) {
            problems.add("its delay is " + delay + ", the range is 1 s to 366 days");
        }
        if (recurrence instanceof FixedRate rate
                && !rate.anchor().equals(FixedRate.every(rate.period()).anchor())) {
            problems.add("its rate has an anchor of its own; use FixedRate.every");
        }
        if (job.runAt() != null
                || job.runAfter() != null
                || job.unique() != null
                || job.batch() != null
                || job.limit() != null
                || !job.needs().isEmpty()) {
            problems.add("its job has a time, a unique key, a limit, a batch or needs of its own; leave them out");
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "schedule.invalid",
                    "could not use schedule '" + CronText.excerpt(name) + "': " + String.join("; ", problems));
        }
    }

    /** Fires by a cron expression or a rate; times that were missed are left out. */
    public static Schedule of(String name, Recurrence recurrence, Job job) {
        return new Schedule(name, recurrence, null, Missed.SKIP, true, job);
    }

    /** Fires so long after the job before has ended, however it did. */
    public static Schedule withDelay(String name, Duration delay, Job job) {
        return new Schedule(name, null, delay, Missed.ONCE, true, job);
    }

    /** The same with other missed times; {@link Missed#SKIP} unless given. */
    public Schedule missed(Missed what) {
        return new Schedule(name, recurrence, delay, what, overlap, job);
    }

    /** The same, but no job is enqueued while the one before has not ended: that time is left out. */
    public Schedule withoutOverlap() {
        return new Schedule(name, recurrence, delay, missed, false, job);
    }

    /** When, in plain English. */
    public String describe() {
        if (recurrence != null) {
            return recurrence.describe();
        }
        String every = FixedRate.every(Objects.requireNonNull(delay)).describe();
        return every.substring("every ".length()) + " after the end of the one before";
    }

    @Override
    public String toString() {
        return "schedule " + name;
    }
}
