package io.postroom.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Alerts, dashboard and page of metrics are about what a server really shows, and each alert has its page and its tests. */
class AlertsTest {
    private static final Path OPERATING =
            Path.of("..", "docs", "operating").toAbsolutePath().normalize();
    private static final String DOCS = "{{ $externalLabels.postroom_docs }}/";
    private static final Pattern METRIC = Pattern.compile("\\bpostroom_[a-z_]+");
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `(postroom_[a-z_]+)` \\| (\\w+) \\| ?([a-z_, ]*?) ?\\| .+ \\|$");

    private static String live;

    @BeforeAll
    static void scrape() throws Exception {
        live = LiveServer.scrape();
    }

    @Test
    void promtoolAcceptsTheRulesAndTheirTests() throws Exception {
        assumeTrue(
                new ProcessBuilder("sh", "-c", "command -v promtool").start().waitFor() == 0,
                "promtool is missing: apt-get install prometheus");
        run("promtool", "check", "rules", "alerts.yml");
        run("promtool", "test", "rules", "alerts_test.yml");
    }

    @Test
    void everyAlertHasItsPageItsConsoleLinkAndTestsThatItFiresAndThatItDoesNot() throws IOException {
        String tests = Files.readString(OPERATING.resolve("alerts_test.yml"));
        Set<Path> pages = new TreeSet<>();
        for (JsonNode alert : alerts()) {
            String name = alert.get("alert").asString();
            JsonNode annotations = alert.get("annotations");
            String runbook = annotations.get("runbook_url").asString();
            assertThat(runbook).startsWith(DOCS);
            Path page = Path.of("..").resolve(runbook.substring(DOCS.length()));
            assertThat(page).as(name).exists();
            assertThat(Files.readString(page))
                    .startsWith("# " + name + "\n")
                    .contains("## It means", "## Look", "\npostroom ", "In the console: ", "## Do");
            assertThat(pages.add(page)).as("a page for " + name + " alone").isTrue();
            assertThat(annotations.get("console").asString()).startsWith("{{ $externalLabels.postroom_console }}/");
            assertThat(annotations.get("summary").asString()).isNotBlank();
            assertThat(alert.get("labels").get("severity").asString()).isIn("critical", "warning");
            assertThat(tests).contains("- name: " + name + " fires\n", "- name: " + name + " stays quiet\n");
        }
        try (var files = Files.list(OPERATING.resolve("runbooks"))) {
            assertThat(files.map(Path::getFileName).map(Path::toString).sorted().toList())
                    .as("pages that an alert leads to")
                    .isEqualTo(pages.stream()
                            .map(Path::getFileName)
                            .map(Path::toString)
                            .sorted()
                            .toList());
        }
    }

    @Test
    void everyMetricOfTheAlertsIsThere() throws IOException {
        List<String> expressions =
                alerts().stream().map(alert -> alert.get("expr").asString()).toList();
        assertThat(expressions).hasSizeGreaterThan(20);
        assertThat(samples()).containsAll(metrics(expressions));
    }

    @Test
    void everyPanelOfTheDashboardHasAUnitAndShowsWhatIsThere() throws IOException {
        JsonNode dashboard = JsonMapper.shared()
                .readTree(OPERATING.resolve("grafana-dashboard.json").toFile());
        List<String> expressions = new ArrayList<>();
        Set<Integer> ids = new TreeSet<>();
        for (JsonNode panel : dashboard.get("panels")) {
            assertThat(ids.add(panel.get("id").asInt())).isTrue();
            if (!panel.get("type").asString().equals("row")) {
                assertThat(panel.get("fieldConfig").get("defaults").get("unit").asString())
                        .as(panel.get("title").asString())
                        .isNotBlank();
                panel.get("targets")
                        .forEach(target -> expressions.add(target.get("expr").asString()));
            }
        }
        assertThat(expressions).hasSizeGreaterThan(20);
        Set<String> shown = metrics(expressions);
        assertThat(samples()).containsAll(shown);
        assertThat(shown)
                .as("lag, throughput, failures, dead letters, commit to ack")
                .contains(
                        "postroom_outbox_oldest_age_seconds",
                        "postroom_relay_delivered_total",
                        "postroom_relay_failures_total",
                        "postroom_deadletter_count",
                        "postroom_relay_commit_to_ack_seconds_bucket");
    }

    @Test
    void thePageOfMetricsHasEveryOneWithItsTypeAndTagsAndNoOther() throws IOException {
        Set<String> written = ROW.matcher(Files.readString(OPERATING.resolve("metrics.md")))
                .results()
                .map(row -> row.group(1) + " " + row.group(2) + " "
                        + sorted(List.of(row.group(3).split(", ?"))))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> shown = Pattern.compile("(?m)^# TYPE (postroom_\\S+) (\\w+)$")
                .matcher(live)
                .results()
                // The longest of each timer.
                .filter(type ->
                        !type.group(1).endsWith("_seconds_max") || type.group(1).contains("_age_max"))
                .map(type -> type.group(1) + " " + type.group(2) + " " + tags(type.group(1)))
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(written).isEqualTo(shown);
    }

    @Test
    void everyMetricSaysOfWhichSchemaItIs() {
        assertThat(live.lines().filter(line -> line.startsWith("postroom_")))
                .isNotEmpty()
                .allMatch(line -> line.contains("schema=\"postroom\""));
    }

    private static String tags(String metric) {
        Set<String> tags = new TreeSet<>();
        Pattern.compile("(?m)^" + metric + "(?:_bucket|_count|_sum)?\\{(.*)} ")
                .matcher(live)
                .results()
                .flatMap(sample ->
                        Pattern.compile("([a-z_]+)=\"").matcher(sample.group(1)).results())
                .map(tag -> tag.group(1))
                .filter(tag -> !Set.of("le", "quantile", "schema").contains(tag))
                .forEach(tags::add);
        return sorted(tags);
    }

    private static String sorted(Iterable<String> tags) {
        return StreamSupport.stream(tags.spliterator(), false)
                .filter(tag -> !tag.isBlank())
                .sorted()
                .collect(Collectors.joining(","));
    }

    private static Set<String> samples() {
        return Pattern.compile("(?m)^(postroom_[a-z_]+)[{ ]")
                .matcher(live)
                .results()
                .map(sample -> sample.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> metrics(List<String> expressions) {
        return expressions.stream()
                .flatMap(expression -> METRIC.matcher(expression).results())
                .map(metric -> metric.group())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<JsonNode> alerts() throws IOException {
        JsonNode file =
                new YAMLMapper().readTree(OPERATING.resolve("alerts.yml").toFile());
        List<JsonNode> alerts = new ArrayList<>();
        file.get("groups").forEach(group -> group.get("rules").forEach(alerts::add));
        return alerts;
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(OPERATING.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
    }
}
