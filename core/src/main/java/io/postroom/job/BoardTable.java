package io.postroom.job;

import io.postroom.message.HeaderText;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The jobs as operators see them: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class BoardTable {
    private final Sql find;
    private final Sql span;
    private final Sql list;
    private final Sql queues;
    private final Sql hurry;
    private final Sql findLetter;
    private final Sql attempts;
    private final Sql lockJob;
    private final Sql askCancel;
    private final Sql pause;
    private final Sql resume;

    BoardTable(Schema schema) {
        find = schema.sql(BoardTable.class, "find.sql");
        span = schema.sql(BoardTable.class, "span.sql");
        list = schema.sql(BoardTable.class, "list.sql");
        queues = schema.sql(BoardTable.class, "queues.sql");
        hurry = schema.sql(BoardTable.class, "hurry.sql");
        findLetter = schema.sql(BoardTable.class, "find_letter.sql");
        attempts = schema.sql(BoardTable.class, "attempts.sql");
        lockJob = schema.sql(BoardTable.class, "lock_job.sql");
        askCancel = schema.sql(BoardTable.class, "ask_cancel.sql");
        pause = schema.sql(BoardTable.class, "pause.sql");
        resume = schema.sql(BoardTable.class, "resume.sql");
    }

    Optional<JobDetails> find(Connection tx, long id) {
        return find.on(tx).set("id", id).first(BoardTable::details);
    }

    List<JobAttempt> attempts(Connection tx, long id, int limit) {
        return attempts.on(tx).set("id", id).set("limit", limit).list(BoardTable::attempt);
    }

    /** The ids of jobs that have ended; both are 0 if there are none. */
    record Span(long oldest, long newest) {}

    Span span(Connection tx) {
        return span.on(tx).one(row -> new Span(row.getLong("oldest"), row.getLong("newest")));
    }

    List<JobDetails> list(Connection tx, JobFilter filter, long from, long before, int limit) {
        JobState state = filter.state();
        return list.on(tx)
                .set("queue", filter.queue())
                .set("kind", filter.kind())
                .set("state", state == null ? null : state.word())
                .set("tenant_id", filter.tenantId())
                .set("batch", filter.batch())
                .set("from", from)
                .set("before", before)
                .set("limit", limit)
                .list(BoardTable::details);
    }

    List<JobQueue> queues(Connection tx) {
        return queues.on(tx)
                .set("count_max", JobBoard.COUNT_MAX)
                .list(row -> new JobQueue(
                        row.getString("name"),
                        row.getLong("ready"),
                        row.getLong("waiting"),
                        row.getLong("running"),
                        row.getLong("workers"),
                        instantOrNull(row, "paused_at"),
                        row.getString("paused_by"),
                        row.getString("pause_reason")));
    }

    boolean hurry(Connection tx, long id) {
        return hurry.on(tx).set("id", id).update() > 0;
    }

    Optional<Long> findLetter(Connection tx, long id) {
        return findLetter.on(tx).set("id", id).first(row -> row.getLong(1));
    }

    /** Whether it runs; empty if it has ended. */
    Optional<Boolean> lockJob(Connection tx, long id) {
        return lockJob.on(tx).set("id", id).first(row -> row.getBoolean(1));
    }

    void askCancel(Connection tx, long id) {
        askCancel.on(tx).set("id", id).update();
    }

    boolean pause(Connection tx, String queue, String actor, String reason) {
        return pause.on(tx)
                        .set("name", queue)
                        .set("actor", actor)
                        .set("reason", reason)
                        .update()
                > 0;
    }

    boolean resume(Connection tx, String queue) {
        return resume.on(tx).set("name", queue).update() > 0;
    }

    private static JobDetails details(ResultSet row) throws SQLException {
        long batch = row.getLong("batch");
        Long batchOrNull = row.wasNull() ? null : batch;
        return new JobDetails(
                row.getLong("id"),
                row.getString("queue"),
                row.getString("kind"),
                JobState.of(row.getString("state")),
                row.getInt("priority"),
                row.getString("tenant_id"),
                row.getString("payload"),
                HeaderText.read(row.getString("headers")),
                row.getString("waits"),
                instant(row, "run_at"),
                row.getInt("attempt"),
                row.getLong("fence"),
                row.getString("worker"),
                instantOrNull(row, "claimed_at"),
                instantOrNull(row, "cancel_asked_at"),
                row.getString("unique_key"),
                batchOrNull,
                row.getString("progress"),
                instant(row, "created_at"),
                instantOrNull(row, "ended_at"),
                row.getString("ended_by"),
                row.getString("result"),
                row.getString("error_class"),
                row.getString("error"));
    }

    private static JobAttempt attempt(ResultSet row) throws SQLException {
        return new JobAttempt(
                row.getInt("attempt"),
                instant(row, "at"),
                Duration.ofNanos(Math.round(row.getDouble("seconds") * 1e9)),
                row.getString("worker"),
                row.getString("outcome"),
                row.getString("error_class"),
                row.getString("error"),
                row.getString("fingerprint"));
    }

    private static Instant instant(ResultSet row, String column) throws SQLException {
        return Objects.requireNonNull(instantOrNull(row, column));
    }

    private static @Nullable Instant instantOrNull(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
