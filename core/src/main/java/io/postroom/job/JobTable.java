package io.postroom.job;

import io.postroom.message.HeaderText;
import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.retry.RetryPolicy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The jobs as whoever enqueues them sees them: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class JobTable {
    private final Sql insert;
    private final Sql insertNow;
    private final Sql insertBatch;
    private final Sql insertCounted;
    private final Sql unknownBonds;
    private final Sql insertBound;
    private final Sql insertBoundBatch;
    private final Sql insertGroup;
    private final Sql putLimit;

    JobTable(Schema schema) {
        insert = schema.sql(JobTable.class, "insert.sql");
        insertNow = schema.sql(JobTable.class, "insert_now.sql");
        insertBatch = schema.sql(JobTable.class, "insert_batch.sql");
        insertCounted = schema.sql(JobTable.class, "insert_counted.sql");
        unknownBonds = schema.sql(JobTable.class, "unknown_bonds.sql");
        insertBound = schema.sql(JobTable.class, "insert_bound.sql");
        insertBoundBatch = schema.sql(JobTable.class, "insert_bound_batch.sql");
        insertGroup = schema.sql(JobTable.class, "insert_group.sql");
        putLimit = schema.sql(JobTable.class, "put_limit.sql");
    }

    long insert(Connection tx, Job job) {
        Integer attemptsMax = attemptsMax(job);
        boolean now = job.runAt() == null && job.runAfter() == null;
        Call call = (now ? insertNow : insert)
                .on(tx)
                .set("kind", job.kind())
                .set("queue", job.queue())
                .set("priority", job.priority())
                .set("tenant_id", job.tenantId())
                .set("payload", job.payload())
                .set("headers", HeaderText.write(job.headers()))
                .set("retry", job.retry())
                .set("attempts_max", attemptsMax == null ? null : attemptsMax.longValue())
                .set("deadline", seconds(job.deadline()));
        if (!now) {
            call.set("run_at", job.runAt()).set("run_after", seconds(job.runAfter()));
        }
        return call.one(row -> row.getLong(1));
    }

    /** The ids in the order of the jobs. */
    List<Long> insertBatch(Connection tx, List<Job> jobs) {
        return ids(columns(insertBatch.on(tx), jobs));
    }

    /** The same for jobs that have a limit or belong to a batch. */
    List<Long> insertCounted(Connection tx, List<Job> jobs) {
        return ids(bonds(columns(insertCounted.on(tx), jobs), jobs));
    }

    private static Call bonds(Call call, List<Job> jobs) {
        return call.set(
                        "limit_names",
                        column(
                                jobs,
                                job -> job.limit() == null ? null : job.limit().name(),
                                String[]::new))
                .set(
                        "limit_keys",
                        column(
                                jobs,
                                job -> job.limit() == null ? null : job.limit().key(),
                                String[]::new))
                .set("batches", column(jobs, Job::batch, Long[]::new));
    }

    /** What jobs name that there is not. */
    Optional<Bound> unknownBonds(Connection tx, Set<String> limits, Set<Long> batches) {
        return unknownBonds
                .on(tx)
                .set("limits", limits.toArray(String[]::new))
                .set("batches", batches.stream().mapToLong(Long::longValue).toArray())
                .first(row -> new Bound(new Enqueued(0, true), row.getString(1), row.getString(2)));
    }

    private static List<Long> ids(Call call) {
        return call.list(row -> row.getLong(1)).stream().sorted().toList();
    }

    private static Call columns(Call call, List<Job> jobs) {
        return call.set("kinds", column(jobs, Job::kind, String[]::new))
                .set("queues", column(jobs, Job::queue, String[]::new))
                .set("priorities", column(jobs, Job::priority, Integer[]::new))
                .set("tenant_ids", column(jobs, Job::tenantId, String[]::new))
                .set("payloads", column(jobs, Job::payload, String[]::new))
                .set("headers", column(jobs, job -> HeaderText.write(job.headers()), String[]::new))
                .set("run_at", column(jobs, job -> micros(job.runAt()), Long[]::new))
                .set("run_after", column(jobs, job -> micros(job.runAfter()), Long[]::new))
                .set("retries", column(jobs, Job::retry, String[]::new))
                .set("attempts_max", column(jobs, JobTable::attemptsMax, Integer[]::new))
                .set("deadline", column(jobs, job -> micros(job.deadline()), Long[]::new));
    }

    /** Or the problem. */
    Bound insertBound(Connection tx, Job job) {
        Integer attemptsMax = attemptsMax(job);
        Unique unique = job.unique();
        LimitKey limit = job.limit();
        return insertBound
                .on(tx)
                .set("kind", job.kind())
                .set("queue", job.queue())
                .set("priority", job.priority())
                .set("tenant_id", job.tenantId())
                .set("payload", job.payload())
                .set("headers", HeaderText.write(job.headers()))
                .set("run_at", job.runAt())
                .set("run_after", seconds(job.runAfter()))
                .set("retry", job.retry())
                .set("attempts_max", attemptsMax == null ? null : attemptsMax.longValue())
                .set("deadline", seconds(job.deadline()))
                .set("unique_key", unique == null ? null : unique.key())
                .set("unique_while", unique == null ? null : unique.scope())
                .set("unique_within", unique == null ? null : seconds(unique.within()))
                .set("limit_name", limit == null ? null : limit.name())
                .set("limit_key", limit == null ? null : limit.key())
                .set("batch", job.batch())
                .set("after_jobs", needs(job, false))
                .set("after_batches", needs(job, true))
                .set("any_end", job.needs().stream().anyMatch(Need::anyEnd) ? "true" : "false")
                .one(JobTable::bound);
    }

    /** The same for many, one after the other, in one statement. */
    List<Bound> insertBoundBatch(Connection tx, List<Job> jobs) {
        return bonds(columns(insertBoundBatch.on(tx), jobs), jobs)
                .set("unique_keys", uniques(jobs, Unique::key, String[]::new))
                .set("unique_whiles", uniques(jobs, Unique::scope, String[]::new))
                .set("unique_withins", uniques(jobs, unique -> micros(unique.within()), Long[]::new))
                .set("after_jobs", column(jobs, job -> arrayText(needs(job, false)), String[]::new))
                .set("after_batches", column(jobs, job -> arrayText(needs(job, true)), String[]::new))
                .set(
                        "any_ends",
                        column(
                                jobs,
                                job -> job.needs().stream().anyMatch(Need::anyEnd) ? "true" : "false",
                                String[]::new))
                .list(JobTable::bound);
    }

    private static Bound bound(ResultSet row) throws SQLException {
        return new Bound(new Enqueued(row.getLong(1), row.getBoolean(2)), row.getString(3), row.getString(4));
    }

    private static <T extends @Nullable Object> T[] uniques(
            List<Job> jobs, Function<Unique, T> value, IntFunction<T[]> array) {
        T[] values = array.apply(jobs.size());
        for (int i = 0; i < values.length; i++) {
            Unique unique = jobs.get(i).unique();
            if (unique != null) {
                values[i] = value.apply(unique);
            }
        }
        return values;
    }

    /** As PostgreSQL writes an array. */
    private static String arrayText(long[] ids) {
        return Arrays.stream(ids).mapToObj(Long::toString).collect(Collectors.joining(",", "{", "}"));
    }

    /** @param code null if all is well */
    record Bound(
            Enqueued enqueued,
            @Nullable String code,
            @Nullable String problem) {}

    long insertGroup(Connection tx, String name) {
        return insertGroup.on(tx).set("name", name).one(row -> row.getLong(1));
    }

    void putLimit(Connection tx, Limit limit) {
        Integer concurrency = limit.concurrency();
        Limit.Rate rate = limit.rate();
        Integer line = limit.line();
        putLimit.on(tx)
                .set("name", limit.name())
                .set("concurrency", concurrency == null ? null : concurrency.longValue())
                .set("rate", rate == null ? null : (Long) (long) rate.count())
                .set("per", rate == null ? null : seconds(rate.per()))
                .set("burst", rate == null ? null : (Long) (long) rate.burst())
                .set("line", line == null ? null : line.longValue())
                .update();
    }

    private static long[] needs(Job job, boolean ofBatch) {
        return job.needs().stream()
                .filter(need -> need.ofBatch() == ofBatch)
                .mapToLong(Need::id)
                .toArray();
    }

    /** What the policy of its own allows; claims must know without reading policies. */
    private static @Nullable Integer attemptsMax(Job job) {
        return job.retry() == null ? null : RetryPolicy.parse(job.retry()).attemptsMax();
    }

    private static @Nullable String seconds(@Nullable Duration duration) {
        return duration == null ? null : Double.toString(duration.toNanos() / 1e9);
    }

    private static @Nullable Long micros(@Nullable Duration duration) {
        return duration == null ? null : duration.toSeconds() * 1_000_000 + duration.toNanosPart() / 1_000;
    }

    private static @Nullable Long micros(@Nullable Instant time) {
        return time == null ? null : time.getEpochSecond() * 1_000_000 + time.getNano() / 1_000;
    }

    private static <T extends @Nullable Object> T[] column(
            List<Job> jobs, Function<Job, T> value, IntFunction<T[]> array) {
        T[] values = array.apply(jobs.size());
        for (int i = 0; i < values.length; i++) {
            values[i] = value.apply(jobs.get(i));
        }
        return values;
    }
}
