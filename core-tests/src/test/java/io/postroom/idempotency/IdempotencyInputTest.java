package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is refused, before anything is written: the value, the limit and what to do. And that the table refuses the same. */
class IdempotencyInputTest {
    private static Shop shop;

    @BeforeAll
    static void open() {
        shop = new Shop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    static Stream<Arguments> badKeys() {
        return Stream.of(
                Arguments.of("", "a.b", "", "key-invalid", "of 0 characters, it must be 1 to 255"),
                Arguments.of("", "a.b", "k".repeat(256), "key-invalid", "of 256 characters, it must be 1 to 255"),
                Arguments.of("", "a.b", "a\nb", "key-invalid", "'a?b'"),
                Arguments.of("", "a.b", "a\u0000b", "key-invalid", "printable ASCII"),
                Arguments.of("", "a.b", "caf\u00e9", "key-invalid", "printable ASCII"),
                Arguments.of("", "a.b", "\u007f", "key-invalid", "printable ASCII"),
                Arguments.of("", "", "k", "scope-invalid", "scope is ''"),
                Arguments.of("", "Order", "k", "scope-invalid", "such as order.create"),
                Arguments.of("", "1a", "k", "scope-invalid", "beginning with a letter"),
                Arguments.of("", "a".repeat(101), "k", "scope-invalid", "1 to 100"),
                Arguments.of("", "a b", "k", "scope-invalid", "lower-case"),
                Arguments.of(" ", "a.b", "k", "tenant-invalid", "tenant is ' '"),
                Arguments.of("t\u0000", "a.b", "k", "tenant-invalid", "without control characters"),
                Arguments.of("\ud800", "a.b", "k", "tenant-invalid", "tenant is '?'"),
                Arguments.of("t".repeat(201), "a.b", "k", "tenant-invalid", "up to 200"));
    }

    @ParameterizedTest
    @MethodSource("badKeys")
    void refusesKeys(String tenant, String scope, String key, String code, String fact) {
        assertThatThrownBy(() -> new IdempotencyKey(tenant, scope, key))
                .hasMessageContaining(fact)
                .extracting("code")
                .isEqualTo("idempotency." + code);
    }

    /** So that no other program can write what ours would not read. */
    @ParameterizedTest
    @MethodSource("badKeys")
    void theTableRefusesTheSame(String tenant, String scope, String key, String code, String fact) {
        if (tenant.isBlank() && !tenant.isEmpty() || (tenant + key).matches("(?s).*[\u0000\ud800].*")) {
            // What PostgreSQL cannot store anyway, and what only makes no sense.
            return;
        }
        assertThatThrownBy(() -> shop.database.execute(insert(tenant, scope, key, "completed", "200", "now()", "null")))
                .hasStackTraceContaining("violates check constraint");
    }

    static Stream<Arguments> badStates() {
        return Stream.of(
                Arguments.of("pending", "null", "null", "now()"),
                Arguments.of("running", "200", "null", "now()"),
                Arguments.of("running", "null", "null", "null"),
                Arguments.of("running", "null", "now()", "now()"),
                Arguments.of("completed", "null", "now()", "null"),
                Arguments.of("completed", "200", "null", "null"),
                Arguments.of("completed", "200", "now()", "now()"),
                Arguments.of("completed", "404", "now()", "null"),
                Arguments.of("failed", "201", "now()", "null"),
                Arguments.of("completed", "99", "now()", "null"));
    }

    @ParameterizedTest
    @MethodSource("badStates")
    void noKeyGetsAStateThatContradictsItself(String state, String status, String completed, String leased) {
        shop.database.execute("delete from postroom.idempotency_key");
        shop.database.execute(insert("", "a.b", "k", "completed", "200", "now()", "null"));
        assertThatThrownBy(() -> shop.database.execute("update postroom.idempotency_key set state = '" + state
                        + "', status_code = " + status + ", completed_at = " + completed + ", leased_until = " + leased
                        + ", response = " + (state.equals("running") && status.equals("null") ? "null" : "''")))
                .hasStackTraceContaining("idempotency key k of scope a.b cannot be " + state);
    }

    private static String insert(
            String tenant, String scope, String key, String state, String status, String completed, String leased) {
        return "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response,"
                + " completed_at, expires_at, leased_until) values ('" + tenant + "', '" + scope + "', '" + key
                + "', sha256(''), '" + state + "', " + status + ", "
                + (state.equals("running") && status.equals("null") ? "null" : "''") + ", " + completed + ", now(), "
                + leased + ")";
    }

    @Test
    void takesWhatJustFits() {
        IdempotencyKey key = new IdempotencyKey(
                "\ud83d\ude80".repeat(200), "a" + ".-_9".repeat(24) + "xyz", " ~".repeat(127) + "\"");
        assertThat(key.scope()).hasSize(100);
        assertThat(shop.idempotency.once(new Request(key, Shop.hash("")), tx -> Answer.of(200, "")))
                .isInstanceOf(Outcome.Executed.class);
        assertThat(shop.idempotency.once(new Request(key, Shop.hash("")), tx -> Answer.of(500, "")))
                .isInstanceOf(Outcome.Replayed.class);
    }

    static Stream<Arguments> badAnswers() {
        Map<String, String> many = new LinkedHashMap<>();
        for (int i = 0; i <= Answer.HEADERS_MAX; i++) {
            many.put("H" + i, "");
        }
        return Stream.of(
                Arguments.of(199, Map.of(), 0, "status is 199, the range is 200 to 599"),
                Arguments.of(600, Map.of(), 0, "status is 600"),
                Arguments.of(200, Map.of(), 1_048_577, "its body is 1048577 bytes, the limit is 1048576"),
                Arguments.of(200, many, 0, "it has 51 headers, the limit is 50"),
                Arguments.of(200, Map.of("A", "x".repeat(16_384)), 0, "its headers are 16385 characters"),
                Arguments.of(200, Map.of("a b", ""), 0, "characters that HTTP does not allow"),
                Arguments.of(200, Map.of("a", "x\r\nSet-Cookie: a=b"), 0, "header a has a control character"),
                Arguments.of(200, Map.of("set-Cookie", "a=b"), 0, "for one response only"),
                Arguments.of(200, Map.of("ETag", "1", "etag", "2"), 0, "is there twice"));
    }

    @ParameterizedTest
    @MethodSource("badAnswers")
    void anAnswerThatCannotBeStoredRollsItsCommandBack(
            int status, Map<String, String> headers, int bytes, String fact) {
        assertThatThrownBy(() -> shop.idempotency.once(Shop.request("unstorable"), tx -> {
                    Shop.insert(tx, "unstorable", "");
                    return new Answer(status, headers, new byte[bytes]);
                }))
                .hasMessageContaining(fact)
                .extracting("code")
                .isEqualTo("idempotency.answer-invalid");
        assertThat(shop.placed("unstorable")).isZero();
        assertThat(shop.keys("key = 'unstorable'")).isZero();
    }

    @Test
    void takesAnAnswerThatJustFits() {
        Answer answer = new Answer(599, Map.of("A", "x".repeat(16_383)), new byte[Answer.BODY_BYTES_MAX]);
        KeyPolicy policy = KeyPolicy.STANDARD.failures(Failures.STORED);
        shop.idempotency.once(Shop.request("fits"), policy, tx -> answer);
        assertThat(shop.idempotency.once(Shop.request("fits"), policy, tx -> Answer.of(200, "")))
                .isEqualTo(new Outcome.Replayed(answer));
    }

    @Test
    void refusesHashesAndInputs() {
        assertThatThrownBy(() -> new Request(Shop.key("k"), new byte[20]))
                .hasMessageContaining("its hash is 20 bytes, it must be 32")
                .isInstanceOf(PostroomException.class);
        assertThatThrownBy(() -> new Request(Shop.key("k"), new byte[32], "x".repeat(65_537)))
                .hasMessageContaining("65537 characters, the limit is 65536");
        assertThatThrownBy(() -> new Request(Shop.key("k"), new byte[32], "\0")).hasMessageContaining("without U+0000");
    }

    @Test
    void namesEverythingThatIsWrongWithAPolicy() {
        assertThatThrownBy(() -> new KeyPolicy(
                        Duration.ZERO,
                        Failures.STORED,
                        Duration.ofMinutes(6),
                        Duration.ofMillis(100),
                        Duration.ofMillis(1)))
                .hasMessageContaining("expiry is PT0S, the range is PT1S to PT8784H")
                .hasMessageContaining("patience is PT6M")
                .hasMessageContaining("lease is PT0.1S, the range is PT0.5S to PT1H")
                .hasMessageContaining("runtimeMax is PT0.001S")
                .extracting("code")
                .isEqualTo("idempotency.policy-invalid");
    }

    /** What is kept for later is the application's own: it is in no sentence that may reach a log. */
    @Test
    void neitherBodiesNorInputsAreInWhatIsPrinted() {
        assertThat(Answer.of(200, "secret").toString()).doesNotContain("secret");
        assertThat(new Request(Shop.key("k"), new byte[32], "secret").toString())
                .doesNotContain("secret");
        assertThat(new Outcome.Executed(Answer.of(200, "secret"), true).toString())
                .doesNotContain("secret");
    }
}
