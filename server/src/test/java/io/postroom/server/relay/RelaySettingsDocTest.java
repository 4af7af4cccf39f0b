package io.postroom.server.relay;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.postroom.server.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The tables of settings in docs/relay.md, docs/serve.md and docs/tracing.md: that they are complete, and that every range in them holds at both ends. */
class RelaySettingsDocTest {
    private static final Pattern HEAD = Pattern.compile("\\| `?([a-z ]+)`? \\| unless given \\| range \\|");
    private static final Pattern NAME = Pattern.compile("`([a-z-]+)`");
    private static final Pattern RANGE = Pattern.compile("(\\d+)([A-Za-z]*) to (\\d+)([A-Za-z]*)");

    /** A file with one setting of a block, by the block's name in the tables. */
    private static final Map<String, String> FILES = Map.ofEntries(
            entry("top level", "SETTING\nsubscriptions: {a: {log: {}}}\n"),
            // A short lease needs a short interval, whatever else is tried.
            entry("relay", "relay: {settle-interval: 0ms, SETTING}\nsubscriptions: {a: {log: {}}}\n"),
            entry("retention", "retention: {SETTING}\nsubscriptions: {a: {log: {}}}\n"),
            entry("subscription", "subscriptions: {a: {log: {}, SETTING}}\n"),
            entry("filter", "subscriptions: {a: {log: {}, filter: {SETTING}}}\n"),
            entry("kafka", "subscriptions: {a: {kafka: {bootstrap-servers: 'h:1', topic: t, SETTING}}}\n"),
            entry(
                    "webhook",
                    "subscriptions: {a: {webhook: {url: 'https://h.example/', secrets: ['${S}'], SETTING}}}\n"),
            entry("tracing", "subscriptions: {a: {log: {}}}\ntracing: {endpoint: 'http://h', SETTING}\n"),
            entry("workers", served("queues: {q: 1}, SETTING", "", "every: 1h", "")),
            entry("job", served("queues: {q: 1}", ", SETTING", "every: 1h", "")),
            entry(
                    "publish",
                    served("queues: {q: 1}", "", "every: 1h", "").replace("event-type: E", "event-type: E, SETTING")),
            entry("schedule", served("queues: {q: 1}", "", "every: 1h, SETTING", "")),
            entry("job of a schedule", served("queues: {q: 1}", "", "every: 1h", ", SETTING")));

    @TempDir
    private Path folder;

    private record Row(String block, List<String> names, String range) {}

    /** A file with workers, and a subscription because postroom relay wants one. */
    private static String served(String workers, String job, String schedule, String scheduled) {
        return """
                subscriptions: {a: {log: {}}}
                workers: {%s}
                jobs: {k: {publish: {aggregate-type: a, aggregate-id: b, event-type: E}%s}}
                schedules: {s: {%s, job: {kind: k%s}}}
                """.formatted(workers, job, schedule, scheduled);
    }

    private static String page(String name) throws IOException {
        return Files.readString(Path.of("..", "docs", name));
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>(rows("relay.md"));
        rows.addAll(rows("serve.md"));
        rows.addAll(rows("tracing.md"));
        return rows;
    }

    private static List<Row> rows(String page) throws IOException {
        List<Row> rows = new ArrayList<>();
        String block = "";
        for (String line : page(page).lines().toList()) {
            Matcher head = HEAD.matcher(line);
            if (head.matches()) {
                block = head.group(1);
            } else if (!line.startsWith("|")) {
                block = "";
            } else if (!block.isEmpty() && !line.startsWith("|--")) {
                String[] cells = line.split("\\s*\\|\\s*", -1);
                List<String> names = NAME.matcher(cells[1])
                        .results()
                        .map(name -> name.group(1))
                        .toList();
                rows.add(new Row(block, names, cells[3]));
            }
        }
        return rows;
    }

