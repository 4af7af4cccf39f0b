package io.postroom.server.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.CommandRun;
import io.postroom.server.CommandTree;
import io.postroom.server.terminal.Terminal;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArchiveCommandTest {
    @TempDir
    private Path folder;

    private TestDatabase database;
    private List<Message> published;
    private LocalDate old;

    @BeforeEach
    void publish() throws SQLException {
        database = TestDatabase.create();
        old = LocalDate.ofEpochDay(
                database.queryLong("select (now() at time zone 'utc')::date - date '1970-01-01' - 10"));
        published = Messages.ofManyKeys("k", 20);
        publish(published);
        String day = old.format(DateTimeFormatter.BASIC_ISO_DATE);
        for (String table : List.of("outbox", "journal")) {
            database.execute(
                    "create table postroom.%1$s_%2$s partition of postroom.%1$s for values from ('%3$s') to ('%4$s')"
                            .formatted(table, day, old, old.plusDays(1)),
                    "create unique index on postroom.%s_%s (%s)"
                            .formatted(table, day, table.equals("outbox") ? "seq" : "position"));
        }
        database.execute(
                "update postroom.outbox set day = '" + old + "'",
                "update postroom.journal set day = '" + old + "', outbox_day = '" + old + "'",
                "update postroom.tick set day = '" + old + "'");
        publish(Messages.ofManyKeys("now", 5));
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
        database.postroom().journal().stampAll();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aDayIsArchivedShownExportedAndDropped() throws IOException {
        CommandRun dry = run("run", "--dry-run", "-o", "json");
        assertThat(dry.exitCode()).isZero();
        assertThat(dry.out()).contains("\"day\":\"" + old + "\",\"passedAt\":20,\"neededBy\":null");
        CommandRun ran = run("run", "--reason", "the disk fills", "-o", "jsonl");
        assertThat(ran.exitCode()).isZero();
        assertThat(ran.out()).isEqualTo("{\"day\":\"" + old + "\",\"archived\":true,\"reason\":null}\n");
        assertThat(run("list").out()).contains("DAY", "MESSAGES", old + "  archived");
        assertThat(run("list", "-o", "json").out()).contains("\"firstPosition\":1,\"lastPosition\":20,\"messages\":20");

        Path file = folder.resolve("old.jsonl.gz");
        CommandRun exported = run("export", old.toString(), "--file", file.toString());
        assertThat(exported.err()).contains("wrote 20 messages of day " + old);
        List<String> lines;
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            lines = new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
        }
        assertThat(lines).hasSize(20);
        assertThat(lines.get(4))
                .startsWith("{\"position\":5,\"id\":\"" + published.get(4).id() + "\"");
        assertThat(run("export", old.toString()).out().lines()).containsExactlyElementsOf(lines);
        CommandRun again = run("export", old.toString(), "--file", file.toString());
        assertThat(again.exitCode()).isOne();
        assertThat(again.err()).contains("it exists already");
        CommandRun nowhere = run(
                "export",
                old.toString(),
                "--file",
                folder.resolve("none/old.jsonl").toString());
        assertThat(nowhere.exitCode()).isOne();
        assertThat(nowhere.err()).contains("old.jsonl: there is no such file, and no folder " + folder.resolve("none"));
        CommandRun cut = exportIntoAPipeThatNobodyReads();
        assertThat(cut.err()).isEmpty();
        assertThat(cut.exitCode()).as("as after | head -1").isZero();
        assertThat(CommandRun.of(
                                Map.of("POSTROOM_URL", database.url()),
                                "tail",
                                "--subscription",
                                "tailing",
                                "--from",
                                "beginning",
                                "--limit",
                                "20")
                        .out()
                        .lines())
                .as("as tail prints it, which goes on in the archive")
                .containsExactlyElementsOf(lines);

        assertThat(run("drop", old.toString(), "--dry-run").err())
                .contains("would drop day " + old + " with 20 messages");
        assertThat(run("drop", old.toString(), "--reason", "exported").exitCode())
                .as("nobody is there to be asked")
                .isEqualTo(2);
        CommandRun dropped = run("drop", old.toString(), "--reason", "exported", "--yes");
        assertThat(dropped.err()).contains("dropped day " + old);
        assertThat(dropped.exitCode()).isZero();
        assertThat(run("list", "-o", "jsonl").out()).isEmpty();
        assertThat(run("list", "--dropped").out()).contains(old + "  dropped");
        assertThat(database.queryLong(
                        "select count(*) from postroom.audit where action in ('archive run', 'archive drop')"))
                .isEqualTo(2);
    }

    @Test
    void aDayThatSomebodyNeedsStaysAndItIsSaidWho() {
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("slow").lanes(1).build(), new RecordingSink())
                .build()) {
            relay.runOnce();
        }
        database.execute("update postroom.lane set position = 3");
        CommandRun dry = run("run", "--dry-run");
        assertThat(dry.exitCode()).isEqualTo(4);
        assertThat(dry.out()).contains("subscription slow at 3");
        CommandRun ran = run("run", "--reason", "why not");
        assertThat(ran.exitCode()).isEqualTo(4);
        assertThat(ran.out()).contains("it is needed by subscription slow at 3; the day ends at 20");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "run                          | 2 | --reason is missing",
                "run --older-than 3h --dry-run | 2 | archive-after is PT3H, the range is 1 to 36500 days",
                "run --older-than soon        | 2 | 'soon' is not a duration",
                "export 2026-02-30            | 2 | '2026-02-30' is not a day; write 2026-11-09",
                "export 2001-01-01            | 3 | it is not archived; postroom archive list shows what is",
                "drop 2001-01-01 --dry-run    | 3 | it is not archived",
                "drop yesterday --dry-run     | 2 | 'yesterday' is not a day"
            })
    void wrongWordsAreRefused(String line, int exitCode, String sentence) {
        CommandRun run = run(line.split(" "));
        assertThat(run.err()).contains(sentence).doesNotContain("Exception");
        assertThat(run.exitCode()).isEqualTo(exitCode);
    }

    private CommandRun exportIntoAPipeThatNobodyReads() {
        OutputStream out = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(
                out, new PrintStream(err, true, StandardCharsets.UTF_8), Map.of("POSTROOM_URL", database.url()), false);
        int exitCode = CommandTree.run(terminal, "archive", "export", old.toString());
        return new CommandRun(exitCode, "", err.toString(StandardCharsets.UTF_8));
    }

    private CommandRun run(String... arguments) {
        return CommandRun.of(
                Map.of("POSTROOM_URL", database.url()),
                Stream.concat(Stream.of("archive"), Stream.of(arguments)).toArray(String[]::new));
    }
}
