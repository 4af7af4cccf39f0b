package io.postroom.server.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.FreePort;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of docs/start.md, as a newcomer types them. */
class StartTest {
    private static final Pattern BLOCK = Pattern.compile("```bash\\n(.*?)```", Pattern.DOTALL);
    private static final long PATIENCE_SECONDS = 180;

    @TempDir
    private Path folder;

    @Test
    void theWalkEndsWithTheMessagesDelivered() throws Exception {
        List<String> blocks = blocks();
        assertThat(blocks).hasSizeGreaterThan(4);
        command();
        // Calmer than a newcomer's, which leaves more of the machine to the commands.
        long begun = System.nanoTime();
        Process dev = shell("exec " + blocks.get(0).strip() + " --rate 20", "dev.out");
        try {
            awaitLine(dev, folder.resolve("dev.out"), "published ");
            say("ready", begun);
            // What a newcomer does not have to do: they read what the page says and then go on.
            List<String> rest = new ArrayList<>(blocks.subList(1, blocks.size()));
            int broken = index(rest, "break poison");
            rest.set(broken, rest.get(broken) + until("0", "-lt"));
            String said = walk(rest.subList(0, broken + 1), "broken.out");
            lookAtTheConsole(Files.readString(folder.resolve("dev.out")));
            rest.set(broken, exports(rest));
            said += walk(rest.subList(broken, rest.size()), "mended.out");
            say("the walk", begun);
            assertThat(said)
                    .contains("flowing", "billing", "Billing cannot read refunds")
                    .contains("the total of the order is below zero", "OrderRefunded", "poison is mended")
                    .contains("billing reads refunds now", "deadletter redrive");
        } finally {
            dev.destroy();
            if (!dev.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                dev.destroyForcibly();
            }
        }
    }

    private String walk(List<String> blocks, String output) throws Exception {
        String end = output.equals("mended.out") ? until("1", "-ge") : "";
        Process walk = shell("set -e\n" + String.join("\n", blocks) + end, output);
        assertThat(walk.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        String said = Files.readString(folder.resolve(output));
        assertThat(walk.exitValue()).as(said).isZero();
        return said;
    }

    /** What another shell has to know again. */
    private static String exports(List<String> blocks) {
        return blocks.stream()
                .flatMap(String::lines)
                .filter(line -> line.startsWith("export "))
                .collect(Collectors.joining("\n"));
    }

    /** Follows the printed address, as a browser does, to the dead letters and on to the message. */
    private static void lookAtTheConsole(String printed) throws Exception {
        Matcher entry = Pattern.compile("(http://\\S+?)/sign-in\\?token=\\S+").matcher(printed);
        assertThat(entry.find()).as(printed).isTrue();
        HttpClient browser = HttpClient.newBuilder()
                .cookieHandler(new CookieManager())
                .followRedirects(HttpClient.Redirect.ALWAYS)
                .build();
        get(browser, entry.group());
        String groups = get(browser, entry.group(1) + "/dead-letters?subscription=billing");
        assertThat(groups).contains("the total of the order is below zero", "Redrive…");
        String letters = get(browser, entry.group(1) + "/dead-letters/list?subscription=billing");
        Matcher letter = Pattern.compile("href=\"(/dead-letters/\\d+)\"").matcher(letters);
        assertThat(letter.find()).as(letters).isTrue();
        assertThat(get(browser, entry.group(1) + letter.group(1))).contains("the total of the order is below zero");
    }

    private static String get(HttpClient browser, String url) throws Exception {
        HttpResponse<String> page =
                browser.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
        assertThat(page.statusCode()).as(page.body()).isEqualTo(200);
        return page.body();
    }

    /** For whoever writes the times into docs/start.md: they are those of the machine, and nothing is asked of them here. */
    private static void say(String what, long begun) {
        System.out.printf("docs/start.md: %s after %d s%n", what, (System.nanoTime() - begun) / 1_000_000_000);
    }

    /** Waits until there are dead letters of billing, or none. */
    private static String until(String few, String comparison) {
        return "\nuntil [ " + few + " " + comparison
                + " \"$(bin/postroom deadletter list --subscription billing -o jsonl | wc -l)\" ]; do sleep 1; done\n";
    }

    private static int index(List<String> blocks, String words) {
        for (int i = 0; i < blocks.size(); i++) {
            if (blocks.get(i).contains(words)) {
                return i;
            }
        }
        throw new AssertionError("no block has " + words);
    }

    private static List<String> blocks() throws IOException {
        String text = Files.readString(Path.of("..", "docs", "start.md"));
        Matcher matcher = BLOCK.matcher(text.replace("5433", String.valueOf(FreePort.find())));
        List<String> blocks = new ArrayList<>();
        while (matcher.find()) {
            blocks.add(matcher.group(1));
        }
        return blocks;
    }

    /** {@code bin/postroom} without the build: what it runs is what is tested here. */
    private void command() throws IOException {
        Path target = Path.of("target").toAbsolutePath();
        Path script = Files.createDirectories(folder.resolve("bin")).resolve("postroom");
        Files.writeString(
                script,
                "#!/bin/sh\nexec '" + Path.of(System.getProperty("java.home"), "bin", "java")
                        + "' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '" + target.resolve("classes") + ":"
                        + target.resolve("lib") + "/*' io.postroom.server.Main \"$@\"\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Process shell(String commands, String output) throws IOException {
        return new ProcessBuilder("bash", "-c", commands)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(output).toFile())
                .start();
    }

    private static void awaitLine(Process process, Path file, String words) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!Files.readString(file).contains(words)) {
            assertThat(process.isAlive()).as(Files.readString(file)).isTrue();
            assertThat(System.nanoTime()).as(Files.readString(file)).isLessThan(deadline);
            LockSupport.parkNanos(200_000_000);
        }
    }
}
