package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedactionTest {

    /** {@code ~} stands for a line feed. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = "->",
            quoteCharacter = '`',
            value = {
                // Values of what is called a secret.
                "password=hunter2                             -> password=***",
                "user=bob password=hunter2 host=db            -> user=bob password=*** host=db",
                "Password: hunter2                            -> Password: ***",
                "PASSWORD = hunter2, user=bob                 -> PASSWORD = ***, user=bob",
                "{\"password\":\"hun ter2\",\"user\":\"bob\"} -> {\"password\":***,\"user\":\"bob\"}",
                "{\"password\": \"a\\\"b\", \"x\": 1}         -> {\"password\": ***, \"x\": 1}",
                "{\\\"password\\\":\\\"hunter2\\\",\\\"x\\\":1} -> {\\\"password\\\":***,\\\"x\\\":1}",
                "password='it is secret' next                 -> password=*** next",
                "password=\"never closed                      -> password=***",
                "password=[h, u, n, t] x                      -> password=*** x",
                "password=hunter2;encrypt=true                -> password=***;encrypt=true",
                "password=a,b,c                               -> password=***",
                "newPassword2=hunter2                         -> newPassword2=***",
                "sslpassword=x&ssl=true                       -> sslpassword=***&ssl=true",
                "passwd: x                                    -> passwd: ***",
                "pwd=x                                        -> pwd=***",
                "passphrase: x                                -> passphrase: ***",
                "client_secret=abc                            -> client_secret=***",
                "secretKey => abc                             -> secretKey => ***",
                "AWS_SECRET_ACCESS_KEY=abc/def                -> AWS_SECRET_ACCESS_KEY=***",
                "access_token=abc&expires=1                   -> access_token=***&expires=1",
                "invalid token: abc                           -> invalid token: ***",
                "token=Bearer abc                             -> token=*** ***",
                "api_key=abc                                  -> api_key=***",
                "api key: abc                                 -> api key: ***",
                "the password \"abc def\" is too short        -> the password *** is too short",
                "https://a.b/?user=bob&pass=abc               -> https://a.b/?user=bob&pass=***",
                "x-api-key: abc                               -> x-api-key: ***",
                "apiKey=abc                                   -> apiKey=***",
                "<password>hunter2</password>                 -> <password>***</password>",
                "password%3Dhunter2                           -> password%3D***",
                "password=***                                 -> password=***",
                "password             :    hunter2            -> password : ***",
                "password:~    hunter2                        -> password: ***",
                "password=~hunter2 x                          -> password= *** x",
                // Headers and schemes.
                "Authorization: Bearer abc.def                -> Authorization: ***",
                "Authorization: Basic dXNlcjpwYXNz~Accept: a/b -> Authorization: *** Accept: a/b",
                "Proxy-Authorization: abc                     -> Proxy-Authorization: ***",
                "{Authorization=[Bearer abc], Accept=[a/b]}   -> {Authorization=***], Accept=[a/b]}",
                "{\"Authorization\":\"Bearer abc\",\"a\":1}   -> {\"Authorization\":***,\"a\":1}",
                "(authorization: Digest username=\"bob\", response=\"abc\") failed -> (authorization: ***) failed",
                "curl -H 'Authorization: Bearer abc' -v       -> curl -H 'Authorization: ***' -v",
                "Set-Cookie: sid=abc; Path=/~done             -> Set-Cookie: *** done",
                "Cookie: a=b                                  -> Cookie: ***",
                "sent Bearer abc-def_123~next                 -> sent Bearer *** next",
                "sent bearer abc, got 401                     -> sent bearer ***, got 401",
                "sent Basic dXNlcjpwYXNz                      -> sent Basic ***",
                "sent basic dXNlcjpw== twice                  -> sent basic *** twice",
                // Tokens with a known beginning.
                "key whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw   -> key ***",
                "key whsk_abc/def+ghi=                        -> key ***",
                "sk_live_abc123 refused                       -> *** refused",
                "ghp_abc123 refused                           -> *** refused",
                "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc -> jwt ***",
                "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= no match -> v1,*** no match",
                "https://s3/x?X-Amz-Signature=abc&X-Amz-Date=1 -> https://s3/x?X-Amz-Signature=***&X-Amz-Date=1",
                "-----BEGIN PRIVATE KEY-----~MII-x/+=~-----END PRIVATE KEY----- tail -> *** tail",
                "a -----BEGIN RSA PRIVATE KEY-----~DEK-Info: AES-128-CBC,1~~MII~-----END RSA PRIVATE KEY-----~b -> a *** b",
                "a -----BEGIN CERTIFICATE-----~MII            -> a ***",
                // URLs.
                "https://bob:hunter2@example.org/x            -> https://***@example.org/x",
                "https://token@example.org                    -> https://***@example.org",
                "jdbc:postgresql://bob:hunter2@db:5432/x      -> jdbc:postgresql://***@db:5432/x",
                "jdbc:postgresql://db/x?user=bob&password=hunter2&ssl=true"
                        + " -> jdbc:postgresql://db/x?user=bob&password=***&ssl=true",
                "jdbc:oracle:thin:scott/tiger@db:1521:x       -> jdbc:oracle:thin:***@db:1521:x",
                "amqp://u:p@ss@mq/v                           -> amqp://***@mq/v",
                "postgres://u:p/ss?w#d@db/x                   -> postgres://***@db/x",
                // What PostgreSQL quotes of a row.
                "Detail: Key (email)=(bob) already exists.    -> Detail: Key (email)=(***) already exists.",
                "Key (lower(name), id)=(a (b), 7) already exists. -> Key (lower(name), id)=(***) already exists.",
                "Failing row contains (1, bob, null).~Where: x -> Failing row contains (***). Where: x",
                "Batch entry 0 insert into a~values ('bob') was aborted: ERROR: b -> Batch entry 0 *** was aborted: ERROR: b",
                // People and cards.
                "no user bob.o'hara+x@mail.example.org here   -> no user *** here",
                "<bob@example.org>                            -> <***>",
                "jörg@müller.de                               -> ***",
                "card 4111111111111111 declined               -> card *** declined",
                "card 4111 1111 1111 1111 declined            -> card *** declined",
                "card 4111-1111-1111-1111, order 7            -> card ***, order 7",
                "PAN4111111111111111                          -> PAN***",
                "card 12 4111 1111 1111 1111 345              -> card 12 *** 345",
                "amex 3782 822463 10005                       -> amex ***",
                "old 4222222222222                            -> old ***",
                "long 6304000000000000000                     -> long ***",
            })
    void masks(String text, String expected) {
        assertThat(Redaction.redact(text.replace('~', '\n'))).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "password is wrong",
                "the password must have 12 characters",
                "password authentication failed for user \"bob\"",
                "token expired",
                "secret \"orders-tls\" not found",
                "tests: pass=5 fail=0",
                "Unexpected token: }",
                "Unexpected token '<' at 3",
                "max_tokens=4096",
                "tokenizer: whitespace",
                "secretary of state",
                "Authorization failed with 403",
                "Bearer token is missing",
                "WWW-Authenticate: Bearer realm=\"api\", error=\"invalid\"",
                "Basic authentication required",
                "Basic plan exceeded",
                "Basic HTTP is off",
                "the whsec_ prefix is missing",
                "com.example.Order@1a2b3c4d is not an order",
                "left-pad@1.3.0 not found",
                "no @Transactional here",
                "https://example.org/@bob/posts?at=1",
                "https://example.org:8443/a@b",
                "connect to db:5432 refused",
                "time 1695300000000 is past",
                "micros 1695300000000000 and nanos 1695300000000000000",
                "order 4111111111111112 not found",
                "digits 41111111111111111111111111",
                "ratio 0.4111111111111111",
                "id 018f3c1e-7b6a-7000-8000-446655440000 unknown",
                "id 12345678-1234-1234-1234-123456789012 unknown",
                "2026-09-21T10:15:30.123456Z is late",
                "position 9223372036854775807",
                "relation \"order\" does not exist",
                "duplicate key value violates unique constraint \"order_pkey\"",
                "key (primary) of map",
                "größer als 5 € – nein",
                "五百 🚀 rockets",
                "a <b> & 'c' \"d\" \\e",
                "",
            })
    void leavesAloneWhatIsNoSecret(String text) {
        assertThat(Redaction.redact(text)).isEqualTo(text);
    }

    static Stream<Arguments> characters() {
        return Stream.of(
                Arguments.of("a\r\nb\n\n\nc", "a b c"),
                Arguments.of("  a \t b  ", "a b"),
                Arguments.of("a\u0000b\u0007c\u007fd", "a b c d"),
                Arguments.of("\u001b[1;31mred\u001b[0m text", "red text"),
                Arguments.of("\u009b31mred", "red"),
                Arguments.of("\u001b]0;title\u0007text", "text"),
                Arguments.of("\u001b]0;title\u001b\\text", "text"),
                Arguments.of("\u001b]never closed", "]never closed"),
                Arguments.of("\u001b[31", "[31"),
                Arguments.of("end\u001b", "end"),
                Arguments.of("a\u2028b\u2029c\u0085d", "a b c d"),
                Arguments.of("a\u202eb\u200bc\ufeffd", "a b c d"),
                Arguments.of("a\u00a0b", "a b"),
                Arguments.of("a\ud800b\udc00c", "a\ufffdb\ufffdc"),
                Arguments.of("\ud83d\ude80", "\ud83d\ude80"),
                Arguments.of("password=\u001b[31mhunter2", "password= ***"),
                Arguments.of("pass\u0000word", "pass word"),
                Arguments.of("password=\u00a0hunter2 x", "password= *** x"));
    }

    @ParameterizedTest
    @MethodSource("characters")
    void makesOnePrintableLine(String text, String expected) {
        assertThat(Redaction.redact(text)).isEqualTo(expected);
    }

    private static final List<String> HOSTILE = List.of(
            "a",
            "1",
            " ",
            "\n",
            "-",
            "=",
            ":",
            "@",
            ".",
            "\"",
            "'",
            "\\",
            "(",
            "[",
            "\u001b",
            "\u001b[",
            "\u001b]",
            "://",
            "://a:b/",
            "http://a:b@",
            "a@",
            "a.",
            "a@b.",
            "@a",
            "password=",
            "password",
            "password=\"",
            "password=\\\"",
            "\"password\":\"",
            "token: ",
            "Bearer ",
            "Basic A1",
            "basic ",
            "authorization: ",
            "authorization=\"",
            "cookie=='",
            "-----BEGIN ",
            "-----BEGIN A-----\n",
            "eyJ",
            "eyJaaaaaaaa.",
            "eyJ-",
            "whsec_",
            "v1,",
            "4111 ",
            "4111-",
            "4111111111111111 ",
            "1234-1234-",
            "Key (a)=(",
            "Key (",
            "Failing row contains (",
            "jdbc:oracle:thin:",
            "%3A",
            "&sig=",
            "\ud800",
            "2026-01-01T00:00:00",
            "12:",
            "a:",
            "::",
            "0x",
            "@f",
            "deadbeef1",
            "1,",
            "1.",
            "'a' ",
            "“",
            "relation \"",
            "http 404 ",
            "Mon Jan 01 ");

    private static void reportHostileTexts() {
        int megabyte = 1_048_576;
        for (String part : HOSTILE) {
            for (String text : List.of(part, part + "x", "x" + part + "\n", " " + part)) {
                Fault fault = Fault.of("hostile", text.repeat(megabyte / text.length()));
                assertThat(fault.message()).hasSizeLessThanOrEqualTo(Fault.MESSAGE_LENGTH_MAX);
                assertThat(fault.fingerprint()).matches("[0-9a-f]{16}");
            }
        }
    }

    @Test
    void aMegabyteOfAnythingTakesNoTimeAndNoStack() throws InterruptedException {
        // Hundreds of megabytes: one that took more than linear time would take minutes alone.
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread small = new Thread(null, RedactionTest::reportHostileTexts, "small-stack", 256 * 1024);
        small.setDaemon(true);
        small.setUncaughtExceptionHandler((thread, e) -> failure.set(e));
        small.start();
        small.join(Duration.ofSeconds(30).toMillis());
        assertThat(small.isAlive()).isFalse();
        assertThat(failure.get()).isNull();
    }

    @Test
    void aSecretThatTheEndOfALongTextCutsInTwoIsNotShown() {
        for (String secret : List.of(
                "https://bob:hunter2@example.org",
                "bob.hunter2@example.org",
                "4111111111111111",
                "eyJhbGciOiJIUzI1NiJ9hunter2.eyJzdWIiOiIxIn0.abc")) {
            for (int shown = 1; shown < secret.length(); shown++) {
                String begin = "-----BEGIN X-----" + "x ".repeat(4_000) + "-----END X----- ";
                String filler = " ".repeat(Redaction.TEXT_LENGTH_MAX - begin.length() - shown);
                String text = begin + filler + secret + " tail";
                assertThat(Redaction.redact(text)).isEqualTo("*** …");
            }
        }
    }

    /** Whatever is mixed into a text, its secrets do not come out. */
    @Test
    void noMixtureBringsASecretToLight() {
        List<String> secrets = List.of(
                "password=hunter2",
                "\"secret\": \"hunter2\"",
                "token=hunter2",
                "Authorization: Bearer hunter2",
                "https://bob:hunter2@example.org/",
                "whsec_hunter2",
                "Bearer hunter2",
                "hunter2@example.org",
                "-----BEGIN KEY-----\nhunter2\n-----END KEY-----",
                "Key (a)=(hunter2) already exists",
                "Batch entry 1 insert (hunter2) was aborted");
        List<String> noise = List.of(
                " ",
                "\n",
                ", ",
                "; ",
                " (",
                ") ",
                " [",
                "] ",
                " {",
                "} ",
                " id 7 ",
                " at x.y.Z ",
                " \u001b[31m ",
                "\t",
                " 404 ",
                " https://a.b/c ",
                " = ",
                " : ");
        Random random = new Random(20260921);
        int mixtures = Boolean.getBoolean("postroom.long") ? 20_000 : 4_000;
        for (int i = 0; i < mixtures; i++) {
            StringBuilder text = new StringBuilder();
            for (int j = random.nextInt(6); j >= 0; j--) {
                text.append(secrets.get(random.nextInt(secrets.size())))
                        .append(noise.get(random.nextInt(noise.size())));
                text.append(noise.get(random.nextInt(noise.size())));
            }
            String redacted = Redaction.redact(text.toString());
            assertThat(redacted).as(text.toString()).doesNotContain("hunter2");
        }
    }
}
