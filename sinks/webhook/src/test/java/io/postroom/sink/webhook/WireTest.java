package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Outcome;
import io.postroom.testkit.Messages;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** HTTP as peers really speak it, and as they should not. */
@Timeout(60)
class WireTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    static Stream<Arguments> keptConnections() {
        return Stream.of(
                Arguments.of("no body", "HTTP/1.1 204 No Content\r\n\r\n"),
                Arguments.of("a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                Arguments.of("no reason phrase", "HTTP/1.1 200\r\ncontent-length:0\r\n\r\n"),
                Arguments.of("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
                Arguments.of("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
                Arguments.of(
                        "chunks with extension and trailer",
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1;a=b\r\no\r\nA\r\n0123456789\r\n0\r\nX: 1\r\n\r\n"),
                Arguments.of(
                        "100 Continue first",
                        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of(
                        "a kilobyte",
                        "HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + "x".repeat(ResponseBody.BYTES_MAX)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("keptConnections")
    void keepsTheConnectionWhenTheAnswerHasAnEnd(String name, String response) throws Exception {
        try (ScriptedServer server = ScriptedServer.answering(response);
                WebhookSink sink = Sending.local(server.url()).build()) {
            for (int n = 0; n < 3; n++) {
                assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            }
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    static Stream<Arguments> spoiltConnections() {
        return Stream.of(
                Arguments.of(
                        "the endpoint closes", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
                Arguments.of(
                        "more than a kilobyte", "HTTP/1.1 200 OK\r\nContent-Length: 1025\r\n\r\n" + "x".repeat(1_025)),
                Arguments.of(
                        "a huge length", "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n" + "x".repeat(4_000)),
                Arguments.of(
                        "length and chunks",
                        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
                Arguments.of("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"),
                Arguments.of("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"),
                Arguments.of("wrong chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n"),
                Arguments.of("gzip", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"),
                Arguments.of("a second answer nobody asked for", "HTTP/1.1 204 x\r\n\r\nHTTP/1.1 204 x\r\n\r\n"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("spoiltConnections")
    void acceptsByTheStatusButKeepsNoConnectionInDoubt(String name, String response) throws Exception {
        try (ScriptedServer server = ScriptedServer.answering(response);
                WebhookSink sink = Sending.local(server.url()).build()) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            assertThat(server.connections()).isEqualTo(2);
        }
    }

    static Stream<Arguments> noAnswers() {
        return Stream.of(
                Arguments.of("another protocol", "SSH-2.0-OpenSSH_9.9\r\n", "the answer is not HTTP/1.1"),
                Arguments.of("HTTP/2", "HTTP/2 200 OK\r\n\r\n", "the answer is not HTTP/1.1"),
                Arguments.of("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "the answer is not HTTP/1.1"),
                Arguments.of("a header without name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "header without a name"),
                Arguments.of("switched protocols", "HTTP/1.1 101 x\r\n\r\n", "switched protocols"),
                Arguments.of("interim answers only", "HTTP/1.1 100 x\r\n\r\n".repeat(20), "interim answers"),
                Arguments.of("a long status line", "HTTP/1.1 200 " + "x".repeat(40_000), "longer than 16384 bytes"),
                Arguments.of(
                        "a long head", "HTTP/1.1 200 OK\r\n" + "X: y\r\n".repeat(10_000), "longer than 16384 bytes"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("noAnswers")
    void triesAgainWhenTheAnswerIsNone(String name, String response, String fact) throws Exception {
        try (ScriptedServer server = ScriptedServer.answering(response);
                WebhookSink sink = Sending.local(server.url()).build()) {
            Outcome outcome = Sending.send(sink);
            assertThat(outcome).isInstanceOf(Outcome.Retry.class);
            assertThat(Sending.reason(outcome)).contains(fact);
        }
    }

    @Test
    void triesAgainWhenTheConnectionBreaksBeforeTheAnswer() throws Exception {
        for (String beginning : new String[] {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nX: 1\r\n"}) {
            try (ScriptedServer server = new ScriptedServer(connection -> {
                        connection.readRequest();
                        connection.write(beginning);
                    });
                    WebhookSink sink = Sending.local(server.url()).build()) {
                Outcome outcome = Sending.send(sink);
                assertThat(outcome).isInstanceOf(Outcome.Retry.class);
                assertThat(Sending.reason(outcome)).contains("the connection broke before the answer");
            }
        }
    }

    @Test
    void acceptsWhenTheConnectionBreaksWithinTheBody() throws Exception {
        try (ScriptedServer server = new ScriptedServer(connection -> {
                    connection.readRequest();
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
                });
                WebhookSink sink = Sending.local(server.url()).build()) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void sendsOverANewConnectionWhenTheEndpointClosedTheOldOne() throws Exception {
        try (ScriptedServer server = new ScriptedServer(connection -> {
                    connection.readRequest();
                    connection.write("HTTP/1.1 204 x\r\n\r\n");
                });
                WebhookSink sink = Sending.local(server.url()).build()) {
            for (int n = 1; n <= 5; n++) {
                assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
                assertThat(server.connections()).isEqualTo(n);
            }
        }
    }

    @Test
    void readsAnAnswerThatCameBeforeTheBodyWasTaken() throws Exception {
        String large = "\"" + "x".repeat(4_000_000) + "\"";
        try (ScriptedServer server = new ScriptedServer(connection -> {
                    connection.readSome(1_000);
                    connection.write("HTTP/1.1 413 x\r\nContent-Length: 0\r\n\r\n");
                    connection.readSome(4_000_000);
                });
                WebhookSink sink = Sending.local(server.url()).build()) {
            Outcome outcome = Sending.send(sink, Messages.order("order-1", large));
            assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
            assertThat(Sending.reason(outcome)).contains("the endpoint answered 413; trying it again cannot help");
        }
    }

    static Stream<Arguments> hangs() {
        ScriptedServer.Script silent = ScriptedServer.Connection::hang;
        ScriptedServer.Script deaf = connection -> {
            connection.readRequest();
            connection.hang();
        };
        ScriptedServer.Script dripping = connection -> {
            connection.readRequest();
            connection.write("HTTP/1.1 200 OK\r\n");
            for (int n = 0; n < 1_000; n++) {
                connection.write("x");
                connection.pause(20);
            }
        };
        ScriptedServer.Script forever = connection -> {
            connection.readRequest();
            for (int n = 0; n < 1_000; n++) {
                connection.write("HTTP/1.1 1");
                connection.pause(100_000);
            }
        };
        return Stream.of(
                Arguments.of("reads nothing", silent),
                Arguments.of("answers nothing", deaf),
                Arguments.of("drips a header", dripping),
                Arguments.of("stops in the status line", forever));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hangs")
    void givesUpAtTheDeadline(String name, ScriptedServer.Script script) throws Exception {
        // More than the buffers between two sockets hold, so that writing blocks as well.
        String large = "\"" + "x".repeat(16_000_000) + "\"";
        try (ScriptedServer server = new ScriptedServer(script);
                WebhookSink sink =
                        Sending.local(server.url()).attemptTimeout(SHORT).build()) {
            long start = System.nanoTime();
            Outcome outcome =
                    Sending.send(sink, name.equals("reads nothing") ? Messages.order("o", large) : Messages.sample());
            assertThat(outcome).isInstanceOf(Outcome.Retry.class);
            assertThat(Sending.reason(outcome)).contains("no answer before the deadline of the attempt");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
        }
    }

    @Test
    void waitsOnlyBrieflyForTheBodyOfAnAnswer() throws Exception {
        try (ScriptedServer server = new ScriptedServer(connection -> {
                    connection.readRequest();
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
                    connection.hang();
                });
                WebhookSink sink =
                        Sending.local(server.url()).attemptTimeout(SHORT).build()) {
            assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void givesUpATlsHandshakeThatGetsNoAnswer() throws Exception {
        try (ScriptedServer server = new ScriptedServer(ScriptedServer.Connection::hang);
                WebhookSink sink = Sending.local("https://127.0.0.1:" + server.port() + "/")
                        .attemptTimeout(SHORT)
                        .build()) {
            Outcome outcome = Sending.send(sink);
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            assertThat(Sending.reason(outcome)).contains("no connection before the deadline of the attempt");
        }
    }
}
