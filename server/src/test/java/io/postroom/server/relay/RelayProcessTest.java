package io.postroom.server.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.postroom.server.Program;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

class RelayProcessTest {
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
    void deliversUntilItIsTerminatedAndTheNextOneGoesOn() throws Exception {
        Path file = file("""
                relay: {lease: 2s, settle-interval: 50ms}
                subscriptions:
                  screen: {lanes: 2, log: {}}
                """);
        publish(0, 100);
        try (Program relay = relay(file);
                BufferedReader lines = relay.lines()) {
            assertThat(ids(lines, 100)).hasSize(100);
            relay.terminate();
            assertThat(relay.awaitExit(Duration.ofSeconds(15))).isZero();
            assertThat(relay.said()).contains("stopped").contains("warning: fsync is off");
        }
        assertThat(database.queryLong("select count(*) from postroom.lane where owner is not null"))
                .isZero();
        assertThat(database.queryLong("select count(*) from postroom.relay")).isZero();
        publish(100, 20);
        try (Program relay = relay(file);
                BufferedReader lines = relay.lines()) {
            assertThat(ids(lines, 20)).allMatch(id -> Integer.parseInt(id.substring(2)) >= 100);
        }
    }

    @Test
    void sharesTheWorkAndTakesOverWhenOneIsKilled() throws Exception {
        Path file = file("""
                relay: {lease: 1s}
                subscriptions:
                  screen: {lanes: 4, log: {}}
                """);
        try (Program first = relay(file);
                Program second = relay(file)) {
            first.awaitTalk(line -> line.contains("has lane"));
            second.awaitTalk(line -> line.contains("has lane"));
            first.kill();
            publish(0, 200);
            assertThat(ids(second.lines(), 200)).hasSize(200);
        }
    }

    @Test
    void sendsSignedWebhooks() throws Exception {
        BlockingQueue<Map<String, String>> received = new LinkedBlockingQueue<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        server.createContext("/hook", exchange -> {
            received.add(Map.of(
                    "id", exchange.getRequestHeaders().getFirst("webhook-id"),
                    "signature", exchange.getRequestHeaders().getFirst("webhook-signature"),
                    "body",
                            new String(
                                    exchange.getRequestBody().readAllBytes(),
                                    java.nio.charset.StandardCharsets.UTF_8)));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        Path file = file("""
                subscriptions:
                  partner:
                    filter: {aggregate-types: [order]}
                    webhook:
                      url: http://127.0.0.1:%d/hook
                      secrets: ["${HOOK_SECRET}"]
                      allow-private: [127.0.0.0/8]
                      allow-http: true
                """.formatted(server.getAddress().getPort()));
        publish(0, 5);
        Map<String, String> environment =
                Map.of("POSTROOM_URL", database.url(), "HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        try (Program relay = Program.start(environment, "relay", "--config", file.toString())) {
            Set<String> ids = new HashSet<>();
            while (ids.size() < 5) {
                Map<String, String> request = received.poll(60, TimeUnit.SECONDS);
                assertThat(request).as(relay.said()).isNotNull();
                assertThat(request.get("signature")).startsWith("v1,");
                ids.add(request.get("id"));
            }
            relay.terminate();
            assertThat(relay.awaitExit()).isZero();
            assertThat(relay.said()).doesNotContain("whsec_");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void endsBeforeAnythingStartsIfTheFileIsWrong() throws Exception {
        try (Program relay = relay(file("relay: {batch-sise: 1}\nsubscriptions: {a: {log: {}}}\n"))) {
            assertThat(relay.awaitExit()).isEqualTo(2);
            assertThat(relay.said()).contains("did you mean relay.batch-size?").doesNotContain("started");
        }
        assertThat(database.queryLong("select count(*) from postroom.subscription"))
                .isZero();
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("relay.yaml"), text);
    }

    private Program relay(Path file) {
        return Program.start("relay", "--config", file.toString(), "--url", database.url());
    }

    private void publish(int from, int count) throws SQLException {
        try (Connection tx = database.begin()) {
            for (int i = from; i < from + count; i++) {
                database.postroom().outbox().publish(tx, Messages.order("o-" + i));
            }
            tx.commit();
        }
    }

    private static Set<String> ids(BufferedReader lines, int count) throws IOException {
        Set<String> ids = new HashSet<>();
        while (ids.size() < count) {
            ids.add(JsonMapper.shared()
                    .readTree(lines.readLine())
                    .get("aggregateId")
                    .asString());
        }
        return ids;
    }
}
