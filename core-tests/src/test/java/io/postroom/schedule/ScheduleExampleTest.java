package io.postroom.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The example of docs/schedules.md, compiled and run. */
class ScheduleExampleTest {

    @Test
    void theExampleSaysWhatItsCommentsSay() {
        // docs begin
        Cron cron = Cron.parse("30 2 * * MON", "Europe/Berlin");
        String words = cron.describe(); // at 02:30 every Monday, Europe/Berlin
        Instant next = cron.next(Instant.parse("2026-03-28T00:00:00Z")); // 2026-03-30T00:30:00Z
        List<Instant> five = cron.next(next, 5);
        Recurrence rate = FixedRate.every(Duration.ofMinutes(90)); // elapsed time, whatever clocks do
        // docs end
        assertThat(words).isEqualTo("at 02:30 every Monday, Europe/Berlin");
        assertThat(next).isEqualTo("2026-03-30T00:30:00Z");
        assertThat(five).hasSize(5);
        assertThat(rate.next(Instant.EPOCH)).isEqualTo("1970-01-01T01:30:00Z");
    }

    @Test
    void theExampleInTheDocsIsThisWordForWord() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        String source = Files.readString(
                root.resolve("core-tests/src/test/java/io/postroom/schedule/ScheduleExampleTest.java"));
        String docs = Files.readString(root.resolve("docs/schedules.md"));
        MatchResult example = Pattern.compile("(?s) {8}// docs begin\n(.*?) {8}// docs end\n")
                .matcher(source)
                .results()
                .findFirst()
                .orElseThrow();
        assertThat(docs).contains("```java\n" + example.group(1).replaceAll("(?m)^ {8}", "") + "```");
    }
}
