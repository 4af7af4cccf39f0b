package io.postroom.maintenance;

import io.postroom.PostroomException;
import io.postroom.archive.Archive;
import io.postroom.archive.DayCount;
import io.postroom.archive.Retention;
import io.postroom.audit.Audit;
import io.postroom.deadletter.Redrives;
import io.postroom.externalcall.ExternalCalls;
import io.postroom.job.JobRules;
import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the housekeeping every hour, and every few seconds goes on with redrives that others have left unfinished, on threads of its
 * own: archiving, dropping, redrives and the rest do not wait for each other, and what fails keeps nothing else from being done. Each takes
 * one connection while it works. One process of a system should run it; more do no harm. If none does, nothing fails for a week and nothing
 * is lost after that.
 */
public final class Maintenance implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);
    private static final Duration INTERVAL = Duration.ofHours(1);
    private static final Duration REDRIVE_INTERVAL = Duration.ofSeconds(1);
    private static final int THREADS = 4;

    /** How long jobs that have ended are kept unless told otherwise, and the least: so long a job may be unique, and a day on top. */
    public static final Duration JOBS_KEPT_MIN = JobRules.UNIQUE_WITHIN_MAX.plusDays(1);

    public static final Duration JOBS_KEPT_MAX = Retention.AFTER_MAX;

    private final PartitionKeeper partitions;
    private final TickThinner ticks;
    private final SettlementThinner settlements;
    private final InboxPurger inbox;
    private final KeyPurger keys;
    private final JobPurger jobs;
    private final LapsedKeys lapsedKeys;
    private final LockPurger locks;
    private final ExternalCalls externalCalls;
    private final Redrives redrives;
    private final Telemetry telemetry;
    private final String schema;
    private final Archive archive;
    private final @Nullable Retention retention;
    private final @Nullable Archiver archiver;
    private final @Nullable Purger purger;
    private boolean redrivesFail;
    /** One thread for each thing that is done beside the others. */
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS, work -> {
        Thread made = new Thread(work, "postroom-maintenance");
        made.setDaemon(true);
        return made;
    });

    /** Without a retention no day is archived or dropped. {@code jobsKept}: how long jobs that have ended, and attempts that failed, are. */
    public Maintenance(
            Database database,
            Redrives redrives,
            Telemetry telemetry,
            Archive archive,
            @Nullable Retention retention,
            Duration jobsKept) {
        requireJobsKept(jobsKept);
        this.redrives = redrives;
        this.partitions = new PartitionKeeper(database);
        this.ticks = new TickThinner(database);
        this.settlements = new SettlementThinner(database);
        this.inbox = new InboxPurger(database);
        this.keys = new KeyPurger(database);
        this.jobs = new JobPurger(database, jobsKept);
        this.lapsedKeys = new LapsedKeys(database, telemetry);
        this.locks = new LockPurger(database);
        this.externalCalls = new ExternalCalls(database, new Audit(database), telemetry);
        this.telemetry = telemetry;
        this.schema = database.schema().name();
        this.archive = archive;
        this.retention = retention;
        Duration dropAfter = retention == null ? null : retention.dropAfter();
        this.archiver = retention == null ? null : new Archiver(archive, schema, retention.archiveAfter());
        this.purger = dropAfter == null ? null : new Purger(archive, schema, dropAfter);
    }

    private static void requireJobsKept(Duration jobsKept) {
        jobsKeptProblem(jobsKept).ifPresent(problem -> {
            throw new PostroomException(
                    "maintenance.jobs-kept-invalid", "could not set up maintenance: jobs-kept " + problem);
        });
    }

    /** What is wrong with how long jobs that have ended are kept; nothing if it will do. */
    public static Optional<String> jobsKeptProblem(Duration jobsKept) {
        return jobsKept.compareTo(JOBS_KEPT_MIN) >= 0 && jobsKept.compareTo(JOBS_KEPT_MAX) <= 0
                ? Optional.empty()
                : Optional.of("is " + shown(jobsKept) + ", the range is " + JOBS_KEPT_MIN.toDays() + " to "
                        + JOBS_KEPT_MAX.toDays() + " days; a job may be unique within "
                        + JobRules.UNIQUE_WITHIN_MAX.toDays()
                        + " days, and is compared with those that have ended");
    }

    private static String shown(Duration kept) {
        return kept.equals(Duration.ofDays(kept.toDays())) ? kept.toDays() + " days" : kept.toString();
    }

    /** Begins at once and goes on every hour. */
    public void start() {
        everyHour("maintenance", () -> runAll(housekeeping()));
        Runnable archiving = archiver == null ? () -> {} : archiver::archive;
        // By themselves: looking through a day takes as long as the day is large, and a first run may have months of
        // them.
        everyHour("archiving", () -> runAll(List.of(archiving, this::tellDays)));
        if (purger != null) {
            Runnable dropping = purger::purge;
            everyHour("dropping days", () -> runAll(List.of(dropping, this::tellDays)));
        }
        long redriveMillis = REDRIVE_INTERVAL.toMillis();
        threads.scheduleWithFixedDelay(this::redriveQuietly, redriveMillis, redriveMillis, TimeUnit.MILLISECONDS);
    }

    private void everyHour(String what, Runnable work) {
        threads.scheduleWithFixedDelay(() -> runQuietly(what, work), 0, INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** One round, on the caller's thread. What fails keeps nothing else from being done, and is thrown at the end. */
    public void runOnce() {
        List<Runnable> steps = housekeeping();
        // Last: it may wait for locks.
        if (archiver != null) {
            steps.add(archiver::archive);
        }
        if (purger != null) {
            steps.add(purger::purge);
        }
        steps.add(this::tellDays);
        runAll(steps);
    }

    private List<Runnable> housekeeping() {
        return new ArrayList<>(List.of(
                this::keepPartitions,
                ticks::thin,
                settlements::thin,
                inbox::purge,
                keys::purge,
                jobs::purge,
                lapsedKeys::tell,
                locks::purge,
                externalCalls::parkOverdue,
                this::tellStrays));
    }

    private static void runAll(List<Runnable> steps) {
        Throwable first = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
            if (Thread.currentThread().isInterrupted()) {
                break;
            }
        }
        if (first instanceof Error error) {
            throw error;
        }
        if (first instanceof RuntimeException failure) {
            throw failure;
        }
    }

    private void keepPartitions() {
        List<String> made = partitions.keep();
        if (!made.isEmpty()) {
            LOG.info(
                    "made {} partitions in schema {}, from {} to {}",
                    made.size(),
                    schema,
                    made.get(0),
                    made.get(made.size() - 1));
        }
    }

    private void tellStrays() {
        boolean strays = partitions.hasStrays();
        telemetry.strays(strays);
        if (strays) {
            LOG.warn(
                    "messages lie in the default partition of {}.outbox: nobody made their day's own in time; they are delivered as"
                            + " always, but can only be purged row by row",
                    schema);
        }
    }

    private void tellDays() {
        DayCount days = archive.count(retention);
        telemetry.archiveDays(days.archived(), days.stuck(), days.undropped());
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }

    private void redriveQuietly() {
        try {
            redrives.stepAll();
            redrivesFail = false;
        } catch (RuntimeException | Error e) {
            if (!redrivesFail) {
                redrivesFail = true;
                LOG.warn("could not go on with redrives of schema {}: {}; it is tried again", schema, said(e));
            }
        }
    }

    private void runQuietly(String what, Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | Error e) {
            // Whatever it is: an executor forgets a task that throws.
            LOG.warn(
                    "{} of schema {} did not finish: {}{}; it is tried again in {} minutes",
                    what,
                    schema,
                    said(e),
                    e.getSuppressed().length == 0 ? "" : ", and " + e.getSuppressed().length + " more like it",
                    INTERVAL.toMinutes());
        }
    }

    /** An error may have nothing to say but its name. */
    private static String said(Throwable e) {
        return e instanceof Error ? e.toString() : String.valueOf(e.getMessage());
    }
}
