package io.postroom.server.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.postroom.message.Message;
import io.postroom.server.Program;
import io.postroom.server.message.PluginJar;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
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
                    "body", new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
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
    void buriesAMessageThatAnEndpointRejectsAndGoesOnWithItsKey() throws Exception {
        BlockingQueue<String> accepted = new LinkedBlockingQueue<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        server.createContext("/hook", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            boolean refused = body.contains("\"n\":1}");
            if (!refused) {
                accepted.add(body);
            }
            exchange.sendResponseHeaders(refused ? 422 : 204, -1);
            exchange.close();
        });
        server.start();
        Path file = file("""
                relay: {name: relay-7}
                subscriptions:
                  partner:
                    retry: linear
                    on-error: {http.404: reject}
                    deadline: 1m
                    webhook:
                      url: http://127.0.0.1:%d/hook
                      secrets: ["${HOOK_SECRET}"]
                      allow-private: [127.0.0.0/8]
                      allow-http: true
                """.formatted(server.getAddress().getPort()));
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.sequence("one", 4));
            tx.commit();
        }
        Map<String, String> environment =
                Map.of("POSTROOM_URL", database.url(), "HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        try (Program relay = Program.start(environment, "relay", "--config", file.toString())) {
            for (String next : List.of("\"n\":0}", "\"n\":2}", "\"n\":3}")) {
                assertThat(accepted.poll(60, TimeUnit.SECONDS)).as(relay.said()).contains(next);
            }
            relay.terminate();
            assertThat(relay.awaitExit()).isZero();
            assertThat(relay.said()).contains("attempt 1: http.422: ").contains("buried: the sink rejected it");
        } finally {
            server.stop(0);
        }
        assertThat(
                        database.queryLong(
                                "select count(*) from postroom.dead_letter where owner = 'partner' and cause ="
                                        + " 'rejected' and error_class = 'http.422' and buried_by = 'relay-7' and payload::text = '{\"n\":1}'"))
                .isEqualTo(1);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isEqualTo(1);
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isZero();
    }

    @Test
    void readsOldVersionsThroughTheUpcastersOfItsPlugins() throws Exception {
        Path jar = PluginJar.of(
                folder,
                "Shop",
                "upcasters.add(\"Greeted\", 1, Upcaster.json(greeting -> greeting.put(\"to\", \"all\")));");
        Path file = file("plugins: ['" + jar + "']\nsubscriptions: {screen: {lanes: 1, log: {}}}\n");
        try (Connection tx = database.begin()) {
            for (int version : new int[] {1, 2, 3}) {
                Message message = Message.about("greeting", "g-" + version)
                        .event("Greeted")
                        .eventVersion(version)
                        .payload("{\"v\":" + version + "}")
                        .build();
                database.postroom().outbox().publish(tx, message);
            }
            tx.commit();
        }
        try (Program relay = relay(file);
                BufferedReader lines = relay.lines()) {
            assertThat(lines.readLine())
                    .contains("\"eventVersion\":2")
                    .contains("\"payload\":{\"v\":1,\"to\":\"all\"}");
            assertThat(lines.readLine()).contains("\"eventVersion\":2").contains("\"payload\":{\"v\":2}");
            relay.awaitTalk(line -> line.contains("could not read message at position 3"));
            relay.terminate();
            assertThat(relay.awaitExit()).isZero();
        }
        assertThat(database.queryLong("select count(*) from postroom.delivery where state = 'unreadable'"))
                .isEqualTo(1);
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
