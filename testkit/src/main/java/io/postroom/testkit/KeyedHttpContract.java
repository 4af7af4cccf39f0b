package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.idempotency.http.Dialect;
import io.postroom.idempotency.http.KeyedRoute;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What idempotency keys must do over real HTTP, whatever the server. An adapter's test extends it and serves a {@link KeyedShop} at
 * {@code /orders}, behind a key, and {@code /free}, where a key is not required.
 */
public abstract class KeyedHttpContract {
    private static final String JSON = "application/json";
    private static final String ORDER = "{\"do\":\"order\"}";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private TestDatabase database;
    private KeyedShop shop;
    private Served served;
    private int keys;

    /** A server that listens on loopback. */
    public interface Served extends AutoCloseable {
        int port();

        @Override
        void close();
    }

    /** Starts a server whose client's tenant is in the header {@code X-Tenant}, as if it had been authenticated. */
    protected abstract Served serve(KeyedShop shop, KeyedRoute orders, KeyedRoute free) throws Exception;

    @BeforeEach
    final void open() throws Exception {
        database = TestDatabase.create();
        database.execute("create table orders (id bigint generated always as identity, body text)");
        start(Dialect.SEEDS);
    }

    @AfterEach
    final void close() {
        served.close();
        database.close();
    }

    private void start(Dialect dialect) throws Exception {
        if (served != null) {
            served.close();
        }
        Postroom postroom = database.postroom();
        shop = new KeyedShop();
        served = serve(
                shop,
                KeyedRoute.builder(postroom.database(), postroom.idempotency(), "order.create")
                        .dialect(dialect)
                        .requestBytesMax(10_000)
                        .build(),
                KeyedRoute.builder(postroom.database(), postroom.idempotency(), "order.free")
                        .required(false)
                        .build());
    }

    private String key() {
        return "key-" + ++keys;
    }

