package io.postroom;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Reads the sources and holds them to the rules that no compiler knows. */
class ProjectTest {
    /** From the ground up: a package of core uses only packages of lines above its own. */
    static final List<List<String>> LAYERS = List.of(
            List.of("message", "retry", "telemetry"),
            List.of("postgres"),
            List.of("tenant", "audit"),
            List.of("deadletter", "inbox", "idempotency", "externalcall", "outbox", "lock"),
            List.of("journal", "job"),
            List.of("delivery", "schedule"),
            List.of("subscription"),
            List.of("relay"),
            List.of("projection", "source", "archive"),
            List.of("maintenance", "diagnosis", "doctor", "advice"));

    static Path root;
    static List<Source> sources;

    /** A file of the project; {@code path} begins with its module. */
    record Source(String path, String text) {
        boolean isMain() {
            return path.contains("/src/main/");
        }

        boolean isTest() {
            return path.contains("/src/test/");
        }

        boolean isJava() {
            return path.endsWith(".java");
        }

        String name() {
            return path.substring(path.lastIndexOf('/') + 1);
        }

        String folder() {
            return path.substring(0, path.lastIndexOf('/'));
        }

        /** The text without comments, so that a link in documentation is no dependency. */
        String code() {
            return text.replaceAll("(?s)/\\*.*?\\*/", " ").replaceAll("(?m)//.*$", "");
        }
    }

