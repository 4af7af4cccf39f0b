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
import java.util.Map;
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
                "relay: {lease: 99h}                               | lease is PT99H, the range is 100 ms to 1 h",
                "console: {adress: 1}                              | console.adress is not a setting; did you mean console.address?",
                "console: {address: 0.0.0.0:8642}                  | which others can reach, and there are neither console.users nor console.proxy",
                "console: {address: 'x:y'}                         | is not an address; write 8642",
                "console: {address: 70000}                         | is not an address",
                "console: {base-path: x}                           | is not a path; write /postroom",
                "console: {base-path: /ops}                        | console.base-path is for a proxy, through which others come",
                "console: {https: true}                            | console.https is for a proxy, through which others come",
                "console: {https: maybe}                           | is neither true nor false",
                "console: {users: {a: {role: viewr, token-sha256: x}}} | console.users.a.role is 'viewr', none of viewer, operator, admin; did you mean viewer?",
                "console: {users: {a: {token-sha256: x}}} | console.users.a.role is missing; one of viewer, operator, admin",
                "console: {payloads: maskd}           | console.payloads: 'maskd' is none of shown, masked, hidden; did you mean masked?",
                "console: {payloads: \"\\e[31m\"}      | console.payloads: '\\u001b[31m' is none of shown",
                "console: {users: {a: {role: boss, token-sha256: x}}} | console.users.a.role is 'boss', none of viewer, operator, admin",
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
                "console: {users: {a: {role: support, token-sha256: x}}, roles: {helpdesk: [pause]}} | console.users.a.role is 'support', none of viewer, operator, admin, helpdesk",
                "relay: {batch-sise: 1}                            | did you mean relay.batch-size?"
            })
    void refusesSettingsThatItCannotUse(String text, String sentence) throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), text + "\n");
        CommandRun run = CommandRun.of("serve", "--config", file.toString(), "--check");
        assertThat(run.err()).contains(sentence).doesNotContain("hunter2").doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    private static final String PUBLISH = "publish: {aggregate-type: a, aggregate-id: x, event-type: E}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "workers: {quees: {a: 1}}                          | workers.quees is not a setting; did you mean workers.queues?",
                "workers: {name: \"a\\nb\"}                         | workers.name: name has a control character, such as a line break",
                "workers: {queues: {Hooks: 1}}                     | workers.queues.Hooks: queue is 'Hooks', it must be a lower-case letter",
                "workers: {queues: {a: 0}}                         | workers.queues.a: queue 'a' has 0 threads, the range is 1 to 1000",
                "workers: {queues: {a: many}}                      | workers.queues.a: 'many' is not a number of threads",
                "workers: {queues: [a]}                            | workers.queues is a list, not names and values",
                "workers: {lease: 1ms}                             | workers.lease: lease is PT0.001S, the range is PT0.1S to PT1H",
                "workers: {poll-min: 5s}                           | workers: poll min is PT5S",
                "workers: {connections: 5}                         | workers.connections: is 5, the range is 6 to 200",
                "workers: {queues: {a: 1}}                         | jobs has none; workers.queues needs kinds of jobs to do",
                "jobs: {a: {PUBLISH}}                              | workers.queues has none; name queues for these jobs alone",
                "jobs: {a: {}}                                     | jobs.a has no target; give one of webhook and publish",
                "jobs: {a: {PUBLISH, webhook: {}}}                 | jobs.a has several targets; give one of webhook and publish",
                "jobs: {a b: {PUBLISH}}                            | jobs.a b: kind is 'a b', it must be 1 to 200 letters",
                "jobs: {a: {PUBLISH, retry: quik}}                 | there is none named 'quik'; the names are quick, linear, quadratic, exponential; did you mean quick?",
                "jobs: {a: {PUBLISH, on-error: {http.404: rejct}}} | jobs.a.on-error.http.404: 'rejct' is none of reject",
                "jobs: {a: {PUBLISH, deadline: 8d}}                | jobs.a.deadline: the deadline of kind 'kind' is PT192H, the range is 1 ms to 7 days",
                "jobs: {a: {PUBLISH, dedline: 1s}}                 | did you mean jobs.a.deadline?",
                "jobs: {a: {publish: {aggregate-type: a, event-type: E}}} | jobs.a.publish: give either aggregate-id or aggregate-id-field",
                "jobs: {a: {publish: {aggregate-type: a b, aggregate-id: x, event-type: E}}} | jobs.a.publish: aggregate type is 'a b'",
                "jobs: {a: {publish: {aggregate-type: a, aggregate-id: x}}} | jobs.a.publish: event type is ''",
                "jobs: {a: {publish: {aggregate-type: a, aggregate-id: x, event-type: E, event-version: 0}}} | event version is 0, the least is 1",
                "jobs: {a: {publish: {aggregate-type: a, aggregate-id-field: a..b, event-type: E}}} | aggregate-id-field is 'a..b', it must be a name in the payload",
                "jobs: {a: {publish: {agregate-type: a}}}          | did you mean jobs.a.publish.aggregate-type?",
                "jobs: {a: {webhook: {url: 'https://h.example/'}}} | jobs.a.webhook: secret is missing",
                "jobs: {a: {webhook: {url: 'https://169.254.169.254/', secrets: ['${S}']}}} | 169.254.169.254 serves cloud credentials; it cannot be allowed",
                "jobs: {a: {webhook: {url: 'https://10.0.0.1/', secrets: ['${S}']}}} | 10.0.0.1 is not a public address",
                "schedules: {a: {every: 1h}}                       | schedules.a has no job; say which kind, in which queue",
                "schedules: {a: {job: {kind: a}}}                  | schedules.a has no time; give one of cron, every and delay",
                "schedules: {a: {every: 1h, delay: 1h, job: {kind: a}}} | schedules.a has several times",
                "schedules: {A: {every: 1h, job: {kind: a}}}       | could not use schedule 'A': its name must be a lower-case letter",
                "schedules: {a: {every: 1ms, job: {kind: a}}}      | schedules.a.every: could not use a period of PT0.001S",
                "schedules: {a: {cron: 61 * * * *, job: {kind: a}}} | schedules.a.cron: could not read schedule '61 * * * *': minute is 61",
                "schedules: {a: {cron: 0 0 * * *, zone: Mars, job: {kind: a}}} | there is no time zone 'Mars'",
                "schedules: {a: {every: 1h, zone: UTC, job: {kind: a}}} | schedules.a.zone is for cron alone",
                "schedules: {a: {every: 1h, missed: never, job: {kind: a}}} | schedules.a.missed: 'never' is none of skip, once, all",
                "schedules: {a: {every: 1h, overlap: no, job: {kind: a}}} | schedules.a.overlap: 'no' is neither true nor false",
                "schedules: {a: {every: 1h, job: {}}}              | schedules.a.job: could not enqueue job of kind ''",
                "schedules: {a: {every: 1h, job: {kind: a, queu: b}}} | did you mean schedules.a.job.queue?",
                "schedules: {a: {every: 1h, job: {kind: a, payload: '{'}}} | schedules.a.job: could not enqueue job of kind a: payload is not JSON",
                "schedules: {a: {every: 1h, job: {kind: a, priority: 1000}}} | priority is 1000, the range is 0 to 999",
            })
    void refusesWorkersThatItCannotUse(String text, String sentence) throws Exception {
        Path file = Files.writeString(
                folder.resolve("postroom.yaml"), "# comment\n" + text.replace("PUBLISH", PUBLISH) + "\n");
        CommandRun run = CommandRun.of(
                Map.of("S", "whsec_" + "QUJD".repeat(10)), "serve", "--config", file.toString(), "--check");
        assertThat(run.err()).contains("line 2: ").contains(sentence).doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void readsTheWorkersOfTheDocumentation() throws Exception {
        String page = Files.readString(Path.of("..", "docs", "serve.md"));
        int begin = page.indexOf("```yaml\n", page.indexOf("## Workers")) + "```yaml\n".length();
        Path file =
                Files.writeString(folder.resolve("postroom.yaml"), page.substring(begin, page.indexOf("```", begin)));
        CommandRun run = CommandRun.of(
                Map.of("WEBHOOK_SECRET", "whsec_" + "QUJD".repeat(10)),
                "serve",
                "--config",
                file.toString(),
                "--only",
                "workers",
                "--check");
        assertThat(run.err()).contains("can be used").hasLineCount(1);
    }

    @Test
    void refusesAScheduleForAQueueOfItsOwnWhoseKindItDoesNotKnow() throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                workers: {queues: {events: 1}}
                jobs: {tick: {%s}}
                schedules:
                  good: {every: 1h, job: {kind: report, queue: reports}}
                  bad: {every: 1h, job: {kind: tik, queue: events}}
                """.formatted(PUBLISH));
        assertThat(CommandRun.of("serve", "--config", file.toString(), "--check")
                        .err())
                .contains(
                        "line 5: schedules.bad.job: kind tik is none of jobs, and queue events is for those; did you mean tick?")
                .doesNotContain("good");
    }

    @Test
    void needsSomethingToDoIfOnlyWorkersAreAskedFor() throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), "console: {address: 0}\n");
        CommandRun run = CommandRun.of("serve", "--config", file.toString(), "--only", "workers", "--check");
        assertThat(run.err()).contains("jobs has none; workers need a kind of job to do, or a schedule to fire");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(CommandRun.of("serve", "--only", "worker").err())
                .contains("the parts are relay, workers, maintenance, console, metrics")
                .contains("did you mean workers?");
    }

    @Test
    void tellsOfAllProblemsAtOnce() throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                        console: {adress: 1, https: maybe}
                        relay: {batch-sise: 1}
                        workers: {leas: 1s}
                        jobs: {a: {}}
                        schedules: {b: {}}
                        """);
        assertThat(CommandRun.of("serve", "--config", file.toString(), "--check")
                        .err())
                .contains("adress")
                .contains("https")
                .contains("batch-sise")
                .contains("line 3: workers.leas")
                .contains("line 4: jobs.a")
                .contains("line 5: schedules.b");
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
    void thePageOfSettingsHasEverySettingOfTheProcessWithItsOriginAndNoSecret() throws Exception {
        Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                url: ${BASE}
                console: {address: 0, environment: staging}
                relay: {lease: 20s}
                tracing: {endpoint: 'http://localhost:9/', headers: {authorization: hunter2}}
                workers: {queues: {events: 2}}
                jobs: {day.close: {publish: {aggregate-type: calendar, aggregate-id: days, event-type: DayClosed}}}
                subscriptions:
                  partner:
                    webhook: {url: 'https://partner.example/?key=hunter2', secrets: ['${SIGN}'], headers: {x: hunter2}}
                """);
        try (TestDatabase database = TestDatabase.create();
                Program serve = Program.start(
                        Map.of("BASE", database.url(), "SIGN", "whsec_" + "QUJD".repeat(10)),
                        "serve",
                        "--config",
                        file.toString(),
                        "--only",
                        "console,metrics")) {
            String said = serve.awaitTalk(line -> line.contains("console at "));
            String entry = said.substring(said.indexOf("http"));
            HttpClient browser = HttpClient.newBuilder()
                    .followRedirects(HttpClient.Redirect.NORMAL)
                    .cookieHandler(new CookieManager())
                    .build();
            browser.send(HttpRequest.newBuilder(URI.create(entry)).build(), HttpResponse.BodyHandlers.ofString());
            URI page = URI.create(entry).resolve("/settings");
            String body = browser.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
            assertThat(body.replaceAll("<[^>]+>", "|"))
                    .containsPattern("relay\\.lease\\|+20s\\|+15s\\|+line 3")
                    .containsPattern("relay\\.batch-size\\|+1000\\|+1000\\|+not given")
                    .containsPattern("console\\.environment\\|+[^|]+\\|+staging\\|+none\\|+line 2")
                    .containsPattern("tracing\\.headers\\.authorization\\|+••••••\\|+none\\|+line 4")
                    .containsPattern("tracing\\.sample\\|+1\\|+1\\|+not given")
                    .containsPattern("workers\\.queues\\.events\\|+2\\|+must be given\\|+line 5")
                    .containsPattern("jobs\\.day\\.close\\.publish\\.event-type\\|+DayClosed")
                    .containsPattern("retention\\|+nothing is archived or dropped")
                    .containsPattern("subscriptions\\.partner\\.lanes\\|+4\\|+4\\|+not given")
                    .containsPattern(
                            "subscriptions\\.partner\\.webhook\\.secrets\\|+••••••\\|+must be given\\|+line 9, variable SIGN")
                    .contains("partner.example")
                    .containsPattern(
                            "\\|url\\|+jdbc:postgresql://[^|]+\\?••••••\\|+from the environment\\|+line 1, variable BASE")
                    .doesNotContain("hunter2", "QUJD");
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