    private HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + served.port() + path))
                .header("X-Tenant", "t1");
    }

    private HttpRequest.Builder post(String body, String... headers) {
        HttpRequest.Builder request = to("/orders").header("Content-Type", JSON).POST(text(body));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return request;
    }

    private static HttpRequest.BodyPublisher text(String body) {
        return HttpRequest.BodyPublishers.ofString(body);
    }

    private HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private long orders() {
        return database.queryLong("select count(*) from orders");
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

    @Test
    void theSameAgainIsAnsweredTheSameAndDoneOnce() throws Exception {
        String key = key();
        HttpResponse<byte[]> first = send(post("{\"do\": \"order\", \"n\": 1}", "Idempotency-Key", key));
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().firstValue("Location")).contains("/orders/1");
        assertThat(first.headers().firstValue("Set-Cookie").orElse("")).contains("seen=yes");
        HttpResponse<byte[]> again = send(post("{\"n\":1,\n\"do\":\"order\"}", "Idempotency-Key", '"' + key + '"'));
        assertReplayed(first, again);
        assertThat(again.headers().firstValue("Set-Cookie"))
                .as("a cookie is for one response")
                .isEmpty();
        assertThat(again.headers().firstValue("X-Own"))
                .as("not among the stored headers")
                .isEmpty();
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void refusalsHaveTheStatusOfTheirDialect() throws Exception {
        for (Dialect dialect : Dialect.values()) {
            start(dialect);
            boolean seeds = dialect == Dialect.SEEDS;
            assertProblem(send(post(ORDER)), 400, "Idempotency-Key is missing", "idempotency.key-missing");
            String used = key();
            assertThat(send(post(ORDER, "Idempotency-Key", used)).statusCode()).isEqualTo(201);
            assertProblem(
                    send(post("{\"do\":\"order\",\"n\":2}", "Idempotency-Key", used)),
                    seeds ? 409 : 422,
                    "Idempotency-Key is already used",
                    "idempotency.key-reused");
            String running = key();
            CompletableFuture<HttpResponse<byte[]>> first = client.sendAsync(
                    post("{\"do\":\"wait\"}", "Idempotency-Key", running).build(),
                    HttpResponse.BodyHandlers.ofByteArray());
            shop.awaitWaiting();
            HttpResponse<byte[]> meanwhile = send(post("{\"do\":\"wait\"}", "Idempotency-Key", running));
            assertProblem(
                    meanwhile,
                    seeds ? 425 : 409,
                    "A request is outstanding for this Idempotency-Key",
                    "idempotency.in-progress");
            assertThat(Integer.parseInt(
                            meanwhile.headers().firstValue("Retry-After").orElseThrow()))
                    .isBetween(1, 60);
            shop.goOn();
            HttpResponse<byte[]> ended = first.get(30, TimeUnit.SECONDS);
            assertReplayed(ended, send(post("{\"do\":\"wait\"}", "Idempotency-Key", running)));
        }
    }

    @Test
    void malformedRepeatedAndOversizedKeysAreRefused() throws Exception {
        for (String bad : List.of("a b", "\"a", "a,b", "\"\"", "x".repeat(256), "a;b")) {
            assertProblem(
                    send(post(ORDER, "Idempotency-Key", bad)),
                    400,
                    "Idempotency-Key is not valid",
                    "idempotency.key-invalid");
        }
        assertProblem(
                send(post(ORDER, "Idempotency-Key", "a", "Idempotency-Key", "a")),
                400,
                "Idempotency-Key is not valid",
                "idempotency.key-invalid");
        assertThat(raw("POST /orders HTTP/1.1", "Idempotency-Key: schl\u00fcssel", ORDER))
                .startsWith("HTTP/1.1 400");
        assertThat(send(post(ORDER, "Idempotency-Key", "x".repeat(255))).statusCode())
                .isEqualTo(201);
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void keysOfOtherTenantsAreOthers() throws Exception {
        String key = key();
        for (String tenant : List.of("t1", "t2")) {
            HttpRequest.Builder request = post(ORDER, "Idempotency-Key", key).setHeader("X-Tenant", tenant);
            HttpResponse<byte[]> response = send(request);
            assertThat(response.statusCode()).isEqualTo(201);
            assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
        }
        assertProblem(
                send(post("{\"do\":\"order\",\"n\":3}", "Idempotency-Key", key).setHeader("X-Tenant", "t2")),
                409,
                "Idempotency-Key is already used",
                "idempotency.key-reused");
        assertThat(orders()).isEqualTo(2);
    }

    @Test
    void anotherTargetOrMethodIsAnotherRequest() throws Exception {
        String key = key();
        assertThat(send(post(ORDER, "Idempotency-Key", key)).statusCode()).isEqualTo(201);
        HttpRequest.Builder query = to("/orders?dry")
                .header("Content-Type", JSON)
                .header("Idempotency-Key", key)
                .POST(text(ORDER));
        assertThat(send(query).statusCode()).isEqualTo(409);
        assertThat(send(post(ORDER, "Idempotency-Key", key).PUT(text(ORDER))).statusCode())
                .isEqualTo(409);
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void everyMethodThatChangesNeedsAKeyAndNoOtherDoes() throws Exception {
        for (String method : List.of("POST", "PUT", "PATCH", "DELETE")) {
            assertThat(send(post(ORDER).method(method, text(ORDER))).statusCode())
                    .as(method)
                    .isEqualTo(400);
            String key = key();
            HttpResponse<byte[]> first =
                    send(post(ORDER, "Idempotency-Key", key).method(method, text(ORDER)));
            assertReplayed(first, send(post(ORDER, "Idempotency-Key", key).method(method, text(ORDER))));
        }
        assertThat(orders()).isEqualTo(4);
        for (String method : List.of("GET", "HEAD")) {
            HttpRequest.Builder read =
                    to("/orders").header("Idempotency-Key", "same").method(method, HttpRequest.BodyPublishers.noBody());
            assertThat(send(read).statusCode()).isEqualTo(200);
            assertThat(send(read).headers().firstValue("Idempotent-Replayed")).isEmpty();
        }
        assertThat(shop.reads()).isEqualTo(4);
    }

    @Test
    void aClientErrorIsAnsweredTheSameAndWhatItDidIsUndone() throws Exception {
        String key = key();
        HttpResponse<byte[]> first = send(post("{\"do\":\"refuse\"}", "Idempotency-Key", key));
        assertThat(first.statusCode()).isEqualTo(422);
        assertReplayed(first, send(post("{\"do\":\"refuse\"}", "Idempotency-Key", key)));
        assertThat(shop.times("refuse")).isEqualTo(1);
        assertThat(orders()).isZero();
    }

    @Test
    void aServerErrorIsTriedAgainAndWhatItDidIsUndone() throws Exception {
        for (String how : List.of("fail", "throw")) {
            String key = key();
            String body = "{\"do\":\"" + how + "\"}";
            assertThat(send(post(body, "Idempotency-Key", key)).statusCode()).isEqualTo(500);
            HttpResponse<byte[]> again = send(post(body, "Idempotency-Key", key));
            assertThat(again.statusCode()).isEqualTo(500);
            assertThat(again.headers().firstValue("Idempotent-Replayed")).isEmpty();
            assertThat(shop.times(how)).isEqualTo(2);
        }
        assertThat(orders()).isZero();
    }

    @Test
    void aLargeRequestIsRefusedAndALargeAnswerIsUndone() throws Exception {
        String large = "{\"do\":\"order\",\"x\":\"" + "x".repeat(10_000) + "\"}";
        assertProblem(
                send(post(large, "Idempotency-Key", key())),
                413,
                "Content is too large",
                "idempotency.request-too-large");
        assertThat(orders()).isZero();
        String key = key();
        for (int i = 0; i < 2; i++) {
            HttpResponse<byte[]> response = send(post("{\"do\":\"large\"}", "Idempotency-Key", key));
            assertProblem(response, 500, "Answer cannot be stored", "idempotency.answer-invalid");
            assertThat(response.headers().firstValue("Location"))
                    .as("nothing of the undone answer")
                    .isEmpty();
        }
        assertThat(orders()).isZero();
    }

    @Test
    void aBodyThatIsNoJsonThoughItSaysSoIsRefused() throws Exception {
        for (String bad : List.of("{", "{\"a\":1,\"a\":2}", "[".repeat(101) + "]".repeat(101))) {
            HttpResponse<byte[]> response = send(post(bad, "Idempotency-Key", key()));
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(new String(response.body(), StandardCharsets.UTF_8))
                    .contains("Request body is not valid", "idempotency.body-");
        }
        assertThat(orders()).isZero();
    }

    @Test
    void theHandlerGetsTheBodyAsItWasSentInChunksOrNot() throws Exception {
        String body = "{\"do\":\"echo\",\"text\":\"caf\u00e9 \ud83d\ude80\"}";
        HttpRequest.BodyPublisher chunked = HttpRequest.BodyPublishers.ofInputStream(
                () -> new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)));
        String key = key();
        HttpResponse<byte[]> first = send(post(body, "Idempotency-Key", key).POST(chunked));
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(new String(first.body(), StandardCharsets.UTF_8)).isEqualTo(body);
        assertReplayed(first, send(post(body, "Idempotency-Key", key)));
    }

    @Test
    void aClientThatGoesAwayIsAnsweredWhenItComesBack() throws Exception {
        String key = key();
        String body = "{\"do\":\"wait\"}";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
            socket.getOutputStream().write(request("POST /orders HTTP/1.1", "Idempotency-Key: " + key, body));
            socket.getOutputStream().flush();
            shop.awaitWaiting();
            socket.setSoLinger(true, 0);
        }
        shop.goOn();
        HttpResponse<byte[]> response = send(post(body, "Idempotency-Key", key));
        for (int tries = 0; response.statusCode() == 425 && tries < 1_000; tries++) {
            response = send(post(body, "Idempotency-Key", key));
        }
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(shop.times("wait")).isEqualTo(1);
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void aClientThatGoesAwayInTheMiddleOfItsBodyHasAskedForNothing() throws Exception {
        String key = key();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
            byte[] whole = request("POST /orders HTTP/1.1", "Idempotency-Key: " + key, ORDER);
            socket.getOutputStream().write(whole, 0, whole.length - 5);
            socket.getOutputStream().flush();
            socket.setSoLinger(true, 0);
        }
        HttpResponse<byte[]> response = send(post(ORDER, "Idempotency-Key", key));
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void manyAtOnceAreOneEffectAndOneAnswer() throws Exception {
        String key = key();
        List<CompletableFuture<HttpResponse<byte[]>>> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            all.add(client.sendAsync(
                    post(ORDER, "Idempotency-Key", key).build(), HttpResponse.BodyHandlers.ofByteArray()));
        }
        List<String> bodies = new ArrayList<>();
        for (CompletableFuture<HttpResponse<byte[]>> each : all) {
            HttpResponse<byte[]> response = each.get(60, TimeUnit.SECONDS);
            assertThat(response.statusCode()).isIn(201, 425);
            if (response.statusCode() == 201) {
                bodies.add(new String(response.body(), StandardCharsets.UTF_8));
            }
        }
        assertThat(bodies).isNotEmpty().allMatch(bodies.get(0)::equals);
        assertThat(orders()).isEqualTo(1);
    }

    @Test
    void whereNoKeyIsRequiredOneIsHonoured() throws Exception {
        HttpRequest.Builder free = to("/free").header("Content-Type", JSON).POST(text(ORDER));
        assertThat(send(free).statusCode()).isEqualTo(201);
        assertThat(send(free).statusCode()).isEqualTo(201);
        assertThat(orders()).isEqualTo(2);
        HttpResponse<byte[]> first = send(free.header("Idempotency-Key", key()));
        assertReplayed(first, send(free));
        assertThat(orders()).isEqualTo(3);
        HttpRequest.Builder refused = to("/free").header("Content-Type", JSON).POST(text("{\"do\":\"refuse\"}"));
        assertThat(send(refused).statusCode()).isEqualTo(422);
        assertThat(orders())
                .as("a failure leaves nothing, with a key or without")
                .isEqualTo(3);
    }

    private String raw(String line, String header, String body) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), served.port())) {
            socket.getOutputStream().write(request(line, header, body));
            InputStream in = socket.getInputStream();
            return new String(in.readNBytes(12), StandardCharsets.ISO_8859_1);
        }
    }

    private static byte[] request(String line, String header, String body) {
        return (line + "\r\nHost: localhost\r\nX-Tenant: t1\r\nContent-Type: application/json\r\n" + header
                        + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.ISO_8859_1);
    }
}
