package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.idempotency.http.Dialect;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What idempotency keys must do over real HTTP, whatever the server: everything in both dialects, in one transaction and in steps. An
 * adapter's test extends it and serves a {@link KeyedShop} on {@link KeyedRoutes}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class KeyedHttpContract {
    private static final String JSON = "application/json";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final KeyedShop shop = new KeyedShop();
    private final Map<Dialect, Served> servers = new EnumMap<>(Dialect.class);
    private TestDatabase database;
    private int keys;

    /** A server that listens on loopback. */
    public interface Served extends AutoCloseable {
        int port();

        @Override
        void close();
    }

    /** How it is asked: which statuses refusals have, and whether in one transaction or in steps. */
    enum Way {
        SEEDS_ONCE(Dialect.SEEDS, false, 409, 425),
        SEEDS_STEPS(Dialect.SEEDS, true, 409, 425),
        IETF_ONCE(Dialect.IETF, false, 422, 409),
        IETF_STEPS(Dialect.IETF, true, 422, 409);

        private final Dialect dialect;
        private final boolean inSteps;
        private final int mismatch;
        private final int running;

        Way(Dialect dialect, boolean inSteps, int mismatch, int running) {
            this.dialect = dialect;
            this.inSteps = inSteps;
            this.mismatch = mismatch;
            this.running = running;
        }

        private String path() {
            return inSteps ? "/steps" : "/orders";
        }

        /** A step that is done stays done, whatever is answered after it; in one transaction it is undone with the failure. */
        private long left() {
            return inSteps ? 1 : 0;
        }
    }

    /** Starts a server whose client's tenant is in the header {@code X-Tenant}, as if it had been authenticated. */
    protected abstract Served serve(KeyedShop shop, KeyedRoutes routes) throws Exception;

    @BeforeAll
    final void open() throws Exception {
        database = TestDatabase.create();
        database.execute("create table orders (id bigint generated always as identity, body text)");
        for (Dialect dialect : Dialect.values()) {
            servers.put(dialect, serve(shop, KeyedRoutes.of(database.postroom(), dialect)));
        }
    }

    @AfterAll
    final void close() {
        servers.values().forEach(Served::close);
        database.close();
    }

    private String key() {
        return "key-" + ++keys;
    }

    /** A body like no other. */
    private String body(String word) {
        return "{\"do\":\"" + word + "\",\"n\":\"" + ++keys + "\"}";
    }

    /** How many orders there are with this body. */
    private long orders(String body) {
        return database.queryLong("select count(*) from orders where body = '" + body + "'");
    }

    private HttpRequest.Builder to(Way way, String path) {
        int port = servers.get(way.dialect).port();
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Tenant", "t1");
    }

    private HttpRequest.Builder post(Way way, String body, String... headers) {
        HttpRequest.Builder request =
                to(way, way.path()).header("Content-Type", JSON).POST(text(body));
        for (int i = 0; i < headers.length; i += 2) {
            request.setHeader(headers[i], headers[i + 1]);
        }
        return request;
    }

    private HttpRequest.Builder keyed(Way way, String key, String body) {
        return post(way, body, "Idempotency-Key", key);
    }

    private static HttpRequest.BodyPublisher text(String body) {
        return HttpRequest.BodyPublishers.ofString(body);
    }

    private HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private CompletableFuture<HttpResponse<byte[]>> begin(HttpRequest.Builder request) {
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private static void assertProblem(HttpResponse<byte[]> response, int status, String title, String code) {
        String body = new String(response.body(), StandardCharsets.UTF_8);
        assertThat(response.statusCode()).as(body).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(body)
                .contains("\"title\":\"" + title + "\"", "\"status\":" + status, "\"code\":\"" + code + "\"")
                .contains("\"type\":\"https://");
        assertThat(response.headers().firstValue("Link").orElse("")).contains("rel=\"describedby\"");
        assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
    }

    private static void assertReplayed(HttpResponse<byte[]> first, HttpResponse<byte[]> again) {
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(again.statusCode()).isEqualTo(first.statusCode());
        assertThat(again.body()).isEqualTo(first.body());
        for (String name : List.of("Content-Type", "Location", "ETag", "Content-Length")) {
            assertThat(again.headers().allValues(name))
                    .as(name)
                    .isEqualTo(first.headers().allValues(name));
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void theSameAgainIsAnsweredTheSameAndDoneOnce(Way way) throws Exception {
        String key = key();
        String body = "{\"do\": \"order\", \"n\": " + ++keys + "}";
        HttpResponse<byte[]> first = send(keyed(way, key, body));
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().firstValue("Location").orElse("")).startsWith("/orders/");
        assertThat(first.headers().firstValue("Set-Cookie").orElse("")).contains("seen=yes");
        HttpResponse<byte[]> again = send(keyed(way, '"' + key + '"', "{\"n\":" + keys + ",\n\"do\":\"order\"}"));
        assertReplayed(first, again);
        assertThat(again.headers().firstValue("Set-Cookie"))
                .as("a cookie is for one response")
                .isEmpty();
        assertThat(again.headers().firstValue("X-Own"))
                .as("not among the stored headers")
                .isEmpty();
        assertThat(orders(body)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void refusalsHaveTheStatusOfTheirDialect(Way way) throws Exception {
        String body = body("order");
        assertProblem(send(post(way, body)), 400, "Idempotency-Key is missing", "idempotency.key-missing");
        assertThat(orders(body)).isZero();
        String used = key();
        assertThat(send(keyed(way, used, body)).statusCode()).isEqualTo(201);
        String other = body("order");
        assertProblem(
                send(keyed(way, used, other)),
                way.mismatch,
                "Idempotency-Key is already used",
                "idempotency.key-reused");
        assertThat(orders(other)).isZero();
        String running = key();
        String waiting = body("wait");
        CompletableFuture<HttpResponse<byte[]>> first = begin(keyed(way, running, waiting));
        shop.awaitWaiting();
        HttpResponse<byte[]> meanwhile = send(keyed(way, running, waiting));
        assertProblem(
                meanwhile, way.running, "A request is outstanding for this Idempotency-Key", "idempotency.in-progress");
        assertThat(Integer.parseInt(
                        meanwhile.headers().firstValue("Retry-After").orElseThrow()))
                .isBetween(1, 60);
        shop.goOn();
        HttpResponse<byte[]> ended = first.get(30, TimeUnit.SECONDS);
        assertThat(ended.statusCode()).isEqualTo(201);
        assertReplayed(ended, send(keyed(way, running, waiting)));
        assertThat(orders(waiting)).isEqualTo(1);
    }

    /** In steps the key has a row with another request meanwhile; in one transaction nobody can know, and is told that it runs. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void anotherRequestWithAKeyThatRunsIsRefused(Way way) throws Exception {
        String key = key();
        String waiting = body("wait");
        CompletableFuture<HttpResponse<byte[]>> first = begin(keyed(way, key, waiting));
        shop.awaitWaiting();
        String other = body("order");
        assertThat(send(keyed(way, key, other)).statusCode()).isEqualTo(way.inSteps ? way.mismatch : way.running);
        shop.goOn();
        assertThat(first.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(201);
        assertThat(orders(other)).isZero();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void malformedRepeatedAndOversizedKeysAreRefused(Way way) throws Exception {
        String body = body("order");
        for (String bad : List.of("a b", "\"a", "a,b", "\"\"", "x".repeat(256), "a;b")) {
            assertProblem(send(keyed(way, bad, body)), 400, "Idempotency-Key is not valid", "idempotency.key-invalid");
        }
        assertProblem(
                send(keyed(way, "a", body).header("Idempotency-Key", "a")),
                400,
                "Idempotency-Key is not valid",
                "idempotency.key-invalid");
        assertThat(raw(way, "schl\u00fcssel", body))
                .startsWith("HTTP/1.1 400")
                .contains("application/problem+json", "\"code\":\"idempotency.key-invalid\"");
        assertThat(orders(body)).isZero();
        String longest = "x".repeat(240) + String.format("%015d", ++keys);
        assertThat(send(keyed(way, longest, body)).statusCode()).isEqualTo(201);
        assertThat(orders(body)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void keysOfOtherTenantsAreOthers(Way way) throws Exception {
        String key = key();
        String body = body("order");
        for (String tenant : List.of("t1", "t2")) {
            HttpResponse<byte[]> response = send(keyed(way, key, body).setHeader("X-Tenant", tenant));
            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
        }
        assertThat(orders(body)).isEqualTo(2);
        assertProblem(
                send(keyed(way, key, body("order")).setHeader("X-Tenant", "t2")),
                way.mismatch,
                "Idempotency-Key is already used",
                "idempotency.key-reused");
        String running = key();
        String waiting = body("wait");
        CompletableFuture<HttpResponse<byte[]>> first = begin(keyed(way, running, waiting));
        shop.awaitWaiting();
        assertThat(send(keyed(way, running, body).setHeader("X-Tenant", "t2")).statusCode())
                .as("nobody waits for a key of another tenant, or hears of it")
                .isEqualTo(201);
        shop.goOn();
        assertThat(first.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(201);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void anotherTargetOrMethodIsAnotherRequest(Way way) throws Exception {
        String key = key();
        String body = body("order");
        assertThat(send(keyed(way, key, body)).statusCode()).isEqualTo(201);
        HttpRequest.Builder query = to(way, way.path() + "?dry")
                .header("Content-Type", JSON)
                .header("Idempotency-Key", key)
                .POST(text(body));
        assertThat(send(query).statusCode()).isEqualTo(way.mismatch);
        assertThat(send(keyed(way, key, body).PUT(text(body))).statusCode()).isEqualTo(way.mismatch);
        assertThat(orders(body)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void everyMethodThatChangesNeedsAKeyAndNoOtherDoes(Way way) throws Exception {
        String body = body("order");
        for (String method : List.of("POST", "PUT", "PATCH", "DELETE")) {
            assertThat(send(post(way, body).method(method, text(body))).statusCode())
                    .as(method)
                    .isEqualTo(400);
            String key = key();
            HttpResponse<byte[]> first = send(keyed(way, key, body).method(method, text(body)));
            assertReplayed(first, send(keyed(way, key, body).method(method, text(body))));
        }
        assertThat(orders(body)).isEqualTo(4);
        int before = shop.reads();
        for (String method : List.of("GET", "HEAD")) {
            HttpRequest.Builder read = to(way, way.path())
                    .header("Idempotency-Key", "same")
                    .method(method, HttpRequest.BodyPublishers.noBody());
            assertThat(send(read).statusCode()).isEqualTo(200);
            assertThat(send(read).headers().firstValue("Idempotent-Replayed")).isEmpty();
        }
        assertThat(shop.reads() - before).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aClientErrorIsAnsweredTheSameAndWhatItDidIsUndoneButForSteps(Way way) throws Exception {
        String key = key();
        String body = body("refuse");
        int before = shop.times("refuse");
        HttpResponse<byte[]> first = send(keyed(way, key, body));
        assertThat(first.statusCode()).isEqualTo(422);
        assertReplayed(first, send(keyed(way, key, body)));
        assertThat(shop.times("refuse") - before).isEqualTo(1);
        assertThat(orders(body)).isEqualTo(way.left());
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aServerErrorIsTriedAgainAndWhatItDidIsUndoneButForSteps(Way way) throws Exception {
        for (String how : List.of("fail", "throw")) {
            String key = key();
            String body = body(how);
            int before = shop.times(how);
            assertThat(send(keyed(way, key, body)).statusCode()).isEqualTo(500);
            HttpResponse<byte[]> again = send(keyed(way, key, body));
            assertThat(again.statusCode()).isEqualTo(500);
            assertThat(again.headers().firstValue("Idempotent-Replayed")).isEmpty();
            assertThat(shop.times(how) - before).isEqualTo(2);
            assertThat(orders(body)).as("a step is done once").isEqualTo(way.left());
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aLargeRequestIsRefusedAndALargeAnswerIsUndoneButForSteps(Way way) throws Exception {
        String large = "{\"do\":\"order\",\"x\":\"" + "x".repeat(KeyedRoutes.REQUEST_BYTES_MAX) + "\"}";
        assertProblem(send(keyed(way, key(), large)), 413, "Content is too large", "idempotency.request-too-large");
        assertThat(orders(large)).isZero();
        String key = key();
        String body = body("large");
        for (int i = 0; i < 2; i++) {
            HttpResponse<byte[]> response = send(keyed(way, key, body));
            assertProblem(response, 500, "Answer cannot be stored", "idempotency.answer-invalid");
            assertThat(response.headers().firstValue("Location"))
                    .as("nothing of the undone answer")
                    .isEmpty();
        }
        assertThat(orders(body)).isEqualTo(way.left());
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aBodyThatIsNoJsonThoughItSaysSoIsRefused(Way way) throws Exception {
        for (String bad : List.of("{", "{\"a\":1,\"a\":2}", "[".repeat(101) + "]".repeat(101))) {
            HttpResponse<byte[]> response = send(keyed(way, key(), bad));
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(new String(response.body(), StandardCharsets.UTF_8))
                    .contains("Request body is not valid", "idempotency.body-");
            assertThat(orders(bad)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void theHandlerGetsTheBodyAsItWasSentInChunksOrNot(Way way) throws Exception {
        String body = "{\"do\":\"echo\",\"text\":\"caf\u00e9 \ud83d\ude80\"}";
        HttpRequest.BodyPublisher chunked = HttpRequest.BodyPublishers.ofInputStream(
                () -> new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)));
        String key = key();
        HttpResponse<byte[]> first = send(keyed(way, key, body).POST(chunked));
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(new String(first.body(), StandardCharsets.UTF_8)).isEqualTo(body);
        assertReplayed(first, send(keyed(way, key, body)));
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aFileIsTheSameUnderAnotherBoundary(Way way) throws Exception {
        String key = key();
        String word = body("order");
        HttpResponse<byte[]> first = send(upload(way, key, "one", word));
        assertThat(first.statusCode()).isEqualTo(201);
        assertReplayed(first, send(upload(way, key, "two", word)));
        assertThat(send(upload(way, key, "one", body("order"))).statusCode()).isEqualTo(way.mismatch);
    }

    private HttpRequest.Builder upload(Way way, String key, String boundary, String content) {
        return keyed(
                        way,
                        key,
                        "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\n"
                                + "Content-Type: application/json\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n")
                .setHeader("Content-Type", "multipart/form-data; boundary=" + boundary);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aClientThatGoesAwayIsAnsweredWhenItComesBack(Way way) throws Exception {
        String key = key();
        String body = body("wait");
        int before = shop.times("wait");
        try (Socket socket = connect(way)) {
            socket.getOutputStream().write(request(way, key, body));
            socket.getOutputStream().flush();
            shop.awaitWaiting();
            socket.setSoLinger(true, 0);
        }
        shop.goOn();
        HttpResponse<byte[]> response = send(keyed(way, key, body));
        for (int tries = 0; response.statusCode() == way.running && tries < 1_000; tries++) {
            response = send(keyed(way, key, body));
        }
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(shop.times("wait") - before).isEqualTo(1);
        assertThat(orders(body)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void aClientThatGoesAwayInTheMiddleOfItsBodyHasAskedForNothing(Way way) throws Exception {
        String key = key();
        String body = body("order");
        try (Socket socket = connect(way)) {
            byte[] whole = request(way, key, body);
            socket.getOutputStream().write(whole, 0, whole.length - 5);
            socket.getOutputStream().flush();
            socket.setSoLinger(true, 0);
        }
        HttpResponse<byte[]> response = send(keyed(way, key, body));
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(orders(body)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void manyAtOnceAreOneEffectAndOneAnswer(Way way) throws Exception {
        String key = key();
        String body = body("order");
        List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            all.add(begin(keyed(way, key, body)));
        }
        List<String> bodies = new ArrayList<>();
        for (CompletableFuture<HttpResponse<byte[]>> each : all) {
            HttpResponse<byte[]> response = each.get(60, TimeUnit.SECONDS);
            assertThat(response.statusCode()).isIn(201, way.running);
            if (response.statusCode() == 201) {
                bodies.add(new String(response.body(), StandardCharsets.UTF_8));
            }
        }
        assertThat(bodies).isNotEmpty().allMatch(bodies.get(0)::equals);
        assertThat(orders(body)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"SEEDS_ONCE", "IETF_ONCE"})
    void whereNoKeyIsRequiredOneIsHonoured(Way way) throws Exception {
        String body = body("order");
        HttpRequest.Builder free = to(way, "/free").header("Content-Type", JSON).POST(text(body));
        assertThat(send(free).statusCode()).isEqualTo(201);
        assertThat(send(free).statusCode()).isEqualTo(201);
        assertThat(orders(body)).isEqualTo(2);
        HttpResponse<byte[]> first = send(free.header("Idempotency-Key", key()));
        assertReplayed(first, send(free));
        assertThat(orders(body)).isEqualTo(3);
        String refused = body("refuse");
        assertThat(send(to(way, "/free").header("Content-Type", JSON).POST(text(refused)))
                        .statusCode())
                .isEqualTo(422);
        assertThat(orders(refused))
                .as("a failure leaves nothing, with a key or without")
                .isZero();
    }

    private Socket connect(Way way) throws IOException {
        return new Socket(
                InetAddress.getLoopbackAddress(), servers.get(way.dialect).port());
    }

    private String raw(Way way, String key, String body) throws IOException {
        try (Socket socket = connect(way)) {
            socket.getOutputStream().write(request(way, key, body));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static byte[] request(Way way, String key, String body) {
        return ("POST " + way.path() + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Tenant: t1\r\n"
                        + "Content-Type: application/json\r\nIdempotency-Key: " + key + "\r\nContent-Length: "
                        + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.ISO_8859_1);
    }
}
