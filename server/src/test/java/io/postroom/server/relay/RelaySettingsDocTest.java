package io.postroom.server.relay;

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

/** The tables of settings in docs/relay.md: that they are complete, and that every range in them holds at both ends. */
class RelaySettingsDocTest {
    private static final Pattern HEAD = Pattern.compile("\\| `?([a-z ]+)`? \\| unless given \\| range \\|");
    private static final Pattern NAME = Pattern.compile("`([a-z-]+)`");
    private static final Pattern RANGE = Pattern.compile("(\\d+)([A-Za-z]*) to (\\d+)([A-Za-z]*)");

    /** A file with one setting of a block, by the block's name in the tables. */
    private static final Map<String, String> FILES = Map.of(
            "top level", "SETTING\nsubscriptions: {a: {log: {}}}\n",
            // A short lease needs a short interval, whatever else is tried.
            "relay", "relay: {settle-interval: 0ms, SETTING}\nsubscriptions: {a: {log: {}}}\n",
            "retention", "retention: {SETTING}\nsubscriptions: {a: {log: {}}}\n",
            "subscription", "subscriptions: {a: {log: {}, SETTING}}\n",
            "filter", "subscriptions: {a: {log: {}, filter: {SETTING}}}\n",
            "kafka", "subscriptions: {a: {kafka: {bootstrap-servers: 'h:1', topic: t, SETTING}}}\n",
            "webhook", "subscriptions: {a: {webhook: {url: 'https://h.example/', secrets: ['${S}'], SETTING}}}\n");

    @TempDir
    private Path folder;

    private record Row(String block, List<String> names, String range) {}

    private static String page() throws IOException {
        return Files.readString(Path.of("..", "docs", "relay.md"));
    }

    private static List<Row> rows() throws IOException {
        List<Row> rows = new ArrayList<>();
        String block = "";
        for (String line : page().lines().toList()) {
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
    void theCompleteFileHasEverySetting() throws IOException {
        String page = page();
        String file = page.substring(page.indexOf("```yaml"), page.indexOf("## When a message fails"));
        for (Row row : rows()) {
            assertThat(row.names).allMatch(name -> file.contains(name + ":"), "is in the file");
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
