package io.postroom.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.message.InvalidMessageException;
import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.util.PSQLException;

/** One table of bad inputs and one of good ones at the very limit, for Java and SQL alike. */
class BadInputTest {
    static TestDatabase database;
    static Outbox outbox;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        outbox = database.postroom().outbox();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** {@code says}: what the error must name. */
    record Bad(String name, String code, String says, Consumer<Draft> change) {
        Draft draft() {
            Draft draft = new Draft();
            change.accept(draft);
            return draft;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static final String LONG_200 = "a".repeat(200);
    static final int PAYLOAD_MAX = MessageRules.PAYLOAD_BYTES_MAX;

    static Stream<Bad> badEverywhere() {
        List<Bad> bad = new ArrayList<>();
        for (String name : List.of(
                "", LONG_200 + "a", " order", "or der", "order\n", "ordér", "-order", "o'r", "a\tb", "\u0001")) {
            bad.add(new Bad(
                    "aggregate type " + shown(name),
                    "message.aggregate-type-invalid",
                    "1 to 200",
                    d -> d.aggregateType = name));
            bad.add(new Bad(
                    "event type " + shown(name), "message.event-type-invalid", "1 to 200", d -> d.eventType = name));
        }
        for (String id : List.of(
                "",
                "x".repeat(501),
                "é".repeat(501),
                "🚀".repeat(501),
                "a\nb",
                "a\tb",
                "\u007f",
                "\u0085",
                "\u009f",
                "a\u001b[2J")) {
            bad.add(new Bad(
                    "aggregate id " + shown(id), "message.aggregate-id-invalid", "1 to 500", d -> d.aggregateId = id));
        }
        for (String tenant : List.of("", "x".repeat(201), "🚀".repeat(201), "a\r", "\u0080")) {
            bad.add(new Bad(
                    "tenant id " + shown(tenant), "message.tenant-id-invalid", "1 to 200", d -> d.tenantId = tenant));
        }
        bad.add(new Bad(
                "aggregate version -1",
                "message.aggregate-version-invalid",
                "is -1, the least is 0",
                d -> d.aggregateVersion = -1L));
        bad.add(new Bad(
                "aggregate version min",
                "message.aggregate-version-invalid",
                "" + Long.MIN_VALUE,
                d -> d.aggregateVersion = Long.MIN_VALUE));
        bad.add(new Bad(
                "event version 0", "message.event-version-invalid", "is 0, the least is 1", d -> d.eventVersion = 0));
        bad.add(new Bad(
                "event version -1",
                "message.event-version-invalid",
                "is -1, the least is 1",
                d -> d.eventVersion = -1));
        bad.add(new Bad("nil id", "message.id-invalid", "nil", d -> d.id = new UUID(0, 0)));

        bad.add(new Bad(
                "year 10000",
                "message.occurred-at-invalid",
                "year 1 to 9999",
                d -> d.occurredAt = Instant.parse("+10000-01-01T00:00:00Z")));
        bad.add(new Bad("end of time", "message.occurred-at-invalid", "year 1 to 9999", d -> {
            d.occurredAt = Instant.MAX;
            d.occurredAtText = "infinity";
        }));
        bad.add(new Bad("before year 1", "message.occurred-at-invalid", "year 1 to 9999", d -> {
            d.occurredAt = Instant.parse("0000-12-31T23:59:59.999999Z");
            d.occurredAtText = "0001-12-31 23:59:59.999999Z BC";
        }));
        bad.add(new Bad("beginning of time", "message.occurred-at-invalid", "year 1 to 9999", d -> {
            d.occurredAt = Instant.MIN;
            d.occurredAtText = "-infinity";
        }));
        bad.add(new Bad(
                "available in year 10000",
                "message.available-at-invalid",
                "year 1 to 9999",
                d -> d.availableAt = Instant.parse("+10000-01-01T00:00:00Z")));

        bad.add(payload(
                "too large by one",
                "message.payload-too-large",
                "is 1048577 bytes, the limit is 1048576",
                text(PAYLOAD_MAX + 1)));
        bad.add(payload(
                "too large by one, of two-byte characters",
                "message.payload-too-large",
                "is 1048577 bytes, the limit is 1048576",
                "\"x" + "é".repeat(PAYLOAD_MAX / 2 - 1) + "\""));
        bad.add(payload(
                "too large by whitespace",
                "message.payload-too-large",
                "is 1048577 bytes",
                "1" + " ".repeat(PAYLOAD_MAX)));
        bad.add(payload(
                "arrays 101 deep", "message.payload-too-deep", "100 levels", "[".repeat(101) + "]".repeat(101)));
        bad.add(payload(
                "objects 101 deep",
                "message.payload-too-deep",
                "100 levels",
                "{\"a\":".repeat(101) + "1" + "}".repeat(101)));
        bad.add(payload("4000 deep", "message.payload-too-deep", "100 levels", "[".repeat(4000) + "]".repeat(4000)));
        bad.add(payload("1e308", "message.payload-number-too-large", "308 digits", "[1e308]"));
        bad.add(payload("-1e400", "message.payload-number-too-large", "308 digits", "{\"a\":-1e400}"));
        bad.add(payload("1E+400", "message.payload-number-too-large", "308 digits", "1E+400"));
        bad.add(payload("1e100000", "message.payload-number-too-large", "308 digits", "{\"a\":[1e100000]}"));
        bad.add(payload("1e99999999999", "message.payload-number-too-large", "308 digits", "1e99999999999"));
        bad.add(payload("309 digits", "message.payload-number-too-large", "308 digits", "9".repeat(309)));
        bad.add(payload(
                "500 digits", "message.payload-number-too-large", "308 digits", "{\"a\":" + "1".repeat(500) + "}"));
        bad.add(payload(
                "401 digits after the point",
                "message.payload-number-too-large",
                "400 after",
                "0." + "0".repeat(400) + "1"));
        bad.add(payload(
                "401 zeros after the point", "message.payload-number-too-large", "400 after", "1." + "0".repeat(401)));
        bad.add(payload("1e-401", "message.payload-number-too-large", "400 after", "1e-401"));
        bad.add(payload("0e-401", "message.payload-number-too-large", "400 after", "0e-401"));
        bad.add(payload("1.5e-400", "message.payload-number-too-large", "400 after", "1.5e-400"));
        bad.add(payload("1e-99999", "message.payload-number-too-large", "400 after", "1e-99999"));
        bad.add(payload("0.01e310", "message.payload-number-too-large", "308 digits", "0.01e310"));
        bad.add(payload("escaped U+0000", "message.payload-nul", "U+0000", "{\"a\":\"x\\u0000y\"}"));
        bad.add(payload("escaped U+0000 in a key", "message.payload-nul", "U+0000", "{\"x\\u0000y\":1}"));
        bad.add(payload("high surrogate, escaped", "message.payload-not-unicode", "surrogate", "[\"\\ud800\"]"));
        bad.add(payload("low surrogate, escaped", "message.payload-not-unicode", "surrogate", "[\"\\udc00\"]"));
        bad.add(payload(
                "two high surrogates, escaped", "message.payload-not-unicode", "surrogate", "[\"\\ud800\\ud800\"]"));
        bad.add(payload(
                "surrogates the wrong way round",
                "message.payload-not-unicode",
                "surrogate",
                "{\"\\udc00\\ud800\":1}"));
        repeatedKeys()
                .forEach(json -> bad.add(payload(
                        "repeats a key: " + shown(json), "message.payload-repeats-key", "same key twice", json)));

        bad.add(headers("65", "message.headers-too-many", "65 headers, the limit is 64", numbered(65)));
        bad.add(headers("65 and a trace", "message.headers-too-many", "65 headers", traced(numbered(65))));
        bad.add(headers(
                "32769 bytes and a trace",
                "message.headers-too-large",
                "are 32769 bytes as JSON, the limit is 32768",
                traced(headersOf(32_769))));
        bad.add(headers("10000", "message.headers-too-large", "limit is 32768", numbered(10_000)));
        bad.add(headers(
                "32769 bytes",
                "message.headers-too-large",
                "are 32769 bytes as JSON, the limit is 32768",
                headersOf(32_769)));
        bad.add(headers(
                "32769 bytes with escapes", "message.headers-too-large", "are 32769 bytes", escapedHeadersOf(32_769)));
        for (String name : List.of("", "a b", "a:b", "é", "a\n", "x".repeat(101), "a\u0000", "\"")) {
            bad.add(headers(
                    "name " + shown(name), "message.header-name-invalid", "1 to 100 letters", Map.of(name, "v")));
        }
        for (String name : List.of("postroom-replay", "postroom-payload-sha256", "Postroom-Replay", "POSTROOM-")) {
            bad.add(headers(
                    "name " + name,
                    "message.header-name-reserved",
                    "'" + name + "', names that begin with postroom- are Postroom's own",
                    Map.of(name, "v")));
        }
        bad.add(headers(
                "value of 8193 bytes",
                "message.header-value-too-large",
                "is 8193 bytes, the limit is 8192",
                Map.of("a", "x".repeat(8193))));
        bad.add(headers(
                "value of 8194 bytes in 4097 characters",
                "message.header-value-too-large",
                "is 8194 bytes",
                Map.of("a", "é".repeat(4097))));
        for (String value : List.of("a\nb", "\r", "\u007f", "\u0085", "a\u0000b", "\u001b[31m")) {
            bad.add(headers("value " + shown(value), "message.header-value-invalid", "encode it", Map.of("a", value)));
        }
        return bad.stream();
    }

    static Stream<String> repeatedKeys() {
        return Stream.of(
                "{\"a\":1,\"a\":2}",
                "{\"a\":1,\"a\":1}",
                "{\"a\":1,\"\\u0061\":1}",
                "{\"\":1,\"\":2}",
                "[{\"b\":[{\"a\":1,\"c\":3,\"a\":2}]}]",
                "{\"a\":{\"b\":1},\"c\":{\"b\":1,\"b\":1}}",
                "[{\"a\":1},{\"a\":1},{\"a\":1,\"a\":1}]",
                "[{\"a\":1,\"a\":1},{\"a\":1,\"a\":1}]",
                "{\"x\":{\"a\":{},\"b\":{},\"a\":{}}}",
                "{\"é\":1,\"\\u00e9\":2}",
                "[".repeat(99) + "{\"a\":1,\"a\":1}" + "]".repeat(99));
    }

    /** What only one of the two languages can say, or what PostgreSQL's own type refuses before our function runs. */
    static Stream<Bad> badInJava() {
        return Stream.concat(
                Stream.of(
                        payload("empty", "message.payload-not-json", "empty", ""),
                        payload("blank", "message.payload-not-json", "empty", " \n"),
                        payload("raw U+0000", "message.payload-not-json", "line 1, column", "{\"a\":\"\u0000\"}"),
                        payload("raw line feed in a string", "message.payload-not-json", "line 1, column", "\"\n\""),
                        payload("raw high surrogate", "message.payload-not-unicode", "surrogate", "[\"\ud800\"]"),
                        payload("raw low surrogate", "message.payload-not-unicode", "surrogate", "[\"x\udc00\"]"),
                        payload("raw surrogate at the end", "message.payload-not-unicode", "surrogate", "1\ud800"),
                        payload("100000 deep", "message.payload-too-deep", "100 levels", "[".repeat(100_000)),
                        new Bad(
                                "aggregate id with half a pair",
                                "message.aggregate-id-invalid",
                                "1 to 500",
                                d -> d.aggregateId = "a\ud800"),
                        new Bad(
                                "aggregate id with U+0000",
                                "message.aggregate-id-invalid",
                                "\\u0000",
                                d -> d.aggregateId = "a\u0000"),
                        new Bad(
                                "aggregate type with U+0000",
                                "message.aggregate-type-invalid",
                                "\\u0000",
                                d -> d.aggregateType = "a\u0000"),
                        new Bad(
                                "tenant id with half a pair",
                                "message.tenant-id-invalid",
                                "1 to 200",
                                d -> d.tenantId = "\udc00"),
                        headers(
                                "value with half a pair",
                                "message.header-value-invalid",
                                "surrogate",
                                Map.of("a", "\ud800"))),
                notJson()
                        .map(json -> payload("not JSON: " + shown(json), "message.payload-not-json", "payload", json)));
    }

    static Stream<String> notJson() {
        return Stream.of(
                "{",
                "}",
                "[1,]",
                "{\"a\":1,}",
                "{a:1}",
                "{'a':1}",
                "{\"a\" 1}",
                "nul",
                "NULL",
                "True",
                "NaN",
                "Infinity",
                "-",
                "+1",
                ".5",
                "1.",
                "01",
                "-01",
                "0x1",
                "1e",
                "1 2",
                "{} {}",
                "[] 1",
                "{}x",
                "{},",
                "\"a\" \"b\"",
                "\"\\q\"",
                "\"\\u12\"",
                "\"open",
                "// c\n1",
                "/* c */ 1",
                "\ufeff{}",
                "\u00a01",
                "{\"a\":1}\u0000",
                "[1}",
                "{1:2}",
                "1\f",
                "undefined",
                "'a'",
                "\"\t\"");
    }

    static Stream<Bad> badInSql() {
        return Stream.of(
                new Bad(
                        "aggregate type null",
                        "message.aggregate-type-invalid",
                        "is null",
                        d -> d.aggregateType = null),
                new Bad("aggregate id null", "message.aggregate-id-invalid", "is null", d -> d.aggregateId = null),
                new Bad("event type null", "message.event-type-invalid", "is null", d -> d.eventType = null),
                new Bad(
                        "payload null",
                        "message.payload-missing",
                        "publish the JSON value null",
                        d -> d.payload = null),
                sqlHeaders("an array", "message.headers-invalid", "are a JSON array", "[]"),
                sqlHeaders("a string", "message.headers-invalid", "are a JSON string", "\"a\""),
                sqlHeaders("JSON null", "message.headers-invalid", "are a JSON null", "null"),
                sqlHeaders("a number within", "message.headers-invalid", "header a is a JSON number", "{\"a\":1}"),
                sqlHeaders("a huge number within", "message.headers-invalid", "not a string", "{\"a\":1e999999}"),
                sqlHeaders("null within", "message.headers-invalid", "header a is a JSON null", "{\"a\":null}"),
                sqlHeaders("an object within", "message.headers-invalid", "header a is a JSON object", "{\"a\":{}}"),
                sqlHeaders("a name twice", "message.headers-invalid", "same name twice", "{\"a\":\"1\",\"a\":\"1\"}"),
                sqlHeaders(
                        "a name twice, once escaped",
                        "message.headers-invalid",
                        "same name twice",
                        "{\"a\":\"1\",\"\\u0061\":\"2\"}"),
                sqlHeaders(
                        "32769 bytes of whitespace",
                        "message.headers-too-large",
                        "are 32769 bytes",
                        "{" + " ".repeat(32_767) + "}"),
                sqlHeaders("escaped half a pair", "message.header-value-invalid", "surrogate", "{\"a\":\"\\ud800\"}"),
                sqlHeaders(
                        "escaped half a pair in a name",
                        "message.header-name-invalid",
                        "surrogate",
                        "{\"ok\":\"v\",\"a\\udc00\":\"x\"}"),
                sqlHeaders("escaped control character", "message.header-value-invalid", "control", "{\"a\":\"\\n\"}"));
    }

    static Bad payload(String name, String code, String says, String json) {
        return new Bad("payload " + name, code, says, d -> d.payload = json);
    }

    static Bad headers(String name, String code, String says, Map<String, String> headers) {
        return new Bad("headers: " + name, code, says, d -> d.headers = headers);
    }

    static Bad sqlHeaders(String name, String code, String says, String json) {
        return new Bad("headers: " + name, code, says, d -> d.headersText = json);
    }

    @ParameterizedTest
    @MethodSource({"badEverywhere", "badInJava"})
    void publishRefusesBeforeAnySqlRuns(Bad bad) throws SQLException {
        Message message = bad.draft().message();
        refuses(bad, () -> outbox.publish(withoutSql(), message));
        try (Connection tx = database.begin()) {
            refuses(bad, () -> outbox.publish(tx, message));
            assertThat(countOf(tx))
                    .as("the transaction is still usable, and empty")
                    .isZero();
            tx.commit();
        }
    }

    @ParameterizedTest
    @MethodSource({"badEverywhere", "badInJava"})
    void publishAllRefusesTheWholeBatchBeforeAnySqlRuns(Bad bad) throws SQLException {
        List<Message> batch = List.of(new Draft().message(), bad.draft().message(), new Draft().message());
        refuses(bad, () -> outbox.publishAll(withoutSql(), batch));
        try (Connection tx = database.begin()) {
            refuses(bad, () -> outbox.publishAll(tx, batch));
            assertThat(countOf(tx))
                    .as("the transaction is still usable, and empty")
                    .isZero();
            tx.commit();
        }
    }

    @ParameterizedTest
    @MethodSource({"badEverywhere", "badInSql"})
    void sqlPublishRefusesWithTheSameCode(Bad bad) throws SQLException {
        Draft draft = bad.draft();
        try (Connection tx = database.begin()) {
            Savepoint before = tx.setSavepoint();
            PSQLException refusal = catchThrowableOfType(PSQLException.class, () -> draft.publishSql(tx));
            assertThat((Throwable) refusal).as("a refusal of %s", bad).isNotNull();
            assertThat(refusal.getSQLState()).as(refusal.getMessage()).isEqualTo("22023");
            assertThat(refusal.getServerErrorMessage().getDetail()).isEqualTo(bad.code());
            assertThat(refusal.getServerErrorMessage().getMessage())
                    .startsWith("could not publish message ")
                    .contains(bad.says())
                    .doesNotContainPattern("[\\x00-\\x1f\\x7f-\\x9f]");
            tx.rollback(before);
            assertThat(countOf(tx)).isZero();
            tx.commit();
        }
    }

    @ParameterizedTest
    @MethodSource("notJson")
    void postgresRefusesWhatJavaCallsNotJson(String json) throws SQLException {
        Draft draft = new Draft();
        draft.payload = json;
        try (Connection tx = database.begin()) {
            assertThatExceptionOfType(SQLException.class)
                    .isThrownBy(() -> draft.publishSql(tx))
                    .satisfies(e -> assertThat(e.getSQLState()).isIn("22P02", "22021"));
            tx.rollback();
        }
    }

    @Test
    void namesWhatIsNull() throws SQLException {
        try (Connection tx = database.begin()) {
            assertThatNullPointerException()
                    .isThrownBy(() -> outbox.publish(tx, null))
                    .withMessageContaining("message");
            assertThatNullPointerException()
                    .isThrownBy(() -> outbox.publishAll(tx, null))
                    .withMessageContaining("messages");
            List<Message> holed = new ArrayList<>(List.of(new Draft().message()));
            holed.add(null);
            assertThatNullPointerException()
                    .isThrownBy(() -> outbox.publishAll(tx, holed))
                    .withMessageContaining("message 1");
            assertThat(countOf(tx)).isZero();
        }
        Map<String, Consumer<Draft>> nulls = Map.of(
                "aggregateType", d -> d.aggregateType = null,
                "aggregateId", d -> d.aggregateId = null,
                "eventType", d -> d.eventType = null,
                "payload", d -> d.payload = null,
                "occurredAt", d -> d.occurredAt = null,
                "id", d -> d.id = null);
        nulls.forEach((field, change) -> {
            Draft draft = new Draft();
            change.accept(draft);
            assertThatNullPointerException().isThrownBy(draft::message).withMessage(field);
        });
    }

    @Test
    void neitherErrorsNorToStringShowThePayload() {
        for (String secret :
                List.of("{\"pin\":\"hunter2\",}", "{\"hunter2\":1,\"hunter2\":2}", "[\"hunter2\\u0000\"]")) {
            Draft draft = new Draft();
            draft.payload = secret;
            draft.headers.put("authorization", "hunter2");
            InvalidMessageException refusal = catchThrowableOfType(
                    InvalidMessageException.class, () -> outbox.publish(withoutSql(), draft.message()));
            assertThat(refusal.getMessage()).doesNotContain("hunter2");
            assertThat(refusal.getCause()).isNull();
            assertThat(draft.message().toString()).doesNotContain("hunter2");
        }
    }

    record Good(String name, Consumer<Draft> change) {
        Draft draft() {
            Draft draft = new Draft();
            change.accept(draft);
            return draft;
        }
    }

    static List<Good> good() {
        List<Good> good = new ArrayList<>();
        good.add(new Good("names of 200", d -> {
            d.aggregateType = LONG_200;
            d.eventType = "0_.:/-" + "z".repeat(194);
        }));
        good.add(new Good("aggregate id of 500 characters, four bytes each", d -> d.aggregateId = "🚀".repeat(500)));
        good.add(new Good("aggregate id with what needs quoting", d -> d.aggregateId = "'\"\\{},NULL;--$1 ?:x\u00a0"));
        good.add(new Good("aggregate id NULL", d -> d.aggregateId = "NULL"));
        good.add(new Good(
                "line separators are not control characters", d -> d.aggregateId = "\u2028\u2029\u200b\ufeff"));
        good.add(new Good("aggregate id of a space", d -> d.aggregateId = " "));
        good.add(new Good("tenant of 200", d -> d.tenantId = "é".repeat(200)));
        good.add(new Good("least versions", d -> d.aggregateVersion = 0L));
        good.add(new Good("greatest versions", d -> {
            d.aggregateVersion = Long.MAX_VALUE;
            d.eventVersion = Integer.MAX_VALUE;
        }));
        good.add(new Good("greatest id", d -> d.id = new UUID(-1, -1)));
        good.add(new Good("first moment", d -> d.occurredAt = Instant.parse("0001-01-01T00:00:00Z")));
        good.add(new Good("last moment", d -> d.occurredAt = Instant.parse("9999-12-31T23:59:59.999999Z")));
        good.add(new Good(
                "before 1970, with microseconds", d -> d.occurredAt = Instant.parse("1969-12-31T23:59:59.999999Z")));
        good.add(new Good("available since year 1", d -> d.availableAt = Instant.parse("0001-01-01T00:00:00Z")));
        good.add(new Good(
                "nanoseconds are cut to microseconds, both ways alike",
                d -> d.occurredAt = Instant.parse("2026-01-01T00:00:00.000000999Z")));
        for (String payload : goodPayloads()) {
            good.add(new Good("payload " + shown(payload), d -> d.payload = payload));
        }
        good.add(new Good("64 headers", d -> d.headers = numbered(64)));
        good.add(new Good("64 headers and a trace", d -> d.headers = traced(numbered(64))));
        good.add(new Good("32768 bytes of headers and a trace", d -> d.headers = traced(headersOf(32_768))));
        good.add(new Good("32768 bytes of headers", d -> d.headers = headersOf(32_768)));
        good.add(new Good("32768 bytes of headers with escapes", d -> d.headers = escapedHeadersOf(32_768)));
        good.add(new Good("header of 8192 bytes", d -> d.headers = Map.of("a", "é".repeat(4096))));
        good.add(new Good("header name of 100", d -> d.headers = Map.of("A0_.-" + "x".repeat(95), "")));
        good.add(new Good(
                "header names that are nearly ours", d -> d.headers = Map.of("postroom", "", "x-postroom-a", "")));
        good.add(new Good(
                "header values with what needs escaping",
                d -> d.headers = Map.of("a", "\"\\/'</script> 🚀 \u2028", "b", "{}")));
        return good;
    }

    static List<String> goodPayloads() {
        return List.of(
                "null",
                "true",
                "0",
                "-0",
                "-0.0",
                "\"\"",
                "[]",
                "{}",
                " \t\r\n{ \"b\" : 1 ,\n\"a\":[ ] }\n ",
                "{\"z\":1,\"a\":{\"y\":2,\"b\":3},\"Z\":4}",
                "12345678901234567890123456789.10",
                "9".repeat(308),
                "-" + "9".repeat(308),
                "9.99e307",
                "1e-400",
                "0." + "1".repeat(400),
                "0e999999",
                "0.0e400",
                "1E+2",
                "1e-0",
                "0.001e310",
                "1" + "0".repeat(307) + "." + "9".repeat(400),
                "\"\\u00e9\\/\\b\\f\\n\\r\\t\\\"\\\\ \\ud83d\\ude80 \u007f 🚀 \u2028 é e\u0301\"",
                "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":1},{\"a\":1}]}",
                "[{\"a\":1},{\"a\":1},{\"a\":1}]",
                "{\"a\":1,\"A\":2,\"á\":3,\"a \":4,\"\":5}",
                "[".repeat(100) + "]".repeat(100),
                "[".repeat(100) + "1" + "]".repeat(100),
                "{\"a\":".repeat(100) + "1" + "}".repeat(100),
                "\"" + "\\\\u0000 is not a character, nor is \\\\ud800" + "\"",
                text(PAYLOAD_MAX),
                "\"" + "é".repeat(PAYLOAD_MAX / 2 - 1) + "\"",
                " ".repeat(PAYLOAD_MAX - 1) + "1");
    }

    @Test
    void whatIsWithinTheLimitsArrivesUnchanged() throws SQLException {
        Map<UUID, Message> published = new LinkedHashMap<>();
        Map<UUID, String> names = new HashMap<>();
        try (Connection tx = database.begin()) {
            for (Good each : good()) {
                Draft single = each.draft();
                Draft batched = fresh(each.draft());
                Draft inSql = fresh(each.draft());
                assertThat(outbox.publish(tx, single.message())).isEqualTo(single.id);
                assertThat(outbox.publishAll(tx, List.of(batched.message()))).containsExactly(batched.id);
                inSql.occurredAt = inSql.message().occurredAt();
                assertThat(inSql.publishSql(tx)).isEqualTo(inSql.id);
                for (Draft draft : List.of(single, batched, inSql)) {
                    published.put(draft.id, draft.message());
                    names.put(draft.id, each.name());
                }
            }
            tx.commit();
        }
        Map<UUID, Message> received = new HashMap<>();
        try (Relay relay = database.postroom()
                .relay()
                .handle(
                        Subscription.named("good").build(),
                        envelope -> received.put(envelope.message().id(), envelope.message()))
                .build()) {
            while (relay.runOnce() > 0) {
                // Until everything has come.
            }
        }
        published.forEach((id, message) -> {
            assertThat(received.get(id)).as(names.get(id)).isNotNull();
            assertThat(received.get(id).payload().equals(message.payload()))
                    .as("payload of %s arrives byte for byte", names.get(id))
                    .isTrue();
            assertThat(received.get(id)).as(names.get(id)).isEqualTo(message);
        });
        database.execute("truncate postroom.outbox");
    }

    @Test
    void sqlPublishTakesTheFourNamesAloneAndMakesTheRest() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            UUID id = uuid(statement, """
                    select postroom.publish(aggregate_type => 'order', aggregate_id => 'o-1', event_type => 'OrderPlaced',
                                            payload => '{"total": 12.50}')""");
            assertThat(id.version()).isEqualTo(7);
            assertThat(uuid(statement, "select id from postroom.outbox where payload::text = '{\"total\": 12.50}'"))
                    .isEqualTo(id);
            try (ResultSet row = statement.executeQuery(
                    "select event_version, headers, tenant_id, available_at, occurred_at between now() and clock_timestamp()"
                            + " from postroom.outbox")) {
                row.next();
                assertThat(row.getInt(1)).isEqualTo(1);
                assertThat(row.getString(2)).isNull();
                assertThat(row.getString(3)).isNull();
                assertThat(row.getString(4)).isNull();
                assertThat(row.getBoolean(5)).isTrue();
            }
            tx.rollback();
        }
    }

