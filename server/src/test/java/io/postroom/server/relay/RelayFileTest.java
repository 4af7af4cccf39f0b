package io.postroom.server.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.server.message.PluginJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RelayFileTest {
    private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    @TempDir
    private Path folder;

    @Test
    void readsTheCompleteFileOfTheDocumentation() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "relay.md"));
        int begin = page.indexOf("```yaml\n") + "```yaml\n".length();
        CommandRun run = check(
                page.substring(begin, page.indexOf("```", begin)),
                Map.of(
                        "POSTROOM_URL", "postgres://localhost/shop",
                        "WEBHOOK_SECRET", SECRET,
                        "PARTNER_TOKEN", "token",
                        "KAFKA_JAAS",
                                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"a\" password=\"b\";"));
        assertThat(run.err()).contains("can be used").hasLineCount(1);
        assertThat(run.exitCode()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "relay: {batch-sise: 10}            | relay.batch-sise is not a setting; did you mean relay.batch-size?",
                "relay: {lease: 30}                 | relay.lease: '30' is not a duration; write a number and a unit",
                "relay: {lease: -5s}                | relay.lease: '-5s' is not a duration",
                "relay: {name: \"a\\nb\"}                | name has a control character, such as a line break",
                "relay: {lease: 99h}                | lease is PT99H, the range is 100 ms to 1 h",
                "relay: {retry-first: 1s}           | relay.retry-first is not a setting; did you mean relay.probe-first?",
                "relay: {retry-longest: 1s}         | relay.retry-longest is not a setting; did you mean relay.probe-longest?",
                "relay: {probe-longest: 2h}         | relay.probe-longest: is 2h 0m, the range is probe-first to 1h",
                "relay: {probe-first: 31s}          | first probe is after PT31S, the range is 1 ms to the longest",
                "plugins: [/no/such.jar]            | line 1: plugins: could not load plugins: /no/such.jar does not exist",
                "plugins: {a: b}                    | plugins has a block of settings where a value is expected",
                "relay: {batch-bytes: 1MB}          | relay.batch-bytes: '1MB' is not a size",
                "relay: {batch-size: 0}             | batch is 0 messages",
                "relay: {batch-size: ten}           | relay.batch-size: 'ten' is not a whole number",
                "relay: {batch-size: 99999999999}   | relay.batch-size: '99999999999' is not a whole number of 9 digits at most",
                "relay: {lease: 999999999d}         | relay.lease: '999999999d' is too long, the most is 36500d",
                "relay: {stop-grace: 36500d}        | grace is PT876000H, the range is",
                "relay: {batch-bytes: 999999999999GiB} | relay.batch-bytes: '999999999999GiB' is too large",
                "relay: {connections: 2}            | relay.connections: is 2, the range is 5 to 200",
                "relay: {maintenance: on}           | relay.maintenance: 'on' is neither true nor false",
                "relay: [1]                         | relay is a list, not a block of settings",
                "relay: {name: {a: 1}}              | relay.name is a block of settings, not a single value",
                "relay: {lease: 1s, lease: 2s}      | lease is there twice",
                "relay: {batchSize: 1, batch-size: 2} | relay.batch-size is there twice",
                "relay: {jobs-kept: 6d}             | relay.jobs-kept: is 6 days, the range is 7 to 36500 days; a job may be unique",
                "retention: {archive-after: 7}       | retention.archive-after: '7' is not a duration; write a number and a unit",
                "retention: {archive-after: 23h}     | retention: archive-after is PT23H, the range is 1 to 36500 days",
                "retention: {drop-after: 6d}         | retention: drop-after is 6 days and archive-after 7 days; only what is archived",
                "retention: {archive-after: 1h, drop-after: 1m} | retention: drop-after is PT1M and archive-after PT1H",
                "retention: {keep: 7d}               | retention.keep is not a setting; those here are archive-after, drop-after",
                "retention: {drop-aftr: 90d}         | retention.drop-aftr is not a setting; did you mean retention.drop-after?",
                "retention: 7d                       | retention is a single value, not a block of settings",
                "schema: mq;drop                    | does not begin with a digit or pg_; choose another",
                "subscriptons: {}                   | did you mean subscriptions?",
                "url: ${NOPE}                       | url: variable NOPE is not set",
                "a: &x [1]                          | anchors and aliases",
                "a: *x                              | anchors and aliases",
                "--- 1                            | the file is a single value"
            })
    void refusesASettingWithItsLine(String line, String sentence) throws IOException {
        CommandRun run = check(line + (line.startsWith("---") ? "" : "\nsubscriptions: {all: {log: {}}}\n"), Map.of());
        assertThat(run.err()).contains(sentence).doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "Orders: {log: {}}                               | name is 'Orders'",
                "a: {}                                           | subscriptions.a has no target; give one of kafka, webhook and log",
                "a: {log: {}, kafka: {}}                         | subscriptions.a has several targets",
                "a: {log: {}, lanes: 0}                          | lanes is 0, the range is 1 to 256",
                "a: {log: {}, order: keyy}                       | 'keyy' is neither key nor none",
                "a: {log: {}, retry: quik}                       | subscriptions.a.retry: could not read retry policy 'quik': there is none named 'quik'",
                "a: {log: {}, retry: linear first=1s}            | 'first' is not a setting of linear",
                "a: {log: {}, retry: quick attempts=0}           | attempts max is 0, the range is 1 to 1000",
                "a: {log: {}, retry: [quick]}                    | subscriptions.a.retry is a list, not a single value",
                "a: {log: {}, on-error: reject}                  | subscriptions.a.on-error is a single value, not names and values",
                "a: {log: {}, on-error: {http.404: rejct}}       | subscriptions.a.on-error.http.404: 'rejct' is none of reject, unavailable, retry"
                        + " and a policy such as linear; did you mean reject?",
                "a: {log: {}, on-error: {http.404: linear step=0s}} | subscriptions.a.on-error.http.404: could not read retry policy",
                "a: {log: {}, on-error: {http 404: reject}}      | subscriptions.a.on-error: could not read retry policy 'quick': error class is 'http 404'",
                "a: {log: {}, on-error: {http.404: {}}}          | subscriptions.a.on-error.http.404 is a block of settings, not a single value",
                "a: {log: {}, on-burial: stop}                   | subscriptions.a.on-burial: 'stop' is neither continue nor hold",
                "a: {log: {}, on-burial: hold, order: none}      | on burial is hold, which needs order key",
                "a: {log: {}, deadline: 30}                      | subscriptions.a.deadline: '30' is not a duration",
                "a: {log: {}, deadline: 2d}                      | deadline is PT48H, the range is 1 ms to 1 day",
                "a: {log: {}, outage-keys: 1}                    | outage keys is 1, the range is 2 to 10000, or 0 for never",
                "a: {log: {}, on-buriel: hold}                   | did you mean subscriptions.a.on-burial?",
                "a: {log: {}, start: yesterday-ish}              | is not a time; write",
                "a: {log: {colour: red}}                         | subscriptions.a.log.colour is not a setting; there is none here",
                "a: {log: {}, filter: {event-types: ['']}}       | subscriptions.a: could not make subscription a: filter has an empty type or tenant",
                "a: {log: {}, filter: {event-type: [A]}}         | did you mean subscriptions.a.filter.event-types?",
                "a: {log: {}, filter: {tenants: [\"a\\0\"]}}       | filter has an empty type or tenant or one with a NUL",
                "a: {kafka: {topic: t, bootstrap-servers: 'h:1,nohost'}} | bootstrapServers has 'nohost', which is not host:port",
                "a: {kafka: {topic: t, bootstrap-servers: 'h:99999'}} | bootstrapServers has 'h:99999', which is not host:port with a port of 1 to 65535",
                "a: {kafka: {topic: t}}                          | bootstrapServers is empty",
                "a: {kafka: {topic: '{nope}', bootstrapServers: 'h:1'}} | nope",
                "a: {kafka: {topic: t, bootstrapServers: 'h:1', properties: {acks: '1'}}} | property acks cannot be set",
                "a: {webhook: {url: 'http://10.0.0.1/'}}         | use https",
                "a: {webhook: {url: 'https://h.example/', secrets: [whsec_c2hvcnQ=]}} | it takes 24 to 64",
                "a: {webhook: {url: 'https://h.example/', secret-files: [/no/such]}}  | a.webhook.secret-files: could not read /no/such: there is no such file",
            })
    void refusesASubscription(String line, String sentence) throws IOException {
        CommandRun run = check("subscriptions:\n  " + line + "\n", Map.of());
        assertThat(run.err()).contains("line 2: ").contains(sentence).doesNotContain("c2hvcnQ");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mysql://app:secret@h/shop          | it is not a PostgreSQL URL",
                "postgres:/app:secret@h/shop        | two slashes must follow the first colon",
                "postgres://app:secret@h:port/shop  | port",
                "postgres://app:secret@h/shop/extra | there is more than one part after the host"
            })
    void refusesAUrlThatCannotBeUsedWithoutRepeatingItsPassword(String url, String sentence) throws IOException {
        CommandRun run = check("url: '" + url + "'\nsubscriptions: {all: {log: {}}}\n", Map.of());
        assertThat(run.err())
                .contains("could not read url in ")
                .contains(sentence)
                .doesNotContain("secret")
                .doesNotContain("can be used");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void showsAllProblemsAtOnceInTheOrderOfTheFile() throws IOException {
        CommandRun run = check("""
                relay:
                  lease: 30
                  poll-maxx: 1s
                subscriptions:
                  a:
                    lanes: many
                    log: {}
                """, Map.of());
        assertThat(run.err().lines())
                .hasSize(4)
                .satisfies(lines -> assertThat(lines.get(1)).contains("line 2: relay.lease"))
                .satisfies(lines -> assertThat(lines.get(2)).contains("line 3: relay.poll-maxx"))
                .satisfies(lines -> assertThat(lines.get(3)).contains("line 6: subscriptions.a.lanes"));
    }

    @Test
    void saysWhereTheTabIs() throws IOException {
        CommandRun run = check("relay:\n  name: x\n\tlease: 1s\n", Map.of());
        assertThat(run.err()).contains("line 3: this is not YAML").contains("indent with spaces");
    }

    @Test
    void saysWhereTheTextIsBroken() throws IOException {
        CommandRun run = check("relay:\n  name: [x\nschema: y\n", Map.of());
        assertThat(run.err()).contains("this is not YAML").containsPattern("line [234]: ");
    }

    @Test
    void neverLetsASmallFileGrow() throws IOException {
        StringBuilder bomb = new StringBuilder("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for (int i = 1; i < 12; i++) {
            bomb.append("a" + i + ": &a" + i + " [" + ("*a" + (i - 1) + ",").repeat(10) + "]\n");
        }
        CommandRun run = check(bomb.toString(), Map.of());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("anchors and aliases");
    }

    @Test
    void warnsOfASecretInPlainSightWithoutRepeatingIt() throws IOException {
        CommandRun run = check(
                "subscriptions: {a: {webhook: {url: 'https://h.example/', secrets: [" + SECRET + "]}}}", Map.of());
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).contains("line 1: ").contains("in plain sight").doesNotContain(SECRET);
    }

    @Test
    void readsSecretsFromFilesAndVariables() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), SECRET + "\n");
        CommandRun run = check(
                "subscriptions: {a: {webhook: {url: 'https://${HOST:-h.example}/', secrets: ['${S}'], secret-files: ['"
                        + secret + "']}}}",
                Map.of("S", "whsec_" + "QUJD".repeat(10)));
        assertThat(run.err()).contains("can be used").hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "retry: linear",
                "retry: exponential first=1s cap=5m attempts=8",
                "retry: ${POLICY:-quadratic}",
                "on-error: {http.404: reject, http.500: unavailable, connect: retry, timeout: linear step=10s}",
                "on-error: {}",
                "on-burial: hold",
                "deadline: 30s",
                "outage-keys: 0",
                "outage-keys: 50"
            })
    void readsWhatToDoAboutFailures(String setting) throws IOException {
        CommandRun run = check("subscriptions:\n  a:\n    log: {}\n    " + setting + "\n", Map.of());
        assertThat(run.err()).contains("can be used").hasLineCount(1);
    }

    @Test
    void loadsUpcastersAndShowsWhatIsWrongWithThem() throws IOException {
        Path good = PluginJar.of(folder, "Good", "upcasters.add(\"OrderPlaced\", 1, Upcaster.unchanged());");
        Path gap = PluginJar.of(
                folder, "Gap", "upcasters.newest(\"OrderPlaced\", 9);upcasters.add(\"Gap\", 1, Upcaster.unchanged());");
        assertThat(check("plugins: '" + good + "'\nsubscriptions: {a: {log: {}}}\n", Map.of())
                        .err())
                .contains("can be used");
        CommandRun run =
                check("plugins: ['" + good + "', '" + gap + "']\nsubscriptions: {a: {log: {}, lanes: 0}}\n", Map.of());
        assertThat(run.err())
                .contains("line 1: plugins: ")
                .contains("OrderPlaced")
                .contains("line 2: ");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    private CommandRun check(String text, Map<String, String> environment) throws IOException {
        Path file = Files.writeString(folder.resolve("relay.yaml"), text);
        return CommandRun.of(environment, "relay", "--config", file.toString(), "--check");
    }
}
