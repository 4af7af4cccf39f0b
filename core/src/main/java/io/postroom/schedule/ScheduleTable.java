package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.job.Enqueued;
import io.postroom.job.Job;
import io.postroom.message.HeaderText;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The schedules: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class ScheduleTable {
    /** How long a process that freezes in the middle of a transaction may keep schedules locked. */
    private static final Duration FROZEN = Duration.ofSeconds(10);

    private final Sql put;
    private final Sql list;
    private final Sql findDue;
    private final Sql lock;
    private final Sql noteRun;
    private final Sql noteMissed;
    private final Sql noteJob;
    private final Sql moveOn;
    private final Sql endDelay;
    private final Sql forgetRuns;
    private final Sql clock;
    private final Sql pause;
    private final Sql resume;
    private final Sql remove;
    private final Sql runs;

    ScheduleTable(Schema schema) {
        put = schema.sql(ScheduleTable.class, "put.sql");
        list = schema.sql(ScheduleTable.class, "list.sql");
        findDue = schema.sql(ScheduleTable.class, "find_due.sql");
        lock = schema.sql(ScheduleTable.class, "lock.sql");
        noteRun = schema.sql(ScheduleTable.class, "note_run.sql");
        noteMissed = schema.sql(ScheduleTable.class, "note_missed.sql");
        noteJob = schema.sql(ScheduleTable.class, "note_job.sql");
        moveOn = schema.sql(ScheduleTable.class, "move_on.sql");
        endDelay = schema.sql(ScheduleTable.class, "end_delay.sql");
        forgetRuns = schema.sql(ScheduleTable.class, "forget_runs.sql");
        clock = schema.sql(ScheduleTable.class, "clock.sql");
        pause = schema.sql(ScheduleTable.class, "pause.sql");
        resume = schema.sql(ScheduleTable.class, "resume.sql");
        remove = schema.sql(ScheduleTable.class, "remove.sql");
        runs = schema.sql(ScheduleTable.class, "runs.sql");
    }

    /** A schedule whose time has come, and the database's clock. */
    record Due(ScheduleDetails details, Instant now) {}

    boolean put(Connection tx, Schedule schedule, Instant nextAt) {
        Cron cron = schedule.recurrence() instanceof Cron read ? read : null;
        FixedRate rate = schedule.recurrence() instanceof FixedRate fixed ? fixed : null;
        Job job = schedule.job();
        return put.on(tx)
                        .set("name", schedule.name())
                        .set("cron", cron == null ? null : cron.expression())
                        .set("zone", cron == null ? null : cron.zone().getId())
                        .set("rate", rate == null ? null : seconds(rate.period()))
                        .set("delay", seconds(schedule.delay()))
                        .set("missed", schedule.missed().word())
                        .set("overlap", Boolean.toString(schedule.overlap()))
                        .set("kind", job.kind())
                        .set("queue", job.queue())
                        .set("priority", job.priority())
                        .set("tenant_id", job.tenantId())
                        .set("payload", job.payload())
                        .set("headers", HeaderText.write(job.headers()))
                        .set("retry", job.retry())
                        .set("deadline", seconds(job.deadline()))
                        .set("next_at", nextAt)
                        .update()
                > 0;
    }

    List<ScheduleDetails> list(Connection tx, @Nullable String name, @Nullable String after, int limit) {
        return list.on(tx)
                .set("name", name)
                .set("after", after)
                .set("limit", limit)
                .list(ScheduleTable::detailsWithGap);
    }

    /** Their rows are locked. {@code except}: names of schedules to leave out. */
    List<Due> findDue(Connection tx, @Nullable Instant now, Collection<String> except, int limit) {
        return findDue.on(tx)
                .set("now", now)
                .set("except", except.toArray(String[]::new))
                .set("limit", limit)
                .set("patience", Long.toString(FROZEN.toMillis()))
                .list(row -> new Due(details(row), Objects.requireNonNull(instant(row, "now"))));
    }

    boolean lock(Connection tx, String name, Instant seen) {
        return lock.on(tx)
                .set("name", name)
                .set("seen", seen)
                .set("patience", Long.toString(FROZEN.toMillis()))
                .first(row -> true)
                .isPresent();
    }

    boolean noteRun(Connection tx, String schedule, Instant fireAt) {
        return noteRun.on(tx).set("schedule", schedule).set("fire_at", fireAt).update() > 0;
    }

    /** {@code fireAt}: the first of the times. */
    void noteMissed(Connection tx, String schedule, Instant fireAt, long missed) {
        noteMissed
                .on(tx)
                .set("schedule", schedule)
                .set("fire_at", fireAt)
                .set("missed", missed)
                .update();
    }

    void noteJob(Connection tx, String schedule, Instant fireAt, Enqueued job) {
        noteJob.on(tx)
                .set("schedule", schedule)
                .set("fire_at", fireAt)
                .set("job_id", job.id())
                .set("skipped", Boolean.toString(job.skipped()))
                .update();
    }

    boolean moveOn(
            Connection tx,
            String name,
            Instant seen,
            @Nullable Instant nextAt,
            @Nullable Instant lastAt,
            @Nullable Long lastJob) {
        return moveOn.on(tx)
                        .set("name", name)
                        .set("seen", seen)
                        .set("next_at", nextAt)
                        .set("last_at", lastAt)
                        .set("last_job", lastJob)
                        .update()
                > 0;
    }

    int endDelay(Connection tx, @Nullable Instant now) {
        return endDelay.on(tx).set("now", now).update();
    }

    int forgetRuns(Connection tx, Duration kept, int limit) {
        return forgetRuns.on(tx).set("kept", kept).set("limit", limit).update();
    }

    Instant clock(Connection tx) {
        return clock.on(tx).one(row -> row.getObject(1, OffsetDateTime.class).toInstant());
    }

    boolean pause(Connection tx, String name, String actor, String reason) {
        return pause.on(tx)
                        .set("name", name)
                        .set("actor", actor)
                        .set("reason", reason)
                        .update()
                > 0;
    }

    boolean resume(Connection tx, String name, Instant nextAt) {
        return resume.on(tx).set("name", name).set("next_at", nextAt).update() > 0;
    }

    boolean remove(Connection tx, String name) {
        return remove.on(tx).set("name", name).update() > 0;
    }

    List<ScheduleRun> runs(Connection tx, String schedule, int limit) {
        return runs.on(tx).set("schedule", schedule).set("limit", limit).list(row -> {
            long job = row.getLong("job_id");
            Long jobOrNull = row.wasNull() ? null : job;
            return new ScheduleRun(
                    Objects.requireNonNull(instant(row, "fire_at")),
                    jobOrNull,
                    row.getBoolean("skipped"),
                    row.getLong("missed"),
                    Objects.requireNonNull(instant(row, "at")));
        });
    }

    /** Whoever fires does not ask for what nobody saw. */
    private static ScheduleDetails details(ResultSet row) throws SQLException {
        return details(row, null, 0);
    }

    private static ScheduleDetails detailsWithGap(ResultSet row) throws SQLException {
        return details(row, instant(row, "missed_at"), row.getLong("missed_times"));
    }

    private static ScheduleDetails details(ResultSet row, @Nullable Instant missedAt, long missedTimes)
            throws SQLException {
        long lastJob = row.getLong("last_job");
        Long lastJobOrNull = row.wasNull() ? null : lastJob;
        return new ScheduleDetails(
                schedule(row),
                instant(row, "next_at"),
                instant(row, "last_at"),
                lastJobOrNull,
                instant(row, "paused_at"),
                row.getString("paused_by"),
                row.getString("pause_reason"),
                missedAt,
                missedTimes);
    }

    /** One that cannot be read here must not keep the others from being seen. */
    private static Schedule schedule(ResultSet row) throws SQLException {
        String name = row.getString("name");
        String cron = row.getString("cron");
        String zone = row.getString("zone");
        Duration rate = duration(row, "rate");
        Duration delay = duration(row, "delay");
        boolean overlap = row.getBoolean("overlap");
        Job job = job(row);
        Missed missed = Missed.SKIP;
        try {
            missed = Missed.of(row.getString("missed"));
            Recurrence recurrence = cron != null ? Cron.parse(cron, zone) : rate == null ? null : FixedRate.every(rate);
            return new Schedule(name, recurrence, delay, missed, overlap, job);
        } catch (PostroomException e) {
            String when =
                    cron != null ? cron + ", " + zone : rate != null ? "a rate of " + rate : "a delay of " + delay;
            return new Schedule(name, new UnreadableRecurrence(when, e.getMessage()), null, missed, overlap, job);
        }
    }

    private static Job job(ResultSet row) throws SQLException {
        Job.Builder job = Job.of(row.getString("kind"), row.getString("payload"))
                .queue(row.getString("queue"))
                .priority(row.getInt("priority"))
                .tenantId(row.getString("tenant_id"));
        HeaderText.read(row.getString("headers")).forEach(job::header);
        String retry = row.getString("retry");
        Duration deadline = duration(row, "deadline");
        if (retry != null) {
            job.retry(retry);
        }
        if (deadline != null) {
            job.deadline(deadline);
        }
        return job.build();
    }

    private static @Nullable String seconds(@Nullable Duration duration) {
        return duration == null ? null : Double.toString(duration.toNanos() / 1e9);
    }

    private static @Nullable Duration duration(ResultSet row, String column) throws SQLException {
        BigDecimal seconds = row.getBigDecimal(column);
        return seconds == null
                ? null
                : Duration.ofNanos(seconds.movePointRight(9).longValue());
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
