package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.server.Program;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServeCommandTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "console: {adress: 1}                              | console.adress is not a setting; did you mean console.address?",
                "console: {address: 0.0.0.0:8642}                  | which others can reach, and there are neither console.users nor console.proxy",
                "console: {address: 'x:y'}                         | is not an address; write 8642",
                "console: {address: 70000}                         | is not an address",
                "console: {base-path: x}                           | is not a path; write /postroom",
                "console: {base-path: /ops}                        | console.base-path is for a proxy, through which others come",
                "console: {https: true}                            | console.https is for a proxy, through which others come",
                "console: {https: maybe}                           | is neither true nor false",
                "console: {users: {a: {role: boss, token-sha256: x}}} | console.users.a.role is none of viewer, operator, admin",
                "console: {users: {a: {role: admin, token-sha256: hunter2}}} | is not 64 hexadecimal digits",
                "console: {proxy: {user-header: X-User, groups-header: X-Groups, roles: {ops: operator}}} | console.proxy.from is missing",
                "console: {proxy: {user-header: X-User, groups-header: X-Groups, roles: {ops: operator}, from: []}} | console.proxy.from is missing",
                "console: {proxy: {user-header: X-User, groups-header: X-Groups, roles: {ops: operator}, from: [everywhere]}} | 'everywhere' is no address of a proxy; write 10.0.0.7",
                "console: {proxy: {user-header: X-User, groups-header: X-Groups, roles: {ops: operator}, from: [0.0.0.0/0]}} | '0.0.0.0/0' is no address of a proxy",
                "console: {proxy: {user-header: X-User, groups-header: X-Groups, roles: {ops: operater}, from: [10.0.0.7]}} | 'operater' is no role; those are viewer, operator, admin; did you mean operator?",
                "console: {proxy: {user-hedder: X-User, groups-header: X-Groups, roles: {ops: viewer}, from: [10.0.0.7]}} | console.proxy.user-hedder is not a setting; did you mean console.proxy.user-header?",
                "console: {proxy: {user-header: 'X User', groups-header: X-Groups, roles: {ops: viewer}, from: [10.0.0.7]}} | console.proxy.user-header is not the name of a header",
                "console: {roles: {support: [redrive, pawse]}}     | console.roles.support: 'pawse' is no permission; those are pause, redrive, discard, run, reveal, other",
                "console: {roles: {viewer: [redrive]}}             | console.roles.viewer is there already; choose another name",
                "console: {users: {a: {role: support, token-sha256: x}}, roles: {helpdesk: [pause]}} | console.users.a.role is none of viewer, operator, admin, helpdesk",
                "relay: {batch-sise: 1}                            | did you mean relay.batch-size?"
            })
    void refusesSettingsThatItCannotUse(String text, String sentence) throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), text + "\n");
        CommandRun run = CommandRun.of("serve", "--config", file.toString(), "--check");
        assertThat(run.err()).contains(sentence).doesNotContain("hunter2").doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void tellsOfAllProblemsAtOnce() throws Exception {
        Path file = Files.writeString(
                folder.resolve("postroom.yaml"), "console: {adress: 1, https: maybe}\nrelay: {batch-sise: 1}\n");
        assertThat(CommandRun.of("serve", "--config", file.toString(), "--check")
                        .err())
                .contains("adress")
                .contains("https")
                .contains("batch-sise");
        assertThat(CommandRun.of("serve", "--only", "consol").err()).contains("did you mean console?");
    }

    @Test
    void deliversAndAnswersInOneProcessUntilItIsTerminated() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                    console: {address: 0}
                    relay: {lease: 2s, settle-interval: 50ms}
                    subscriptions:
                      screen: {lanes: 1, log: {}}
                    """);
            try (Program serve = Program.start("serve", "--config", file.toString(), "--url", database.url());
                    BufferedReader lines = serve.lines()) {
                String said = serve.awaitTalk(line -> line.contains("console at "));
                String entry = said.substring(said.indexOf("http"));
                String url = entry.substring(0, entry.indexOf("sign-in"));
                try (Connection tx = database.begin()) {
                    database.postroom().outbox().publish(tx, Messages.order("o-1"));
                    tx.commit();
                }
                assertThat(lines.readLine()).contains("\"aggregateId\":\"o-1\"");
                assertThat(get(url + "health").body()).contains("\"status\":\"up\"");
                assertThat(get(url).body()).doesNotContain("screen");
                assertThat(get(entry).body()).contains("screen");
                serve.terminate();
                assertThat(serve.awaitExit(Duration.ofSeconds(60))).isZero();
            }
            assertThat(database.queryLong("select count(*) from postroom.lane where owner is not null"))
                    .isZero();
        }
    }

    @Test
    void aRelayWithoutAConsoleShowsItsMetricsAndHealthAndNothingElse() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                    console: {address: 0}
                    relay: {lease: 2s, settle-interval: 50ms}
                    subscriptions:
                      screen: {lanes: 1, log: {}}
                    """);
            try (Program serve = Program.start(
                            "serve", "--config", file.toString(), "--only", "relay,metrics", "--url", database.url());
                    BufferedReader lines = serve.lines()) {
                String said = serve.awaitTalk(line -> line.contains("metrics at "));
                String url = said.substring(said.indexOf("http"));
                try (Connection tx = database.begin()) {
                    database.postroom().outbox().publish(tx, Messages.order("o-1"));
                    tx.commit();
                }
                assertThat(lines.readLine()).contains("o-1");
                String delivered = "postroom_relay_delivered_total{schema=\"postroom\",subscription=\"screen\"} 1.0";
                long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
                while (!get(url).body().contains(delivered) && System.nanoTime() < deadline) {
                    LockSupport.parkNanos(20_000_000);
                }
                assertThat(get(url).body()).contains(delivered);
                assertThat(get(url.replace("metrics", "health/live")).statusCode())
                        .isEqualTo(200);
                assertThat(get(url.replace("metrics", "api/v1/status")).statusCode())
                        .isEqualTo(401);
                serve.terminate();
                assertThat(serve.awaitExit(Duration.ofSeconds(60))).isZero();
            }
        }
    }

    @Test
    void endsIfItsAddressIsTaken() throws Exception {
        try (ConsoleUnderTest other = ConsoleUnderTest.start()) {
            String port = other.url().replaceAll(".*:", "");
            Path file = Files.writeString(folder.resolve("postroom.yaml"), "console: {address: " + port + "}\n");
            CommandRun run = CommandRun.of(
                    "serve",
                    "--config",
                    file.toString(),
                    "--only",
                    "console",
                    "--url",
                    other.database().url());
            assertThat(run.err()).contains("could not listen on 127.0.0.1:" + port + ": another program does");
            assertThat(run.exitCode()).isEqualTo(1);
        }
    }

    private static HttpResponse<String> get(String url) throws Exception {
        return HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .cookieHandler(new CookieManager())
                .build()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
