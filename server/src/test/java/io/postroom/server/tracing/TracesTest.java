package io.postroom.server.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.postroom.job.Job;
import io.postroom.message.Message;
import io.postroom.server.CommandRun;
import io.postroom.server.Program;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Spans of a server in a JVM of its own, as a collector gets them. */
class TracesTest {
    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String SPAN = "00f067aa0ba902b7";

    @TempDir
    private Path folder;

    private record Posted(String path, String type, String token, String hex) {}

    @ParameterizedTest
    @ValueSource(strings = {"relay", "serve"})
    void aDeliveryHasASpanWithALinkToItsPublication(String command) throws Exception {
        BlockingQueue<Posted> posted = new LinkedBlockingQueue<>();
        HttpServer collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/", exchange -> {
            posted.add(new Posted(
                    exchange.getRequestURI().getPath(),
                    exchange.getRequestHeaders().getFirst("content-type"),
                    exchange.getRequestHeaders().getFirst("x-token"),
                    HexFormat.of().formatHex(exchange.getRequestBody().readAllBytes())));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        try (TestDatabase database = TestDatabase.create()) {
            Path file = file("""
                    console: {address: 0}
                    tracing:
                      endpoint: http://localhost:%d/
                      service-name: shop-relay
                      headers: {x-token: "${COLLECTOR_TOKEN}"}
                    subscriptions:
                      screen: {lanes: 1, log: {}}
                    """.formatted(collector.getAddress().getPort()));
            publish(database);
            try (Program program = Program.start(
                            Map.of("POSTROOM_URL", database.url(), "COLLECTOR_TOKEN", "t-7"),
                            command,
                            "--config",
                            file.toString());
                    BufferedReader lines = program.lines()) {
                assertThat(lines.readLine()).contains("o-1");
                Posted spans = posted.poll(60, TimeUnit.SECONDS);
                assertThat(spans).as(program.said()).isNotNull();
                assertThat(spans.path()).isEqualTo("/v1/traces");
                assertThat(spans.type()).isEqualTo("application/x-protobuf");
                assertThat(spans.token()).isEqualTo("t-7");
                assertThat(spans.hex())
                        .contains(TRACE)
                        .contains(SPAN)
                        .contains(hex("send screen"))
                        .contains(hex("shop-relay"))
                        .doesNotContain(hex("secret-value"));
                program.terminate();
                assertThat(program.awaitExit()).isZero();
                assertThat(program.said()).doesNotContain("t-7");
            }
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void anAttemptAtAJobHasASpanWithALinkToWhereItWasEnqueued() throws Exception {
        BlockingQueue<String> posted = new LinkedBlockingQueue<>();
        HttpServer collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/", exchange -> {
            posted.add(HexFormat.of().formatHex(exchange.getRequestBody().readAllBytes()));
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        collector.start();
        try (TestDatabase database = TestDatabase.create()) {
            Path file = file("""
                    tracing: {endpoint: 'http://localhost:%d/'}
                    workers: {queues: {events: 1}}
                    jobs: {day.close: {publish: {aggregate-type: calendar, aggregate-id: days, event-type: DayClosed}}}
                    """.formatted(collector.getAddress().getPort()));
            try (Connection tx = database.begin()) {
                database.postroom()
                        .jobs()
                        .enqueue(
                                tx,
                                Job.of("day.close", "{}")
                                        .queue("events")
                                        .header("traceparent", "00-" + TRACE + "-" + SPAN + "-01")
                                        .build());
                tx.commit();
            }
            try (Program program = Program.start(
                    Map.of("POSTROOM_URL", database.url()),
                    "serve",
                    "--config",
                    file.toString(),
                    "--only",
                    "workers")) {
                String spans = posted.poll(60, TimeUnit.SECONDS);
                assertThat(spans).as(program.said()).isNotNull();
                assertThat(spans)
                        .contains(TRACE)
                        .contains(SPAN)
                        .contains(hex("process events"))
                        .contains(hex("day.close"));
                program.terminate();
                assertThat(program.awaitExit()).isZero();
            }
        } finally {
            collector.stop(0);
        }
    }

    @Test
    void deliversAllTheSameIfNobodyTakesTheSpans() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            Path file =
                    file("tracing: {endpoint: 'http://localhost:1'}\nsubscriptions: {screen: {lanes: 1, log: {}}}\n");
            publish(database);
            try (Program program = Program.start("relay", "--config", file.toString(), "--url", database.url());
                    BufferedReader lines = program.lines()) {
                assertThat(lines.readLine()).contains("o-1");
                program.awaitTalk(line -> line.contains("could not send 1 spans to http://localhost:1"));
                program.terminate();
                assertThat(program.awaitExit()).isZero();
            }
        }
    }

    @Test
    void takesWhatIsLeftOutFromOpenTelemetrysOwnVariables() throws Exception {
        Path file = file("tracing: {}\nsubscriptions: {screen: {log: {}}}\n");
        assertThat(CommandRun.of(
                                Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"),
                                "relay",
                                "--config",
                                file.toString(),
                                "--check")
                        .err())
                .contains("can be used");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{}                                        | tracing.endpoint is missing, and OTEL_EXPORTER_OTLP_ENDPOINT is not set",
                "{endpoint: 'localhost:4317'}              | tracing.endpoint: it is not the address of a collector; write http://localhost:4318",
                "{endpoint: 'http://a:hunter2@h/'}         | tracing.endpoint: it is not the address of a collector",
                "{endpoint: 'http://h/', sample: 2}        | tracing.sample: it is not a share; write 0 to 1",
                "{endpoint: 'http://h/', sample: some}     | tracing.sample: it is not a share",
                "{endpoint: 'http://h/', service-name: ''} | tracing.service-name: it has 0 characters, the range is 1 to 200",
                "{endpoint: 'http://h/', headers: {a b: x}} | tracing.headers.a b: a header is a name and a line of ASCII",
                "{endpoint: 'http://h/', headers: [x]}     | tracing.headers is a list, not names and values",
                "{endpont: 'http://h/'}                    | tracing.endpont is not a setting; did you mean tracing.endpoint?",
                "http://h                                  | tracing is a single value, not a block of settings",
            })
    void refusesSettingsThatItCannotUse(String block, String sentence) throws Exception {
        Path file = file("subscriptions: {screen: {log: {}}}\ntracing: " + block + "\n");
        CommandRun run = CommandRun.of("relay", "--config", file.toString(), "--check");
        assertThat(run.err())
                .contains("line 2: ")
                .contains(sentence)
                .doesNotContain("hunter2")
                .doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    private static void publish(TestDatabase database) throws Exception {
        try (Connection tx = database.begin()) {
            database.postroom()
                    .outbox()
                    .publish(
                            tx,
                            Message.about("order", "o-1")
                                    .event("OrderPlaced")
                                    .header("traceparent", "00-" + TRACE + "-" + SPAN + "-01")
                                    .payload("{\"a\":\"secret-value\"}")
                                    .build());
            tx.commit();
        }
    }

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("postroom.yaml"), text);
    }
}
