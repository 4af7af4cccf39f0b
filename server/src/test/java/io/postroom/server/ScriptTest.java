package io.postroom.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bin/postroom} in a checkout of its own, with a Maven that only notes that it was called. */
class ScriptTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path checkout;

    private Path home = Path.of(System.getProperty("java.home"));
    private Path script;
    private Path called;

    /** What a run printed, said and returned. */
    private record Run(int exitCode, String out, String err) {}

    @BeforeEach
    void prepare() throws Exception {
        Path real = Path.of("..", "bin", "postroom").toAbsolutePath().normalize();
        script = checkout.resolve("bin").resolve("postroom");
        Files.createDirectories(script.getParent());
        Files.copy(real, script, StandardCopyOption.COPY_ATTRIBUTES);
        for (String folder : List.of("core", "micrometer", "server", "sinks/kafka", "sources/kafka")) {
            Files.createDirectories(checkout.resolve(folder).resolve("src/main"));
        }
        Files.createDirectories(checkout.resolve("server/target"));
        called = checkout.resolve("called");
        maven("exit 0");
    }

    @Test
    void buildsOnceSaysSoAndThenRunsTheProgramAsItIs() throws Exception {
        maven("cp " + checkout.resolve("built.jar") + " " + jar());
        writeJar(checkout.resolve("built.jar"));
        Run first = run(script, "version");
        assertThat(first.err()).isEqualTo("postroom: building, once for these sources\n");
        assertThat(first.out()).startsWith("postroom ");
        assertThat(first.exitCode()).isZero();

        Path link = Files.createSymbolicLink(checkout.resolve("link"), script);
        Run second = run(link, "version");
        assertThat(second).isEqualTo(new Run(0, first.out(), ""));
        assertThat(Files.readAllLines(called)).singleElement().asString().contains("-pl server -am package");
    }

    @Test
    void theExitCodeIsTheProgramsOwn() throws Exception {
        builtBefore();
        Run wrong = run(script, "relpay");
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err()).contains("did you mean relay?");
        assertThat(wrong.out()).isEmpty();
        assertThat(called).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "pom.xml",
                "core/src/main/Core.java",
                "micrometer/src/main/Meters.java",
                "server/pom.xml",
                "sinks/kafka/src/main/Sink.java",
                "sources/kafka/pom.xml",
                "sources/kafka/src/main/Source.java"
            })
    void aSourceThatIsNewerIsBuiltFirst(String source) throws Exception {
        builtBefore();
        Files.writeString(checkout.resolve(source), "changed");
        assertThat(run(script, "version").err()).contains("building");
        assertThat(run(script, "version").err()).isEmpty();
        assertThat(Files.readAllLines(called)).hasSize(1);
    }

    @Test
    void aBuildThatFailsIsShownAndTriedAgain() throws Exception {
        maven("echo '[ERROR] no such symbol'; exit 1");
        for (int time = 1; time <= 2; time++) {
            Run failed = run(script, "version");
            assertThat(failed.exitCode()).isEqualTo(1);
            assertThat(failed.err()).contains("[ERROR] no such symbol", "could not build; all of Maven's output is in");
            assertThat(failed.out()).isEmpty();
            assertThat(Files.readAllLines(called)).hasSize(time);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"relay", "serve", "dev"})
    void aProcessThatStaysEndsWhenThereIsNoMemoryLeft(String command) throws Exception {
        builtBefore();
        Path java = checkout.resolve("jdk/bin/java");
        Files.createDirectories(java.getParent());
        Files.writeString(java, "#!/bin/sh\necho \"$@\"\n");
        assertThat(java.toFile().setExecutable(true)).isTrue();
        home = checkout.resolve("jdk");
        assertThat(run(script, command, "--verbose").out()).contains("-XX:+ExitOnOutOfMemoryError", command);
        assertThat(run(script, "version").out()).doesNotContain("ExitOnOutOfMemoryError");
    }

    private Path jar() {
        return checkout.resolve("server/target/postroom.jar");
    }

    /** As after a build some minutes ago. */
    private void builtBefore() throws IOException {
        writeJar(jar());
        Path mark = Files.createFile(checkout.resolve("server/target/.built"));
        FileTime earlier = FileTime.from(Instant.now().minusSeconds(300));
        Files.setLastModifiedTime(mark, earlier);
    }

    private void maven(String act) throws IOException {
        Path maven = checkout.resolve("tools").resolve("mvn");
        Files.createDirectories(maven.getParent());
        Files.writeString(maven, "#!/bin/sh\necho \"$@\" >> " + called + "\n" + act + "\n");
        assertThat(maven.toFile().setExecutable(true)).isTrue();
    }

    /** A jar that leads to what is tested. */
    private static void writeJar(Path jar) throws IOException {
        Path target = Path.of("target").toAbsolutePath();
        List<String> path =
                new ArrayList<>(List.of(target.resolve("classes").toUri().toString()));
        try (Stream<Path> libraries = Files.list(target.resolve("lib"))) {
            libraries.forEach(library -> path.add(library.toUri().toString()));
        }
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "io.postroom.server.Main");
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, String.join(" ", path));
        try (OutputStream file = Files.newOutputStream(jar);
                JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.finish();
        }
    }

    private Run run(Path program, String... arguments) throws Exception {
        Path out = checkout.resolve("out");
        Path err = checkout.resolve("err");
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().put("JAVA_HOME", home.toString());
        builder.environment().merge("PATH", "", (path, none) -> checkout.resolve("tools") + ":" + path);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Run(process.exitValue(), Files.readString(out, UTF_8), Files.readString(err, UTF_8));
    }
}
