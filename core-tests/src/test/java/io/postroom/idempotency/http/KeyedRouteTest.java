package io.postroom.idempotency.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.Completer;
import io.postroom.idempotency.KeyPolicy;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.TestDatabase;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyedRouteTest {
    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static KeyedRoute.Builder route(String scope) {
        Postroom postroom = database.postroom();
        return KeyedRoute.builder(postroom.database(), postroom.idempotency(), scope);
    }

    private static KeyedRequest request(String tenant, String key) {
        return new KeyedRequest("POST", "/x", "text/plain", List.of(key), tenant, new byte[0]);
    }

    @Test
    void reportsEveryProblemAtOnce() {
        assertThatThrownBy(() -> route("Order Create")
                        .requestBytesMax(-1)
                        .methods("POST", "GET")
                        .storedHeaders("ETag", "set-cookie")
                        .build())
                .hasMessageContaining("scope is 'Order Create'")
                .hasMessageContaining("requestBytesMax is -1, the range is 0 to")
                .hasMessageContaining("[GET] change nothing")
                .hasMessageContaining("header set-cookie is for one response only")
                .extracting("code")
                .isEqualTo("idempotency.route-invalid");
    }

    @Test
    void storesTheHeadersThatItNames() {
        KeyedRoute route = route("named").storedHeaders("X-Total").build();
        Answer answer = route.answer(200, Map.of("x-total", "7", "ETag", "\"1\""), new byte[0]);
        assertThat(answer.headers()).containsExactly(Map.entry("x-total", "7"));
    }

    /** Compressed bytes without it are garbage. */
    @Test
    void storesHowTheBytesAreEncodedWhateverItNames() {
        KeyedRoute route = route("encoded").storedHeaders("X-Total").build();
        assertThat(route.answer(200, Map.of("content-encoding", "gzip"), new byte[] {31})
                        .headers())
                .containsEntry("content-encoding", "gzip");
        assertThat(route.storedHeaders()).contains("Content-Encoding", "X-Total");
    }

    private static KeyedRequest of(String principal) {
        return new KeyedRequest("POST", "/me/export", null, List.of("1"), "t", new byte[0], principal);
    }

    @Test
    void oneMemberOfATenantDoesNotGetTheAnswerOfAnother() {
        KeyedRoute route = route("export").build();
        assertThat(route.once(of("anna"), tx -> Answer.of(200, "of anna")).status())
                .isEqualTo(200);
        Reply other = route.once(of("bert"), tx -> Answer.of(200, "of bert"));
        assertThat(other.status()).isEqualTo(409);
        assertThat(new String(other.body(), StandardCharsets.UTF_8)).doesNotContain("anna");
        assertThat(route.once(of("anna"), tx -> Answer.of(200, "again")).headers())
                .containsEntry(Reply.REPLAYED, "true");
    }

    /** The client never comes back. */
    @Test
    void aCompleterGoesOnWithWhatARouteHasKept() throws Exception {
        KeyedRoute route = route("kept").input(KeyedRequest::text).build();
        KeyedRequest request = new KeyedRequest(
                "POST", "/x", "text/plain", List.of("k"), "", "three apples".getBytes(StandardCharsets.UTF_8));
        assertThat(route.steps(request, steps -> Answer.of(503, steps.step("one", tx -> "1")))
                        .status())
                .isEqualTo(503);
        try (Completer completer = database.postroom()
                .idempotency()
                .completer(
                        "kept",
                        KeyPolicy.STANDARD,
                        steps -> Answer.of(
                                200,
                                steps.step("one", tx -> "2") + " "
                                        + steps.input().orElseThrow()))) {
            assertThat(completer.runOnce()).isEqualTo(1);
        }
        Reply reply = route.steps(request, steps -> Answer.of(200, "never"));
        assertThat(new String(reply.body(), StandardCharsets.UTF_8)).isEqualTo("1 three apples");
    }

    @ParameterizedTest
    @CsvSource({
        "65536, x,  200, ''",
        "65537, x,  413, 'is 65537 characters, the limit is 65536'",
        "3,     \\0, 400, 'the character U+0000'",
        "3,     \\xff, 400, 'it is not UTF-8'"
    })
    void aRequestThatCannotBeKeptIsRefusedBeforeAnythingIsDone(int count, String piece, int status, String detail) {
        byte[] each = piece.equals("\\0") ? new byte[1] : piece.equals("\\xff") ? new byte[] {-1} : new byte[] {'x'};
        byte[] body = new byte[count];
        Arrays.fill(body, each[0]);
        String key = "keep-" + count + status + detail.length();
        KeyedRoute route = route("keep").input(KeyedRequest::text).build();
        Reply reply = route.steps(
                new KeyedRequest("POST", "/x", "text/plain", List.of(key), "", body), steps -> Answer.of(200, ""));
        assertThat(reply.status()).isEqualTo(status);
        assertThat(new String(reply.body(), StandardCharsets.UTF_8)).contains(detail);
        assertThat(database.queryLong("select count(*) from postroom.idempotency_key where key = '" + key + "'"))
                .isEqualTo(status == 200 ? 1 : 0);
    }

    /** A function that reads a body may rely on what the route checks. */
    @Test
    void whatIsKeptIsTakenFromRequestsThatAreWellFormed() {
        AtomicInteger asked = new AtomicInteger();
        KeyedRoute route = route("parsed")
                .input(request -> {
                    asked.incrementAndGet();
                    return request.text();
                })
                .build();
        for (KeyedRequest bad : List.of(
                new KeyedRequest("POST", "/x", "application/json", List.of("k"), "", new byte[] {'{'}),
                new KeyedRequest("POST", "/x", "application/json", List.of(), "", new byte[] {'1'}),
                new KeyedRequest("POST", "/x", "application/json", List.of("k", "k"), "", new byte[] {'1'}))) {
            assertThat(route.steps(bad, steps -> Answer.of(200, "never")).status())
                    .isEqualTo(400);
        }
        assertThat(asked).hasValue(0);
    }

    @Test
    void whatCannotBeStoredSaysWhatBecameOfTheRest() {
        byte[] large = new byte[Answer.BODY_BYTES_MAX + 1];
        KeyedRoute route = route("large").build();
        Reply once = route.once(request("", "once"), tx -> route.answer(200, Map.of(), large));
        assertThat(new String(once.body(), StandardCharsets.UTF_8)).contains("what was done is rolled back");
        Reply steps = route.steps(request("", "steps"), any -> {
            any.step("one", tx -> "1");
            return route.answer(200, Map.of(), large);
        });
        assertThat(steps.status()).isEqualTo(500);
        assertThat(new String(steps.body(), StandardCharsets.UTF_8))
                .contains("the steps that are done stay done")
                .doesNotContain("rolled back");
    }

    @Test
    void everyRequestIsCountedOnce() {
        List<String> heard = new CopyOnWriteArrayList<>();
        Postroom postroom = Postroom.builder(database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void requested(String scope, String outcome) {
                        heard.add(outcome);
                    }

                    @Override
                    public void steps(String scope, String event) {
                        heard.add(event);
                    }
                })
                .build();
        KeyedRoute.Builder rules = KeyedRoute.builder(postroom.database(), postroom.idempotency(), "counted");
        KeyedRoute route = rules.build();
        KeyedRoute free = rules.required(false).build();
        KeyedRequest none = new KeyedRequest("POST", "/x", null, List.of(), "", new byte[0]);
        KeyedRequest garbled = new KeyedRequest("POST", "/x", "application/json", List.of("k"), "", new byte[] {'{'});
        route.once(none, tx -> Answer.of(200, ""));
        route.once(request("", "a b"), tx -> Answer.of(200, ""));
        route.once(garbled, tx -> Answer.of(200, ""));
        route.tooLarge();
        free.once(none, tx -> Answer.of(200, ""));
        route.once(request("", "k"), tx -> Answer.of(200, ""));
        route.once(request("", "k"), tx -> Answer.of(200, ""));
        route.once(request("", "large"), tx -> Answer.of(200, "x".repeat(Answer.BODY_BYTES_MAX + 1)));
        assertThat(heard)
                .containsExactly(
                        "missing", "invalid", "invalid", "too_large", "unkeyed", "executed", "replayed", "failed");
        heard.clear();
        route.steps(request("", "steps"), steps -> Answer.of(503, steps.step("one", tx -> "1")));
        route.steps(request("", "steps"), steps -> {
            database.execute("update postroom.idempotency_key set fence = fence + 1 where key = 'steps'");
            return Answer.of(200, steps.step("one", tx -> "1") + steps.step("two", tx -> "2"));
        });
        assertThat(heard).containsExactly("failed", "resumed", "lost", "in_progress");
    }

    @Test
    void linksToTheDocumentationOfTheApi() {
        KeyedRoute route = route("linked")
                .documentation(URI.create("https://shop.example/keys"))
                .build();
        Reply reply = route.once(
                new KeyedRequest("POST", "/x", null, List.of(), "", new byte[0]), tx -> Answer.of(200, "never"));
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.executed()).isFalse();
        assertThat(new String(reply.body(), StandardCharsets.UTF_8)).contains("\"type\":\"https://shop.example/keys\"");
        assertThat(reply.headers())
                .containsEntry("Link", "<https://shop.example/keys>; rel=\"describedby\"; type=\"text/html\"");
    }

    /** The server's own mistake is not the client's. */
    @Test
    void aTenantThatIsNoneIsNotTheClientsFault() {
        assertThatThrownBy(() -> route("strict").build().once(request("a\u0000", "k"), tx -> Answer.of(200, "never")))
                .extracting("code")
                .isEqualTo("idempotency.tenant-invalid");
    }

    @Test
    void readsNoMoreThanItNeedsToKnowThatABodyIsTooLarge() throws IOException {
        KeyedRoute route = route("small").requestBytesMax(3).build();
        assertThat(route.read(new ByteArrayInputStream(new byte[3]))).isPresent();
        ByteArrayInputStream endless = new ByteArrayInputStream(new byte[1_000]);
        assertThat(route.read(endless)).isEmpty();
        assertThat(endless.available()).isEqualTo(996);
        assertThat(route.tooLarge().status()).isEqualTo(413);
    }
}
