package io.postroom;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.diagnosis.Code;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.subscription.Act;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages for operators are whole, and what they say to run by hand runs. The commands are tried where the program is. */
class OperatingTest {
    private static final List<String> PARTS = List.of("You see", "Look", "Why", "Mend", "Do not");

    @Test
    void everyPageTellsWhatYouSeeWhyAndWhatToDo() throws IOException {
        for (Path page : pages()) {
            if (!page.endsWith("README.md") && !page.endsWith("metrics.md")) {
                List<String> parts = Pattern.compile("(?m)^## (.*)$")
                        .matcher(Files.readString(page))
                        .results()
                        .map(match -> match.group(1))
                        .toList();
                assertThat(parts).as(page.toString()).isEqualTo(PARTS);
            }
        }
    }

    @Test
    void theIndexHasEveryPageAndEveryReason() throws IOException {
        String index = Files.readString(folder().resolve("README.md"));
        for (Path page : pages()) {
            if (!page.endsWith("README.md")) {
                assertThat(index).contains("](" + page.getFileName() + ")");
            }
        }
        for (Code code : Code.values()) {
            assertThat(index).contains('`' + code.word() + '`');
        }
        assertThat(Pattern.compile("`(why\\.[a-z-]+)`").matcher(index).results().map(match -> match.group(1)))
                .allMatch(word ->
                        Stream.of(Code.values()).anyMatch(code -> code.word().equals(word)));
    }

    @Test
    void everyReasonStandsOnThePageThatTheIndexNames() throws IOException {
        String index = Files.readString(folder().resolve("README.md"));
        for (String row :
                index.lines().filter(line -> line.startsWith("| `why.")).toList()) {
            String page = row.replaceAll(".*\\]\\((.*)\\).*", "$1");
            String text = Files.readString(folder().resolve(page));
            Pattern.compile("`why\\.[a-z-]+`")
                    .matcher(row)
                    .results()
                    .forEach(reason -> assertThat(text).as(page).contains(reason.group()));
        }
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        for (Path page : pages()) {
            for (MatchResult link : Pattern.compile("\\]\\(([^)#]+)[^)]*\\)")
                    .matcher(Files.readString(page))
                    .results()
                    .toList()) {
                assertThat(folder().resolve(link.group(1)))
                        .as(page.getFileName() + " links to it")
                        .exists();
            }
        }
    }

    @Test
    void everyStatementRuns() throws Exception {
        List<String> statements = new ArrayList<>();
        for (Path page : pages()) {
            Pattern.compile("(?ms)^```sql\\n(.*?)^```")
                    .matcher(Files.readString(page))
                    .results()
                    .forEach(block -> statements.add(block.group(1)));
        }
        assertThat(statements).hasSizeGreaterThan(10);
        try (TestDatabase database = TestDatabase.create();
                Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
                tx.rollback();
            }
        }
    }

    /** Against what the page on disks says. */
    @Test
    void aDayOfTheOutboxThatWasDroppedByHandIsReadThrough() throws Exception {
        LocalDate today = LocalDate.now(ZoneOffset.UTC);
        String yesterday = "postroom.outbox_" + today.minusDays(1).toString().replace("-", "");
        try (TestDatabase database = TestDatabase.create()) {
            List<Message> old = Messages.ofManyKeys("old", 5);
            publish(database, old);
            database.execute("update postroom.outbox set day = '" + today.minusDays(1) + "'");
            RecordingSink sink = new RecordingSink();
            deliver(database, "billing", sink);
            assertThat(sink.accepted()).hasSize(5);
            publish(database, Messages.ofManyKeys("new", 3));
            database.execute("alter table postroom.outbox detach partition " + yesterday, "drop table " + yesterday);
            deliver(database, "billing", sink);
            assertThat(sink.accepted()).hasSize(8);
            RecordingSink late = new RecordingSink();
            deliver(database, "from-the-beginning", late);
            assertThat(late.accepted()).as("reads through what is gone").hasSize(3);
            assertThat(database.postroom().diagnosis().why(old.get(0).id()).message())
                    .isNull();
        }
    }

    /** As the page on versions that nobody can read says. */
    @Test
    void aKeyGoesOnWithoutAMessageWhosePartitionIsGone() throws Exception {
        LocalDate yesterday = LocalDate.now(ZoneOffset.UTC).minusDays(1);
        String find = Pattern.compile("(?ms)^```sql\\n(.*?)^```")
                .matcher(Files.readString(folder().resolve("unreadable-version.md")))
                .results()
                .findFirst()
                .orElseThrow()
                .group(1)
                .replace(";", "");
        try (TestDatabase database = TestDatabase.create()) {
            List<Message> key = Messages.sequence("a", 4);
            publish(database, key.subList(0, 1));
            database.execute("update postroom.outbox set day = '" + yesterday + "'");
            publish(database, key.subList(1, 4));
            RecordingSink sink = new RecordingSink();
            sink.answer(message -> message.id().equals(key.get(0).id()), Outcome.retry("not now"));
            Subscription.Builder billing = Subscription.named("billing")
                    .retry(RetryPolicy.builder()
                            .linear(Duration.ofHours(1))
                            .attemptsMax(9)
                            .build());
            deliver(database, billing, sink);
            String partition = "postroom.outbox_" + yesterday.toString().replace("-", "");
            database.execute(
                    "alter table postroom.outbox detach partition " + partition,
                    "update postroom.delivery set due_at = now() where state = 'waiting'");
            deliver(database, billing, sink);
            assertThat(sink.accepted()).isEmpty();
            long gone = database.queryLong("select position from (" + find + ") as gone");
            database.postroom().subscriptions().skipMessage("billing", gone, new Act("ann", "a test"));
            deliver(database, billing, sink);
            assertThat(sink.accepted()).extracting(Message::aggregateVersion).containsExactly(2L, 3L, 4L);
            assertThat(database.queryLong("select count(*) from postroom.delivery"))
                    .isZero();
        }
    }

    private static void deliver(TestDatabase database, String name, RecordingSink sink) {
        deliver(database, Subscription.named(name), sink);
    }

    private static void deliver(TestDatabase database, Subscription.Builder subscription, RecordingSink sink) {
        try (Relay relay =
                database.postroom().relay().deliver(subscription.build(), sink).build()) {
            relay.runOnce();
        }
    }

    private static void publish(TestDatabase database, List<Message> messages) throws Exception {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.list(folder())) {
            List<Path> pages = files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
            assertThat(pages).hasSizeGreaterThan(15);
            return pages;
        }
    }

    private static Path folder() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        return root.resolve("docs/operating");
    }
}
