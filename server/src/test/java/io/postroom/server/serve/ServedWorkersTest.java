package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.job.Job;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Schedule;
import io.postroom.server.CommandRun;
import io.postroom.server.Program;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Workers of a server that has nobody's code: the program in JVMs of its own, real PostgreSQL, a real endpoint. */
class ServedWorkersTest {
    private static final String KEY = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    @TempDir
    private Path folder;

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void sendsJobsAsSignedWebhooksUnderTheirOwnIds() throws Exception {
        try (JobEndpoint endpoint = JobEndpoint.start(request -> 204);
                Program workers = workers("""
                        workers: {queues: {hooks: 2}}
                        jobs:
                          receipt.send: {%s}
                        """.formatted(endpoint.block()))) {
            long id = enqueue(Job.of("receipt.send", "{\"order\": 7}"));
            JobEndpoint.Received received = endpoint.await();
            assertThat(received.id()).matches("job-[0-9a-f]{12}-" + id);
            assertThat(received.body()).isEqualTo("{\"type\":\"receipt.send\",\"data\":{\"order\": 7}}");
            assertThat(received.signature()).isEqualTo("v1," + signature(received));
            awaitDone(1);
            assertThat(endpoint.all()).hasSize(1);
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
            assertThat(workers.said()).doesNotContain("whsec_").doesNotContain(KEY);
        }
        assertThat(database.queryLong("select count(*) from postroom.worker")).isZero();
    }

    @Test
    void publishesOneMessageForEachJob() throws Exception {
        try (Program workers = workers("""
                workers: {queues: {hooks: 4}}
                jobs:
                  order.remind:
                    publish: {aggregate-type: order, aggregate-id-field: order.id, event-type: OrderReminded, event-version: 2}
                """)) {
            enqueue(Job.of("order.remind", "{\"order\": {\"id\": 7}}")
                    .tenantId("acme")
                    .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
            awaitDone(1);
            assertThat(database.queryLong(
                            "select count(*) from postroom.outbox where aggregate_type = 'order' and aggregate_id = '7'"
                                    + " and event_type = 'OrderReminded' and event_version = 2 and tenant_id = 'acme'"
                                    + " and payload::text = '{\"order\": {\"id\": 7}}'"
                                    + " and headers ->> 'traceparent' like '00-4bf92f35%'"))
                    .isEqualTo(1);
            // As many headers as a job may have, and besides them the trace that enqueue adds.
            database.postroom().database().transact(tx -> {
                Job.Builder full =
                        Job.of("order.remind", "{\"order\": {\"id\": 8}}").queue("hooks");
                for (int i = 0; i < 64; i++) {
                    full.header("h" + i, "x");
                }
                database.postroom().jobs().enqueue(tx, full.build());
                try (Statement statement = tx.createStatement()) {
                    return statement.executeUpdate("update postroom.job set headers = (headers::jsonb"
                            + " || jsonb_build_object('traceparent', '00-1', 'tracestate', 'a=1'))::json");
                }
            });
            awaitDone(2);
            assertThat(database.queryLong("select count(*) from postroom.outbox where aggregate_id = '8'"))
                    .isEqualTo(1);
            enqueue(Job.of("order.remind", "{\"order\": {}}"));
            await(() -> database.queryLong(
                            "select count(*) from postroom.dead_letter where error_class = 'invalid-message' and cause = 'rejected'")
                    == 1);
            assertThat(database.queryLong("select count(*) from postroom.outbox"))
                    .isEqualTo(2);
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
        }
    }

    @Test
    void triesAgainWhatMayGoThroughLaterAndGivesUpWhatNeverWill() throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        // The number in the payload is the answer to the first attempt.
        try (JobEndpoint endpoint = JobEndpoint.start(request ->
                        seen.add(request.id()) ? Integer.parseInt(request.body().replaceAll("\\D", "")) : 204);
                Program workers = workers("""
                        workers: {queues: {hooks: 4}}
                        jobs:
                          hook: {retry: linear step=1ms, %s}
                        """.formatted(endpoint.block()))) {
            for (int status : List.of(200, 400, 401, 404, 410, 422, 429, 500, 502, 503)) {
                enqueue(Job.of("hook", Integer.toString(status)));
            }
            await(() -> database.queryLong("select count(*) from postroom.job_done") == 10);
            assertThat(texts(
                            "select string_agg(payload::text, ' ' order by id) from postroom.job_done where state = 'failed'"
                                    + " and attempt = 1"))
                    .isEqualTo("400 410 422");
            assertThat(
                            texts(
                                    "select string_agg(payload::text, ' ' order by id) from postroom.job_done where state = 'done' and attempt = 2"))
                    .isEqualTo("401 404 429 500 502 503");
            assertThat(texts("select string_agg(error_class, ' ' order by job_id) from postroom.job_attempt"))
                    .isEqualTo("http.400 http.401 http.404 http.410 http.422 http.429 http.500 http.502 http.503");
            assertThat(texts("select error from postroom.job_done where payload::text = '410'"))
                    .matches(
                            "could not send job \\d+ to http://127.0.0.1:\\d+: the endpoint answered 410; the endpoint wants no more");
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
        }
    }

