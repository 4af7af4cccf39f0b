package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.PostroomException;
import io.postroom.message.HeaderText;
import io.postroom.postgres.Database;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.util.PSQLException;

/** One table of bad inputs and one of good ones at the very limit, for Java, bulk and SQL alike. */
class JobInputTest {
    private static final String TOO_LONG = "a".repeat(201);

    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    /** {@code says}: what the error must name. */
    record Bad(String name, String code, String says, UnaryOperator<Job> change) {
        Job job() {
            return change.apply(plain().build());
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Job.Builder plain() {
        return Job.of("mail.send", "{}");
    }

    static Stream<Bad> bad() {
        List<Bad> bad = new ArrayList<>();
        for (String kind : List.of("", TOO_LONG, " mail", "ma il", "mail\n", "maïl", "-mail", "m'l", "\u0001")) {
            bad.add(new Bad(
                    "kind '" + kind + "'", "job.kind-invalid", "1 to 200", job -> with(job, kind, job.queue())));
        }
        for (String queue : List.of("", "Mail", "9mail", "ma il", "mail!", "a".repeat(101), "mail\n", "é", "_a")) {
            bad.add(new Bad(
                    "queue '" + queue + "'", "job.queue-invalid", "99 letters", job -> with(job, job.kind(), queue)));
        }
        for (int priority : new int[] {-1, 1_000, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            bad.add(of("priority " + priority, "job.priority-invalid", "is " + priority, b -> b.priority(priority)));
        }
        bad.add(of(
                "year 10000",
                "job.run-at-invalid",
                "year 1 to 9999",
                b -> b.runAt(Instant.parse("+10000-01-01T00:00:00Z"))));
        bad.add(of(
                "time and wait",
                "job.run-at-invalid",
                "give one of them",
                b -> b.runAt(Instant.EPOCH).runAfter(Duration.ZERO)));
        bad.add(of("negative wait", "job.run-after-invalid", "3660 days", b -> b.runAfter(Duration.ofMillis(-1))));
        bad.add(of("endless wait", "job.run-after-invalid", "3660 days", b -> b.runAfter(Duration.ofDays(3_661))));
        bad.add(of("no deadline", "job.deadline-invalid", "7 days", b -> b.deadline(Duration.ZERO)));
        bad.add(of("endless deadline", "job.deadline-invalid", "7 days", b -> b.deadline(Duration.ofDays(8))));
        bad.add(of("empty tenant", "job.tenant-id-invalid", "1 to 200", b -> b.tenantId("")));
        bad.add(of("long tenant", "job.tenant-id-invalid", "1 to 200", b -> b.tenantId(TOO_LONG)));
        bad.add(of("tenant with a line break", "job.tenant-id-invalid", "control", b -> b.tenantId("a\nb")));
        for (String key : List.of("", TOO_LONG, "a\nb")) {
            bad.add(of("unique key '" + key + "'", "job.unique-key-invalid", "1 to 200", b -> b.unique(key)));
            bad.add(of("limit key '" + key + "'", "job.limit-key-invalid", "1 to 200", b -> b.limit("l", key)));
        }
        bad.add(of("limit name", "job.limit-name-invalid", "99 letters", b -> b.limit("L", "k")));
        bad.add(of("no such limit", "job.limit-unknown", "declare it", b -> b.limit("nowhere", "k")));
        bad.add(of("no such batch", "job.batch-unknown", "there is no batch 9", b -> b.batch(9)));
        bad.add(of("no such need", "job.need-unknown", "after job 99", b -> b.after(99_999)));
        bad.add(of("needs", "job.needs-too-many", "the most is 100", b -> b.after(new long[101])));
        bad.add(of(
                "endless unique",
                "job.unique-within-invalid",
                "6 days",
                b -> b.unique(Unique.of("k").within(Duration.ofDays(7)))));
        for (String retry : List.of(
                "",
                "sometimes",
                "quick attempts",
                "quick attempts=0",
                "quick attempts=1001",
                "quick attempts=many",
                "quick attempts=3 attempts=4",
                "quick step=1s",
                "linear step=1",
                "linear step=5m cap=1m",
                "quadratic unit=0ms",
                "exponential first=1s cap=31d",
                "exponential jitter=1.5",
                "exponential jitter=x",
                "quick immediate=0",
                "exponential first=1s\u0007",
                "quick " + "x".repeat(500))) {
            bad.add(of("retry '" + retry + "'", "job.retry-invalid", "retry policy", b -> b.retry(retry)));
        }
        bad.add(payload(
                "too large", "job.payload-too-large", "the limit is 1048576", "\"" + "x".repeat(1_048_575) + "\""));
        bad.add(payload("too deep", "job.payload-too-deep", "100 levels", "[".repeat(101) + "]".repeat(101)));
        bad.add(payload("number", "job.payload-number-too-large", "308 digits", "1e400"));
        bad.add(payload("nul", "job.payload-nul", "U+0000", "\"\\u0000\""));
        bad.add(payload("half a pair", "job.payload-not-unicode", "surrogate", "\"\\ud800\""));
        bad.add(payload("key twice", "job.payload-repeats-key", "same key twice", "{\"a\":1,\"a\":2}"));
        bad.add(of("header name", "job.header-name-invalid", "1 to 100 letters", b -> b.header("a b", "v")));
        bad.add(of("header of ours", "job.header-name-reserved", "Postroom's own", b -> b.header("postroom-x", "v")));
        bad.add(of("header value", "job.header-value-invalid", "encode it", b -> b.header("a", "x\ny")));
        bad.add(of("long header", "job.header-value-too-large", "8192", b -> b.header("a", "x".repeat(8_193))));
        return bad.stream();
    }

    private static Bad of(String name, String code, String says, UnaryOperator<Job.Builder> change) {
        return new Bad(name, code, says, job -> change.apply(plain()).build());
    }

    private static Bad payload(String name, String code, String says, String json) {
        return new Bad(
                "payload: " + name, code, says, job -> Job.of("mail.send", json).build());
    }

    private static Job with(Job job, String kind, String queue) {
        return Job.of(kind, job.payload()).queue(queue).build();
    }

    @ParameterizedTest
    @MethodSource("bad")
    void javaRefusesBeforeAnythingIsWritten(Bad bad) {
        refused(bad, tx -> shop.jobs.enqueue(tx, bad.job()));
    }

    @ParameterizedTest
    @MethodSource("bad")
    void aBatchWithOneOfThemIsRefusedWhole(Bad bad) {
        refused(bad, tx -> shop.jobs.enqueueAll(tx, List.of(plain().build(), bad.job())));
    }

    private static void refused(Bad bad, Database.Work<?> enqueue) {
        InvalidJobException e = catchThrowableOfType(
                InvalidJobException.class, () -> shop.postroom.database().transact(enqueue));
        assertThat(e).as(bad.name()).isNotNull();
        assertThat(e.code()).isEqualTo(bad.code());
        assertThat(e).hasMessageStartingWith("could not enqueue job of kind ").hasMessageContaining(bad.says());
        assertThat(e.getMessage().codePoints().anyMatch(Character::isISOControl))
                .isFalse();
    }

    @ParameterizedTest
    @MethodSource("bad")
    void sqlRefusesWithTheSameCode(Bad bad) {
        PSQLException e = catchThrowableOfType(PSQLException.class, () -> enqueueInSql(bad.job()));
        assertThat((Throwable) e).as(bad.name()).isNotNull();
        assertThat(e.getSQLState()).as(e.getMessage()).isEqualTo("22023");
        assertThat(e.getServerErrorMessage().getDetail()).isEqualTo(bad.code());
        assertThat(e.getServerErrorMessage().getMessage())
                .startsWith("could not enqueue job of kind ")
                .contains(bad.says());
    }

    static Stream<Job> good() {
        return Stream.of(
                plain().build(),
                Job.of("a".repeat(200), "null").queue("a" + "b".repeat(99)).build(),
                Job.of("A9_.:/-", "[]").queue("a_.-9").priority(0).build(),
                plain().priority(999).tenantId("🚀".repeat(200)).build(),
                plain().runAt(Instant.parse("9999-12-31T23:59:59.999999Z")).build(),
                plain().runAt(Instant.parse("0001-01-01T00:00:00Z")).build(),
                plain().runAfter(Duration.ofDays(3_660)).build(),
                plain().runAfter(Duration.ZERO).build(),
                plain().deadline(Duration.ofMillis(1)).build(),
                plain().deadline(Duration.ofDays(7)).build(),
                plain().retry("quick").build(),
                plain().retry(" exponential  first=1ms cap=30d attempts=1000 immediate=1000 jitter=1.0\t")
                        .build(),
                plain().retry("linear step=4m attempts=1").build(),
                plain().retry("quadratic unit=5min cap=2h jitter=0").build(),
                Job.of("mail.send", "\"" + "x".repeat(1_048_574) + "\"").build(),
                Job.of("mail.send", " {\"a\" : 1.50, \"é\":\"\\u00e9\"} ")
                        .header("traceparent", "00-1")
                        .build());
    }

    @ParameterizedTest
    @MethodSource("good")
    void whatIsWithinTheLimitsIsStoredTheSameHoweverItCame(Job job) throws SQLException {
        long java = shop.postroom.database().transact(tx -> shop.jobs.enqueue(tx, job));
        long bulk = shop.enqueueAll(List.of(job)).get(0);
        long sql = enqueueInSql(job);
        String columns =
                "select kind, queue, priority, tenant_id, md5(payload::text), headers, waits, attempt, attempts_max, btrim(retry),"
                        + " deadline, state, fence, " + (job.runAt() == null ? "null" : "run_at")
                        + " from postroom.job where id = ";
        String stored = shop.text(columns + java);
        assertThat(shop.text(columns + bulk)).isEqualTo(stored);
        assertThat(shop.text(columns + sql)).isEqualTo(stored);
        JobDetails found = shop.postroom.jobBoard().find(java).orElseThrow();
        assertThat(found.payload()).isEqualTo(job.payload());
        assertThat(found.headers()).isEqualTo(job.headers());
        boolean later = job.runAt() != null && job.runAt().isAfter(Instant.now())
                || job.runAfter() != null && !job.runAfter().isZero();
        assertThat(found.waits()).isEqualTo(later ? "time" : null);
    }

    @Test
    void aBatchOfTooManyOrTooMuchIsRefused() {
        List<Job> many = Collections.nCopies(Jobs.BATCH_MAX + 1, plain().build());
        List<Job> much = Collections.nCopies(
                65, Job.of("a", "\"" + "x".repeat(1_048_574) + "\"").build());
        for (List<Job> batch : List.of(many, much)) {
            InvalidJobException e = catchThrowableOfType(InvalidJobException.class, () -> shop.enqueueAll(batch));
            assertThat(e.code()).isEqualTo("job.batch-too-large");
            assertThat(e).hasMessageContaining("with another call");
        }
        assertThat(shop.enqueueAll(List.of())).isEmpty();
    }

    @Test
    void aConnectionWithoutATransactionIsRefused() throws SQLException {
        try (Connection connection = shop.database.dataSource().getConnection()) {
            PostroomException e =
                    catchThrowableOfType(PostroomException.class, () -> shop.jobs.enqueue(connection, plain().build()));
            assertThat(e.code()).isEqualTo("job.no-transaction");
        }
    }

    @Test
    void workersReportEveryProblemAtOnce() {
        PostroomException e = catchThrowableOfType(
                PostroomException.class,
                () -> shop.jobs
                        .workers()
                        .name("")
                        .queue("Mail", 0)
                        .handle(Kind.of("a b", job -> JobOutcome.done()).deadline(Duration.ZERO))
                        .lease(Duration.ofDays(1))
                        .poll(Duration.ofSeconds(2), Duration.ofSeconds(1))
                        .build());
        assertThat(e.code()).isEqualTo("worker.invalid");
        for (String says :
                List.of("'Mail'", "0 threads", "'a b'", "deadline", "lease is PT24H", "poll min", "name is ''")) {
            assertThat(e).hasMessageContaining(says);
        }
    }

    private static long enqueueInSql(Job job) throws SQLException {
        try (Connection connection = shop.database.dataSource().getConnection();
                PreparedStatement call = connection.prepareStatement(
                        "select postroom.enqueue(kind => ?, payload => ?::json, queue => ?, priority => ?, run_at => ?::timestamptz,"
                                + " run_after => ?::interval, tenant_id => ?, headers => ?::json, retry => ?, deadline => ?::interval,"
                                + " unique_key => ?, unique_within => ?::interval, limit_name => ?, limit_key => ?, batch => ?::bigint,"
                                + " after_jobs => ?::bigint[])")) {
            call.setString(1, job.kind());
            call.setString(2, job.payload());
            call.setString(3, job.queue());
            call.setInt(4, job.priority());
            call.setString(
                    5, job.runAt() == null ? null : job.runAt().toString().replace("+10000", "10000"));
            call.setString(6, job.runAfter() == null ? null : job.runAfter().toMillis() + " ms");
            call.setString(7, job.tenantId());
            call.setString(8, job.headers().isEmpty() ? null : headers(job.headers()));
            call.setString(9, job.retry());
            call.setString(10, job.deadline() == null ? null : job.deadline().toMillis() + " ms");
            Unique unique = job.unique();
            call.setString(11, unique == null ? null : unique.key());
            call.setString(
                    12,
                    unique == null || unique.within() == null
                            ? null
                            : unique.within().toMillis() + " ms");
            call.setString(13, job.limit() == null ? null : job.limit().name());
            call.setString(14, job.limit() == null ? null : job.limit().key());
            call.setString(15, job.batch() == null ? null : job.batch().toString());
            call.setString(
                    16,
                    job.needs().isEmpty()
                            ? null
                            : job.needs().stream()
                                    .map(need -> "" + need.id())
                                    .collect(Collectors.joining(",", "{", "}")));
            try (var row = call.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private static String headers(Map<String, String> headers) {
        return HeaderText.write(headers);
    }
}
