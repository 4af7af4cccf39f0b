package io.postroom.web.javalin;

import static org.assertj.core.api.Assertions.assertThat;

import io.javalin.Javalin;
import io.javalin.http.BadRequestResponse;
import io.postroom.Postroom;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Javalin's handlers do besides returning bytes. */
class IdempotentTest {
    private static final AtomicInteger RUNS = new AtomicInteger();

    private static TestDatabase database;
    private static FakeProvider provider;
    private static Javalin server;
    private static int keys;

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        provider = FakeProvider.start();
        server = Javalin.create(config -> {
                    config.routes.post("/json", Idempotent.once(route("json"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        context.status(201)
                                .contentType("application/json")
                                .result("{\"run\":" + RUNS.get() + ",\"said\":\"" + context.formParams("a") + "\"}");
                    }));
                    config.routes.post("/empty", Idempotent.once(route("empty"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        context.status(204);
                    }));
                    config.routes.post("/refuse", Idempotent.once(route("refuse"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        throw new BadRequestResponse("not like this");
                    }));
                    config.routes.post("/charge", Idempotent.steps(route("charge"), context -> "", (context, steps) -> {
                        String order = steps.step("reserve", tx -> "order-" + keys);
                        FakeProvider.charge(provider.url(), "charge:" + order + ":r1", "{}");
                        if (!steps.isResumed()) {
                            throw new IllegalStateException("out of luck");
                        }
                        context.status(201).result(steps.step("note", tx -> "paid " + order));
                    }));
                    config.routes.post("/future", Idempotent.once(route("future"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        context.status(202).future(() -> CompletableFuture.completedFuture("later"));
                    }));
                    config.routes.post("/async", Idempotent.once(route("async"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        context.async(() -> context.result("later"));
                    }));
                    config.routes.post("/stream", Idempotent.once(route("stream"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        context.outputStream().write(new byte[100_000]);
                    }));
                    config.routes.post("/past", Idempotent.once(route("past"), context -> "", (context, tx) -> {
                        RUNS.incrementAndGet();
                        context.res().flushBuffer();
                    }));
                    config.routes.post(
                            "/huge",
                            Idempotent.once(
                                    KeyedRoute.builder(
                                                    database.postroom().database(),
                                                    database.postroom().idempotency(),
                                                    "huge")
                                            .requestBytesMax(5_000_000)
                                            .build(),
                                    context -> "",
                                    (context, tx) -> context.result("never")));
                    config.routes.post("/last", Idempotent.steps(route("last"), context -> "", (context, steps) -> {
                        context.header("ETag", "\"written\"").result("written");
                        steps.answer(tx -> Answer.json(201, "{\"stored\":true}"));
                    }));
                    config.routes.post(
                            "/member",
                            Idempotent.once(
                                    route("member"),
                                    context -> "",
                                    context -> Objects.requireNonNull(context.header("X-Member")),
                                    (context, tx) -> context.result("done")));
                    config.routes.get(
                            "/misplaced", Idempotent.once(route("misplaced"), context -> "", (context, tx) -> {}));
                })
                .start("127.0.0.1", 0);
    }

    private static KeyedRoute route(String scope) {
        Postroom postroom = database.postroom();
        return KeyedRoute.builder(postroom.database(), postroom.idempotency(), scope)
                .build();
    }

    @AfterAll
    static void stop() {
        server.stop();
        provider.close();
        database.close();
    }

    private static HttpResponse<String> send(String method, String path, String key, String type, String body)
            throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                                .header("Idempotency-Key", key)
                                .header("Content-Type", type)
                                .method(method, HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void jsonIsRepeatedAndAFormIsRead() throws Exception {
        String key = "key-" + ++keys;
        String form = "application/x-www-form-urlencoded";
        HttpResponse<String> first = send("POST", "/json", key, form, "a=1&a=2");
        HttpResponse<String> again = send("POST", "/json", key, form, "a=1&a=2");
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.body()).contains("[1, 2]");
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(again.headers().firstValue("Content-Type"))
                .isEqualTo(first.headers().firstValue("Content-Type"));
        assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
    }

    @Test
    void nothingIsRepeatedToo() throws Exception {
        String key = "key-" + ++keys;
        int before = RUNS.get();
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = send("POST", "/empty", key, "text/plain", "");
            assertThat(response.statusCode()).isEqualTo(204);
            assertThat(response.body()).isEmpty();
        }
        assertThat(RUNS.get() - before).isEqualTo(1);
    }

    @Test
    void whatIsThrownGoesToJavalinAndIsTriedAgain() throws Exception {
        String key = "key-" + ++keys;
        int before = RUNS.get();
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = send("POST", "/refuse", key, "text/plain", "");
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(response.body()).contains("not like this");
        }
        assertThat(RUNS.get() - before).isEqualTo(2);
    }

    @Test
    void whatFailsBetweenStepsGoesOnAndChargesOnce() throws Exception {
        String key = "key-" + ++keys;
        assertThat(send("POST", "/charge", key, "application/json", "{}").statusCode())
                .isEqualTo(500);
        HttpResponse<String> second = send("POST", "/charge", key, "application/json", "{}");
        assertThat(second.statusCode()).isEqualTo(201);
        HttpResponse<String> third = send("POST", "/charge", key, "application/json", "{}");
        assertThat(third.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(third.body()).isEqualTo(second.body()).startsWith("paid order-");
        assertThat(provider.charges()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/future", "/async", "/stream", "/past"})
    void whatIsAnsweredLaterOrPastTheTransactionIsNotStored(String path) throws Exception {
        String key = "key-" + ++keys;
        int before = RUNS.get();
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = send("POST", path, key, "text/plain", "");
            assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
            if (!path.equals("/past")) {
                assertThat(response.statusCode()).isEqualTo(500);
            }
        }
        assertThat(RUNS.get() - before).as("runs, each rolled back").isEqualTo(2);
    }

    @Test
    void whatTheLastStepHasStoredIsWhatTheFirstClientGetsToo() throws Exception {
        String key = "key-" + ++keys;
        for (int i = 0; i < 2; i++) {
            HttpResponse<String> response = send("POST", "/last", key, "text/plain", "");
            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(response.body()).isEqualTo("{\"stored\":true}");
            assertThat(response.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("application/json");
            assertThat(response.headers().firstValue("ETag")).isEmpty();
            assertThat(response.headers().firstValue("Idempotent-Replayed").isPresent())
                    .isEqualTo(i == 1);
        }
    }

    /** Javalin's own limit is another one than the route's. */
    @Test
    void aBodyThatJavalinRefusesIsNotMeasuredByTheRoute() throws Exception {
        HttpResponse<String> response = send("POST", "/huge", "key-" + ++keys, "text/plain", "x".repeat(2_000_000));
        assertThat(response.statusCode()).isEqualTo(413);
        assertThat(response.body()).contains("larger than this server allows").doesNotContain("5000000");
    }

    @Test
    void membersOfATenantDoNotGetEachOthersAnswers() throws Exception {
        String key = "key-" + ++keys;
        for (String member : List.of("anna", "bert", "anna")) {
            HttpResponse<String> response = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/member"))
                                    .header("Idempotency-Key", key)
                                    .header("X-Member", member)
                                    .POST(HttpRequest.BodyPublishers.noBody())
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode()).as(member).isEqualTo(member.equals("anna") ? 200 : 409);
        }
    }

    @Test
    void aHandlerOfTheWrongMethodIsRefused() throws Exception {
        assertThat(send("GET", "/misplaced", "k", "text/plain", "").statusCode())
                .isEqualTo(500);
    }
}