    @Test
    void waitsAsLongAsTheEndpointAsksFor() throws Exception {
        try (JobEndpoint endpoint = JobEndpoint.start(request -> 503, Map.of("Retry-After", "600"));
                Program workers = workers("""
                        workers: {queues: {hooks: 1}}
                        jobs:
                          hook: {%s}
                        """.formatted(endpoint.block()))) {
            enqueue(Job.of("hook", "{}"));
            await(() -> database.queryLong(
                            "select count(*) from postroom.job where state = 'ready' and waits = 'time' and"
                                    + " run_at between clock_timestamp() + interval '9 min' and clock_timestamp() + interval '10 min'")
                    == 1);
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
        }
    }

    @Test
    void losesNoJobAndPublishesNoneTwiceWhenItIsKilled() throws Exception {
        CountDownLatch killed = new CountDownLatch(1);
        try (JobEndpoint endpoint = JobEndpoint.start(request -> held(killed))) {
            String text = """
                    workers: {lease: 1s, queues: {hooks: 4, events: 4}}
                    jobs:
                      hook: {%s}
                      event: {publish: {aggregate-type: order, aggregate-id-field: id, event-type: Reminded}}
                    """.formatted(endpoint.block());
            try (Program first = workers(text)) {
                enqueueAll("hook", "hooks", 40);
                enqueueAll("event", "events", 4_000);
                await(() -> endpoint.all().size() == 4
                        && database.queryLong("select count(*) from postroom.outbox") >= 100);
                first.kill();
                first.awaitExit();
            }
            killed.countDown();
            assertThat(database.queryLong("select count(*) from postroom.job where queue = 'events'"))
                    .as("killed in the midst")
                    .isPositive();
            try (Program second = workers(text)) {
                awaitDone(4_040);
                second.terminate();
                assertThat(second.awaitExit()).isZero();
            }
            assertThat(endpoint.all().stream().map(JobEndpoint.Received::id).collect(Collectors.toSet()))
                    .hasSize(40);
            // Those that were under way came again, under the same ids.
            assertThat(endpoint.all()).hasSizeGreaterThanOrEqualTo(44);
        }
        assertThat(database.queryLong("select count(*) from postroom.job")).isZero();
        assertThat(database.queryLong("select count(*) from postroom.outbox")).isEqualTo(4_000);
        assertThat(database.queryLong("select count(distinct aggregate_id) from postroom.outbox"))
                .isEqualTo(4_000);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    @Test
    void handsBackWhatHasNotBegunWhenItIsTerminated() throws Exception {
        CountDownLatch stopping = new CountDownLatch(1);
        try (JobEndpoint endpoint = JobEndpoint.start(request -> held(stopping));
                Program workers = workers("""
                        workers: {queues: {hooks: 2}}
                        jobs:
                          hook: {%s}
                        """.formatted(endpoint.block()))) {
            enqueueAll("hook", "hooks", 20);
            await(() -> endpoint.all().size() == 2);
            workers.terminate();
            await(() -> database.queryLong("select count(*) from postroom.job where state = 'running'") == 2);
            stopping.countDown();
            assertThat(workers.awaitExit()).isZero();
            assertThat(endpoint.all()).hasSize(2);
        }
        assertThat(database.queryLong("select count(*) from postroom.job_done where state = 'done'"))
                .isEqualTo(2);
        assertThat(database.queryLong("select count(*) from postroom.job where state = 'ready' and attempt = 0"))
                .isEqualTo(18);
        assertThat(database.queryLong("select count(*) from postroom.worker")).isZero();
    }

    @Test
    void firesSchedulesOfTheFileAndOfApplications() throws Exception {
        String text = """
                workers: {queues: {events: 1}}
                jobs:
                  tick: {publish: {aggregate-type: clock, aggregate-id: main, event-type: Ticked}}
                schedules:
                  ticking: {every: 1s, job: {kind: tick, queue: events, payload: '{"from":"file"}'}}
                  nightly: {cron: 30 2 * * *, zone: Europe/Berlin, missed: once, overlap: false, job: {kind: tick, queue: events}}
                """;
        try (Program workers = workers(text)) {
            await(() -> database.queryLong("select count(*) from postroom.outbox where payload ->> 'from' = 'file'"
                            + " and headers ->> 'schedule' = 'ticking'")
                    >= 2);
            Schedule other = Schedule.of(
                    "of-an-application",
                    FixedRate.every(Duration.ofSeconds(1)),
                    Job.of("tick", "{\"from\":\"application\"}").queue("events").build());
            database.postroom()
                    .database()
                    .transact(tx -> database.postroom().schedules().put(tx, other));
            await(() ->
                    database.queryLong("select count(*) from postroom.outbox where payload ->> 'from' = 'application'")
                            >= 1);
            assertThat(
                            database.queryLong(
                                    "select count(*) from postroom.schedule where name = 'nightly' and not overlap and missed = 'once'"))
                    .isEqualTo(1);
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
        }
        assertThat(database.queryLong("select count(*) - count(distinct headers ->> 'fire-at') from postroom.outbox"
                        + " where payload ->> 'from' = 'file'"))
                .as("times that fired twice")
                .isZero();
    }

    @Test
    void leavesOtherQueuesAlone() throws Exception {
        try (JobEndpoint endpoint = JobEndpoint.start(request -> 204);
                Program workers = workers("""
                        workers: {queues: {hooks: 1}}
                        jobs:
                          hook: {%s}
                        """.formatted(endpoint.block()))) {
            enqueueAll("report.build", "default", 1);
            enqueue(Job.of("hook", "{}"));
            awaitDone(1);
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
        }
        assertThat(database.queryLong(
                        "select count(*) from postroom.job where queue = 'default' and state = 'ready' and fence = 0"))
                .isEqualTo(1);
    }

    @Test
    void runsBesideAConsoleThatShowsIt() throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                console: {address: 0}
                workers: {name: hand-1, queues: {events: 1}}
                jobs:
                  tick: {publish: {aggregate-type: clock, aggregate-id: main, event-type: Ticked}}
                """);
        try (Program serve = Program.start("serve", "--config", file.toString(), "--url", database.url())) {
            String said = serve.awaitTalk(line -> line.contains("console at "));
            URI entry = URI.create(said.substring(said.indexOf("http")));
            HttpClient browser = HttpClient.newBuilder()
                    .followRedirects(HttpClient.Redirect.NORMAL)
                    .cookieHandler(new CookieManager())
                    .build();
            get(browser, entry);
            assertThat(get(browser, entry.resolve("/settings"))).contains("workers");
            assertThat(get(browser, entry.resolve("/api/v1/settings")))
                    .contains("\"parts\":[\"workers\",\"maintenance\",\"console\",\"metrics\"]");
            assertThat(CommandRun.of("status", "--url", database.url()).out())
                    .containsPattern("worker +hand-1 +events");
            serve.terminate();
            assertThat(serve.awaitExit()).isZero();
        }
    }

    @Test
    void theRolesOfARelayAndAWriterAreEnough() throws Exception {
        Grants grants = Grants.of(new Schema(database.name()));
        String both = database.name() + "_both";
        database.execute(
                grants.print(Schema.POSTROOM),
                "create role " + both,
                "grant " + grants.relay() + ", " + grants.writer() + " to " + both);
        try (JobEndpoint endpoint = JobEndpoint.start(request -> 204)) {
            Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                    workers: {queues: {hooks: 2}}
                    jobs:
                      hook: {%s}
                      tick: {publish: {aggregate-type: clock, aggregate-id: main, event-type: Ticked}}
                    schedules:
                      ticking: {every: 1s, job: {kind: tick, queue: hooks}}
                    """.formatted(endpoint.block()));
            String url = database.url() + (database.url().contains("?") ? "&" : "?") + "options=-c%20role=" + both;
            try (Program workers = Program.start(
                    Map.of("HOOK_SECRET", "whsec_" + KEY),
                    "serve",
                    "--config",
                    file.toString(),
                    "--only",
                    "workers",
                    "--url",
                    url)) {
                enqueue(Job.of("hook", "{}"));
                endpoint.await();
                await(() -> database.queryLong("select count(*) from postroom.outbox") >= 1);
                workers.terminate();
                assertThat(workers.awaitExit()).isZero();
                assertThat(workers.said()).doesNotContain("permission");
            }
        } finally {
            for (String role : grants.roles()) {
                database.execute(
                        "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
            }
            database.execute("drop role " + both);
        }
    }

    @Test
    void showsItsMetricsWithoutAConsole() throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                console: {address: 0}
                workers: {queues: {hooks: 1}}
                jobs:
                  tick: {publish: {aggregate-type: clock, aggregate-id: main, event-type: Ticked}}
                """);
        try (Program workers = Program.start(
                "serve", "--config", file.toString(), "--only", "workers,metrics", "--url", database.url())) {
            String said = workers.awaitTalk(line -> line.contains("metrics at "));
            URI metrics = URI.create(said.substring(said.indexOf("http")));
            enqueue(Job.of("tick", "{}"));
            HttpClient client = HttpClient.newHttpClient();
            await(
                    () -> get(client, metrics)
                            .contains(
                                    "postroom_jobs_run_seconds_count{kind=\"tick\",outcome=\"done\",queue=\"hooks\",schema=\"postroom\"} 1"));
            workers.terminate();
            assertThat(workers.awaitExit()).isZero();
        }
    }

    private static String get(HttpClient browser, URI page) {
        try {
            return browser.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int held(CountDownLatch latch) {
        try {
            return latch.await(60, TimeUnit.SECONDS) ? 204 : 500;
        } catch (InterruptedException e) {
            return 500;
        }
    }

    private void enqueueAll(String kind, String queue, int count) {
        List<Job> jobs = IntStream.range(0, count)
                .mapToObj(i -> Job.of(kind, "{\"id\":" + i + "}").queue(queue).build())
                .toList();
        database.postroom().database().transact(tx -> database.postroom().jobs().enqueueAll(tx, jobs));
    }

    private String texts(String sql) {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private Program workers(String text) throws IOException {
        return workers("postroom.yaml", text);
    }

    private Program workers(String name, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name), text);
        return Program.start(
                Map.of("POSTROOM_URL", database.url(), "HOOK_SECRET", "whsec_" + KEY),
                "serve",
                "--config",
                file.toString(),
                "--only",
                "workers");
    }

    private long enqueue(Job.Builder job) {
        return database.postroom()
                .database()
                .transact(tx -> database.postroom()
                        .jobs()
                        .enqueue(tx, job.queue("hooks").build()));
    }

    private void awaitDone(long count) {
        await(() -> database.queryLong("select count(*) from postroom.job_done where state = 'done'") >= count);
    }

    private static void await(BooleanSupplier wanted) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!wanted.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(20_000_000);
        }
    }

    private static String signature(JobEndpoint.Received received) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(Base64.getDecoder().decode(KEY), "HmacSHA256"));
        byte[] signed =
                (received.id() + "." + received.timestamp() + "." + received.body()).getBytes(StandardCharsets.UTF_8);
        return Base64.getEncoder().encodeToString(mac.doFinal(signed));
    }
}