    @BeforeAll
    static void read() throws IOException {
        root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        sources = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            files.filter(file -> file.toString().matches(".*/src/(main|test)/java/.*\\.(java|sql)"))
                    .sorted()
                    .forEach(file -> sources.add(
                            new Source(root.relativize(file).toString().replace('\\', '/'), text(file))));
        }
        assertThat(sources.stream().filter(Source::isJava)).hasSizeGreaterThan(60);
    }

    @Test
    void everyPackageOfCoreUsesOnlyWhatLiesBelowIt() {
        String folder = "core/src/main/java/io/postroom/";
        List<String> wrong = new ArrayList<>();
        for (Source source :
                java(each -> each.path().startsWith(folder) && each.folder().length() >= folder.length())) {
            String own = source.folder().substring(folder.length()).replaceFirst("/.*", "");
            for (String used : uses(source.code())) {
                if (!used.equals(own) && layer(used) >= layer(own)) {
                    wrong.add(source.path() + " uses " + used);
                }
            }
        }
        assertThat(wrong).as("arrows that point upwards or sideways").isEmpty();
    }

    @Test
    void nobodyInCoreOrASinkUsesTheEntryPoint() {
        assertThat(java(source -> source.isMain()
                        && (source.path().startsWith("core/") || source.path().startsWith("sinks/"))
                        && !source.path().endsWith("/io/postroom/Postroom.java")
                        && Pattern.compile("\\bio\\.postroom\\.Postroom\\b")
                                .matcher(source.code())
                                .find()))
                .extracting(Source::path)
                .isEmpty();
    }

    private static int layer(String name) {
        for (int i = 0; i < LAYERS.size(); i++) {
            if (LAYERS.get(i).contains(name)) {
                return i;
            }
        }
        throw new AssertionError(
                "package " + name + " has no layer; give it one in " + ProjectTest.class.getSimpleName());
    }

    private static TreeSet<String> uses(String code) {
        TreeSet<String> used = new TreeSet<>();
        Pattern.compile("\\bio\\.postroom\\.([a-z]+)\\.")
                .matcher(code.replaceFirst("(?m)^package .*$", ""))
                .results()
                .map(match -> match.group(1))
                .forEach(used::add);
        return used;
    }

    @Test
    void everySqlFileIsRunByOneClassBesideIt() {
        Map<String, List<String>> users = new HashMap<>();
        for (Source sql : sources) {
            if (sql.isMain() && !sql.isJava()) {
                users.put(
                        sql.path(),
                        java(source -> source.folder().equals(sql.folder())
                                        && source.code().contains('"' + sql.name() + '"'))
                                .stream()
                                .map(Source::name)
                                .toList());
            }
        }
        assertThat(users).hasSizeGreaterThan(15);
        users.forEach((file, classes) ->
                assertThat(classes).as("classes that run " + file).hasSize(1));
    }

    /** A statement that means other dead letters by a filter than the next one discards what nobody was shown. */
    @Test
    void theFilterOfDeadLettersStandsInOnePlace() {
        assertThat(sources.stream()
                        .filter(sql -> sql.isMain()
                                && !sql.isJava()
                                && sql.text().contains("dead_letter")
                                && sql.text().contains(":error_class::text is null"))
                        .map(Source::path))
                .isEmpty();
    }

    @Test
    void everySqlFileSaysWhatItDoesAndEveryParameterThatItTakes() {
        for (Source sql : sources) {
            if (sql.isMain() && !sql.isJava()) {
                assertThat(sql.text()).as(sql.path()).startsWith("-- ");
                String comment = String.join(
                        "\n",
                        sql.text().lines().filter(line -> line.startsWith("--")).toList());
                String statement = String.join(
                        "\n",
                        sql.text()
                                .lines()
                                .filter(line -> !line.startsWith("--"))
                                .toList());
                if (!comment.contains("one array for each column")) {
                    Pattern.compile("(?<!:):([a-z_]+)")
                            .matcher(statement)
                            .results()
                            .forEach(match -> assertThat(comment).as(sql.path()).contains(":" + match.group(1)));
                }
            }
        }
    }

    @Test
    void noTypeIsNamedAfterAJobTitle() {
        Pattern banned = Pattern.compile("(?m)^\\s*(?:[a-z-]+ )*(?:class|interface|record|enum) "
                + "(\\w*(?:Manager|Helper|Utils?|Impl|Service|Processor|Info|Data)|Default[A-Z]\\w*)\\b");
        List<String> wrong = new ArrayList<>();
        for (Source source : java(each -> !each.path().startsWith("spring-boot-starter/"))) {
            banned.matcher(source.code()).results().forEach(found -> wrong.add(source.path() + ": " + found.group(1)));
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void everyPackageTellsItsProtocolAndIsNullMarked() {
        TreeSet<String> folders = new TreeSet<>();
        java(Source::isMain).forEach(source -> folders.add(source.folder()));
        Map<String, String> told = new HashMap<>();
        java(source -> source.name().equals("package-info.java"))
                .forEach(source -> told.put(source.folder(), source.text()));
        for (String folder : folders) {
            assertThat(told.containsKey(folder))
                    .as("%s has a package-info", folder)
                    .isTrue();
            assertThat(told.get(folder)).as(folder).contains("@NullMarked").startsWith("/**");
        }
    }

    @Test
    void noTestSleeps() {
        String sleep = "Thread" + ".sleep";
        assertThat(java(source -> (source.isTest() || source.path().startsWith("testkit/"))
                        && (source.code().contains(sleep)
                                || source.code().contains("TimeUnit.SECONDS" + ".sleep")
                                || source.code().contains("TimeUnit.MILLISECONDS" + ".sleep"))))
                .extracting(Source::path)
                .isEmpty();
    }

    @Test
    void noTestIsSwitchedOff() {
        Pattern disabled = Pattern.compile("@(?:[\\w.]+\\.)?" + "Disabled\\b");
        assertThat(java(source ->
                        source.isTest() && disabled.matcher(source.code()).find()))
                .extracting(Source::path)
                .isEmpty();
    }

    /** A promise without a test is a hope. */
    @Test
    void everyGuaranteeNamesATestThatExists() {
        String guarantees = text(root.resolve("docs/guarantees.md"));
        List<String> promises = guarantees
                .lines()
                .filter(line -> line.startsWith("| ") && !line.startsWith("| promise "))
                .toList();
        assertThat(promises).hasSizeGreaterThan(10);
        for (String promise : promises) {
            List<MatchResult> named = Pattern.compile("`(\\w+)\\.(\\w+)`")
                    .matcher(promise)
                    .results()
                    .toList();
            assertThat(named).as(promise).isNotEmpty();
            for (MatchResult test : named) {
                assertThat(java(source -> source.name().equals(test.group(1) + ".java")
                                && Pattern.compile("\\bvoid " + test.group(2) + "\\(")
                                        .matcher(source.text())
                                        .find()))
                        .as("the test %s of: %s", test.group(), promise)
                        .hasSize(1);
            }
        }
    }

    @Test
    void versionsAppearOnlyInTheRootPom() throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            List<Path> poms = files.filter(
                            file -> file.endsWith("pom.xml") && !file.toString().contains("/target/"))
                    .filter(file -> !file.equals(root.resolve("pom.xml")) && !file.equals(root.resolve("bom/pom.xml")))
                    .toList();
            assertThat(poms).hasSizeGreaterThan(5);
            for (Path pom : poms) {
                String withoutParent = text(pom).replaceAll("(?s)<parent>.*?</parent>", "");
                assertThat(withoutParent.replace("<version>${project.version}</version>", ""))
                        .as(root.relativize(pom).toString())
                        .doesNotContain("<version>");
            }
        }
    }

    private static List<Source> java(Predicate<Source> which) {
        return sources.stream().filter(Source::isJava).filter(which).toList();
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