    @Test
    void sqlPublishTakesEveryNameOfTheIssueAndRowsAsJson() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            UUID id = uuid(statement, """
                    select postroom.publish(
                        aggregate_type => 'order', aggregate_id => 'o-1', event_type => 'OrderPlaced',
                        payload => to_json(row(1, 'two')), tenant_id => 'acme', aggregate_version => 3, event_version => 2,
                        headers => '{"traceparent": "00-x"}', occurred_at => '2026-01-01 00:00Z', available_at => now(),
                        id => '0197a3f0-0000-7000-8000-000000000001')""");
            assertThat(id).hasToString("0197a3f0-0000-7000-8000-000000000001");
            tx.rollback();
        }
    }

    @Test
    void aTriggerCanPublish() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("""
                    create table public.customer (id text primary key, name text);
                    create function public.tell() returns trigger language plpgsql as $$
                    begin
                        perform postroom.publish('customer', new.id, 'CustomerChanged', to_json(new));
                        return null;
                    end $$;
                    create trigger tell after insert or update on public.customer for each row execute function public.tell();
                    insert into public.customer values ('c1', 'Zoë');
                    update public.customer set name = 'Zoe'""");
            try (ResultSet row = statement.executeQuery(
                    "select string_agg(payload ->> 'name', ' ' order by seq) from postroom.outbox")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("Zoë Zoe");
            }
            tx.rollback();
        }
    }

    @Test
    void findsRepeatedKeysInALargePayloadQuickly() throws SQLException {
        StringBuilder json = new StringBuilder("[");
        for (int i = 0; i < 40_000; i++) {
            json.append("{\"a\":1,\"b\":[").append(i).append("]},");
        }
        Draft unique = new Draft();
        unique.payload = json + "{}]";
        Draft repeated = new Draft();
        repeated.payload = json + "{\"a\":1,\"a\":1}]";
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("set local statement_timeout = '5s'");
            assertThat(unique.publishSql(tx)).isEqualTo(unique.id);
            PSQLException refusal = catchThrowableOfType(PSQLException.class, () -> repeated.publishSql(tx));
            assertThat(refusal.getServerErrorMessage().getDetail()).isEqualTo("message.payload-repeats-key");
            tx.rollback();
        }
    }

    private static Draft fresh(Draft draft) {
        draft.id = new Draft().id;
        return draft;
    }

    private static void refuses(Bad bad, org.assertj.core.api.ThrowableAssert.ThrowingCallable publish) {
        InvalidMessageException refusal = catchThrowableOfType(InvalidMessageException.class, publish);
        assertThat(refusal).as("a refusal of %s", bad).isNotNull();
        assertThat(refusal.code()).as(refusal.getMessage()).isEqualTo(bad.code());
        assertThat(refusal.getMessage())
                .startsWith("could not publish message ")
                .contains(bad.says())
                .doesNotContainPattern("[\\x00-\\x1f\\x7f-\\x9f]")
                .hasSizeLessThan(500);
    }

    /** A connection in a transaction on which every statement is an error. */
    private static Connection withoutSql() {
        return (Connection) Proxy.newProxyInstance(
                BadInputTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getAutoCommit")
                            || method.getName().equals("isReadOnly")) {
                        return false;
                    }
                    throw new AssertionError("called " + method.getName() + " of the connection");
                });
    }

    private static long countOf(Connection tx) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from postroom.outbox")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static UUID uuid(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getObject(1, UUID.class);
        }
    }

    /** A JSON string of so many bytes. */
    private static String text(int bytes) {
        return "\"" + "x".repeat(bytes - 2) + "\"";
    }

    private static Map<String, String> numbered(int count) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            headers.put("h" + i, "v");
        }
        return headers;
    }

    private static Map<String, String> traced(Map<String, String> headers) {
        Map<String, String> traced = new LinkedHashMap<>(headers);
        traced.put("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        traced.put("tracestate", "vendor=\"é\"");
        return traced;
    }

    /** Headers whose JSON has so many bytes. */
    private static Map<String, String> headersOf(int bytes) {
        Map<String, String> headers = new LinkedHashMap<>();
        int left = bytes - 1;
        for (char name = 'a'; left > 0; name++) {
            int value = Math.min(8_000, left - 7);
            headers.put(String.valueOf(name), "x".repeat(value));
            left -= value + 7;
        }
        return headers;
    }

    private static Map<String, String> escapedHeadersOf(int bytes) {
        Map<String, String> headers = headersOf(bytes);
        headers.replaceAll((name, value) -> "\"".repeat(value.length() / 2) + "x".repeat(value.length() % 2));
        return headers;
    }

    private static String shown(String text) {
        String escaped = text.codePoints()
                .limit(40)
                .mapToObj(c -> c < 0x20 || c >= 0x7f && c < 0xa0 || Character.isSurrogate((char) c) && c < 0x10000
                        ? String.format("\\u%04x", c)
                        : Character.toString(c))
                .reduce("", String::concat);
        return "'" + escaped + "'" + (text.length() > 40 ? "… (" + text.length() + ")" : "");
    }
}