    static Stream<Arguments> ranges() throws IOException {
        return rows().stream()
                .filter(row -> RANGE.matcher(row.range).matches())
                .flatMap(row -> row.names.stream().map(name -> arguments(row.block, name, row.range)));
    }

    @Test
    void theTablesHaveEverySettingAndNoOther() throws IOException {
        Map<String, Set<String>> written = new LinkedHashMap<>();
        for (Row row : rows()) {
            written.computeIfAbsent(row.block, block -> new TreeSet<>()).addAll(row.names);
        }
        assertThat(written.keySet()).containsExactlyInAnyOrderElementsOf(FILES.keySet());
        for (Map.Entry<String, Set<String>> block : written.entrySet()) {
            String err = check(block.getKey(), "zzzzzzzzzzzzzzzzzzzz: 1").err();
            assertThat(err).contains("those here are " + String.join(", ", block.getValue()));
        }
    }

    @Test
    void thePageOfSettingsHasTheDefaultsOfTheTables() throws IOException {
        Set<String> shown = new TreeSet<>();
        Path table = Path.of("src", "main", "resources", "io", "postroom", "server", "settings", "unless_given.tsv");
        Files.readAllLines(table)
                .forEach(line ->
                        shown.add(line.split("\t", -1)[0].replaceAll(".*\\.", "") + " | " + line.split("\t", -1)[1]));
        Set<String> written = new TreeSet<>();
        for (String page : List.of("relay.md", "serve.md", "tracing.md")) {
            boolean inside = false;
            for (String line : page(page).lines().toList()) {
                boolean isHead = line.matches("\\| `?[a-z ]+`? \\| unless given \\| (range|may be) \\|");
                inside = isHead || inside && line.startsWith("|");
                if (inside && !isHead && !line.startsWith("|--")) {
                    String[] cells = line.split("\\s*\\|\\s*", -1);
                    NAME.matcher(cells[1])
                            .results()
                            .forEach(name -> written.add(name.group(1) + " | " + cells[2].replace("`", "")));
                }
            }
        }
        assertThat(shown).isEqualTo(written);
    }

    @Test
    void theCompleteFilesHaveEverySetting() throws IOException {
        hasEverySetting("relay.md", "## A complete file", "## When a message fails");
        hasEverySetting("tracing.md", "## From the server", "| `tracing`");
        hasEverySetting("serve.md", "## Workers", "**webhook.**");
    }

    private static void hasEverySetting(String name, String begin, String end) throws IOException {
        String page = page(name);
        String file = page.substring(page.indexOf(begin), page.indexOf(end));
        for (Row row : rows(name)) {
            assertThat(row.names).allMatch(setting -> file.contains(setting + ":"), "is in the file");
        }
    }

    @ParameterizedTest
    @MethodSource("ranges")
    void everyRangeHoldsAtBothEnds(String block, String setting, String range) throws IOException {
        Matcher ends = RANGE.matcher(range);
        assertThat(ends.matches()).isTrue();
        String least = ends.group(1) + ends.group(2);
        String most = ends.group(3) + ends.group(4);
        for (String good : List.of(least, most)) {
            assertThat(check(block, setting + ": " + good).err()).contains("can be used");
        }
        String below = Long.parseLong(ends.group(1)) - 1 + ends.group(2);
        String above = Long.parseLong(ends.group(3)) + 1 + ends.group(4);
        for (String bad : List.of(below, above)) {
            CommandRun run = check(block, setting + ": " + bad);
            assertThat(run.exitCode()).as("%s: %s", setting, bad).isEqualTo(2);
            assertThat(run.err()).doesNotContain("Exception");
        }
    }

    private CommandRun check(String block, String setting) throws IOException {
        Path file =
                Files.writeString(folder.resolve("relay.yaml"), FILES.get(block).replace("SETTING", setting));
        return CommandRun.of(
                Map.of("S", "whsec_" + "QUJD".repeat(10)), "relay", "--config", file.toString(), "--check");
    }
}
