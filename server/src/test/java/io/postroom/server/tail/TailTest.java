package io.postroom.server.tail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.postroom.message.Message;
import io.postroom.server.CommandRun;
import io.postroom.server.Program;
import io.postroom.server.message.PluginJar;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class TailTest {
    @TempDir
    private Path folder;

    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void losesAndTearsNothingWhenKilledInTheMiddle() throws Exception {
        publish(3_000);
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        try (Program tail = tail("me")) {
            // Reads a little and stops: the tail fills the pipe and is killed while it writes.
            copy(tail.out(), first, 20_000);
            tail.kill();
            tail.out().transferTo(first);
        }
        String text = first.toString(StandardCharsets.UTF_8);
        assertThat(text).endsWith("\n");
        List<Long> before = positions(text);
        assertThat(before)
                .isEqualTo(LongStream.rangeClosed(1, before.size()).boxed().toList());
        assertThat(before.size()).isLessThan(3_000);

        // However long it takes to start another: the dead one has its lease until the test says so.
        lease("1 minute");
        try (Program tail = tail("me", "--until-idle", "1s")) {
            tail.awaitTalk(line -> line.contains("waiting"));
            lease("-1 second");
            List<Long> after = positions(tail.outToEnd());
            assertThat(tail.awaitExit()).isZero();
            assertThat(after.get(0)).isBetween(before.size() + 1L - Tail.BATCH_MESSAGES, before.size() + 1L);
            assertThat(after)
                    .isEqualTo(
                            LongStream.rangeClosed(after.get(0), 3_000).boxed().toList());
        }
    }

    private void lease(String left) {
        database.execute(
                "update postroom.relay set leased_until = clock_timestamp() + interval '" + left + "'",
                "update postroom.lane set leased_until = clock_timestamp() + interval '" + left
                        + "' where owner is not null");
    }

    @Test
    void buriesNothingHoweverOftenItIsKilled() throws Exception {
        try (Connection tx = database.begin()) {
            Message later = Message.about("order", "1")
                    .event("A")
                    .payload("1")
                    .availableAt(Instant.now().plus(Duration.ofHours(1)))
                    .build();
            database.postroom().outbox().publish(tx, later);
            tx.commit();
        }
        run("--subscription", "me", "--until-idle", "100ms");
        // As the last of many kills leaves it.
        database.execute("update postroom.delivery set state = 'sending', due_at = null, sending_since = now(),"
                + " sending_by = 'tail-1', attempts = 50, crashes = 50");
        CommandRun run = run("--subscription", "me", "--until-idle", "100ms");
        assertThat(positions(run.out())).containsExactly(1L);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter"))
                .isZero();
    }

    @Test
    void keepsTheOrderOfTheJournalOverAllKeys() throws Exception {
        try (Connection tx = database.begin()) {
            for (int i = 0; i < 500; i++) {
                database.postroom().outbox().publish(tx, Messages.order("o" + i % 3, "{\"n\":" + i + "}"));
            }
            tx.commit();
        }
        List<JsonNode> lines =
                lines(run("--subscription", "me", "--until-idle", "200ms").out());
        assertThat(lines.stream().map(line -> line.at("/payload/n").asInt()))
                .isEqualTo(IntStream.range(0, 500).boxed().toList());
    }

    @Test
    void printsPayloadsAsTheyWereSentUnlessItsSettingsSayOtherwise() throws Exception {
        String payload = "{ \"name\" : \"Ada\", \"total\": 12.50, \"name2\":\"\\u00e9\" }";
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publish(tx, Messages.order("o1", payload));
            tx.commit();
        }
        CommandRun bare =
                CommandRun.of(Map.of(), "tail", "--url", database.url(), "--subscription", "me", "--limit", "1");
        assertThat(bare.exitCode()).as(bare.err()).isZero();
        assertThat(bare.out()).endsWith("\"payload\":" + payload + "}\n").hasLineCount(1);
        assertThat(bare.err()).isEmpty();
        assertThat(database.queryLong("select count(*) from postroom.audit")).isZero();
    }

    @Test
    void printsExactlySoManyAndGoesOnAfterThem() throws Exception {
        publish(1_000);
        assertThat(positions(run("--subscription", "me", "--limit", "3").out())).containsExactly(1L, 2L, 3L);
        assertThat(positions(run("--subscription", "me", "--limit", "700").out()))
                .isEqualTo(LongStream.rangeClosed(4, 703).boxed().toList());
        assertThat(positions(run("--subscription", "me", "--limit", "1").out())).containsExactly(704L);
    }

    @Test
    void beginsWhereItIsToldOnlyWhenItIsNew() throws Exception {
        publish(10);
        assertThat(positions(run("--subscription", "a", "--from", "4", "--until-idle", "100ms")
                        .out()))
                .startsWith(4L)
                .hasSize(7);
        assertThat(run("--subscription", "b", "--from", "now", "--until-idle", "100ms")
                        .out())
                .isEmpty();
        assertThat(positions(run("--subscription", "c", "--from", "15m", "--until-idle", "100ms")
                        .out()))
                .hasSize(10);
        CommandRun again = run("--subscription", "b", "--from", "beginning", "--until-idle", "100ms");
        assertThat(again.out()).isEmpty();
        assertThat(again.err()).contains("--from beginning is ignored");
        assertThat(run("--subscription", "d", "--from", "99").exitCode()).isEqualTo(1);
    }

    @Test
    void printsOnlyWhatFits() throws Exception {
        try (Connection tx = database.begin()) {
            for (String tenant : List.of("acme", "globex")) {
                for (String type : List.of("OrderPaid", "OrderShipped", "OrderLost")) {
                    database.postroom()
                            .outbox()
                            .publish(
                                    tx,
                                    Message.about("order", "1")
                                            .event(type)
                                            .tenantId(tenant)
                                            .payload("1")
                                            .build());
                }
            }
            tx.commit();
        }
        String out = run(
                        "--subscription",
                        "me",
                        "--type",
                        "OrderPaid",
                        "--type",
                        "OrderLost",
                        "--tenant",
                        "acme",
                        "--aggregate-type",
                        "order",
                        "--until-idle",
                        "100ms")
                .out();
        assertThat(positions(out)).containsExactly(1L, 3L);
    }

    @Test
    void waitsForWhatIsDueAndNotForWhatIsScheduled() throws Exception {
        try (Connection tx = database.begin()) {
            Message later = Message.about("order", "1")
                    .event("A")
                    .payload("1")
                    .availableAt(Instant.now().plus(Duration.ofHours(1)))
                    .build();
            database.postroom().outbox().publish(tx, later);
            database.postroom().outbox().publish(tx, Messages.sample());
            tx.commit();
        }
        CommandRun run = run("--subscription", "me", "--until-idle", "300ms");
        assertThat(positions(run.out())).containsExactly(2L);
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run("--subscription", "me", "--until-idle", "300ms").out())
                .as("what was printed is not printed again")
                .isEmpty();
        database.execute("update postroom.delivery set due_at = now()");
        assertThat(positions(
                        run("--subscription", "me", "--until-idle", "300ms").out()))
                .containsExactly(1L);
    }

    @Test
    void readsThroughUpcastersAndKeepsWhatTheyCannotReadForARunThatCan() throws Exception {
        Path old = PluginJar.of(
                folder,
                "Old",
                "upcasters.add(\"Greeted\", 1, Upcaster.json(greeting -> greeting.put(\"to\", \"all\")));");
        try (Connection tx = database.begin()) {
            for (int version : new int[] {1, 3, 2}) {
                Message message = Message.about("greeting", "1")
                        .event("Greeted")
                        .eventVersion(version)
                        .payload("{}")
                        .build();
                database.postroom().outbox().publish(tx, message);
            }
            tx.commit();
        }
        CommandRun first = run("--subscription", "me", "--plugins", old.toString(), "--until-idle", "200ms");
        assertThat(lines(first.out()).stream()
                        .map(line -> line.get("eventVersion").asInt() + " " + line.get("payload")))
                .containsExactly("2 {\"to\":\"all\"}", "2 {}");
        assertThat(first.exitCode()).isZero();
        assertThat(first.err())
                .contains("could not read 1 messages of subscription me, the first at position 2: ")
                .contains("a later run with newer upcasters prints them")
                .hasLineCount(1);
        CommandRun second = run("--subscription", "me", "--until-idle", "200ms");
        assertThat(positions(second.out())).containsExactly(2L);
        assertThat(second.err()).isEmpty();
    }

    @Test
    void refusesAPluginThatIsNotThere() {
        CommandRun run = run("--subscription", "me", "--plugins", "/no/such.jar");
        assertThat(run.err()).contains("/no/such.jar does not exist");
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void endsWhenNobodyReadsAnyMoreEvenIfNothingIsPrinted() throws Exception {
        publish(5);
        try (Program tail = tail("me")) {
            BufferedReader lines = tail.lines();
            for (int i = 0; i < 5; i++) {
                assertThat(lines.readLine()).startsWith("{\"position\":");
            }
            lines.close();
            assertThat(tail.awaitExit()).isZero();
            assertThat(tail.said()).isEmpty();
        }
        assertThat(database.queryLong("select count(*) from postroom.lane where owner is not null"))
                .isZero();
        assertThat(database.queryLong("select position from postroom.lane")).isEqualTo(5);
    }

    @Test
    void endsCleanlyWhenTerminated() throws Exception {
        publish(5);
        try (Program tail = tail("me")) {
            BufferedReader lines = tail.lines();
            for (int i = 0; i < 5; i++) {
                lines.readLine();
            }
            tail.terminate();
            assertThat(tail.awaitExit(Duration.ofSeconds(10))).isZero();
        }
        assertThat(database.queryLong("select position from postroom.lane where owner is null"))
                .isEqualTo(5);
    }

    @Test
    void failsOnAFullDiskAndPrintsEverythingTheNextTime() throws Exception {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.isWritable(full), "only Linux has a disk that is always full");
        publish(5);
        try (Program tail = Program.startInto(full, "tail", "--url", database.url(), "--subscription", "me")) {
            assertThat(tail.awaitExit()).isEqualTo(1);
            assertThat(tail.said()).contains("could not write standard output: No space left on device");
        }
        assertThat(positions(
                        run("--subscription", "me", "--until-idle", "100ms").out()))
                .containsExactly(1L, 2L, 3L, 4L, 5L);
    }

    @Test
    void saysThatItsFilterHasChangedAndOnlyThen() throws Exception {
        publish(3);
        String notice =
                "subscription me gets another filter from here on; what the former one left out before position 3";
        assertThat(run("--subscription", "me", "--type", "Nothing", "--until-idle", "100ms")
                        .err())
                .isEmpty();
        assertThat(run("--subscription", "me", "--type", "Nothing", "--until-idle", "100ms")
                        .err())
                .isEmpty();
        CommandRun widened = run("--subscription", "me", "--until-idle", "100ms");
        assertThat(widened.err()).contains(notice).hasLineCount(1);
        assertThat(widened.out()).isEmpty();
        assertThat(run("--subscription", "me", "--until-idle", "100ms").err()).isEmpty();
    }

    @Test
    void waitsForTheTailThatHasTheLane() throws Exception {
        publish(2);
        try (Program first = tail("me");
                BufferedReader lines = first.lines()) {
            lines.readLine();
            try (Program second = tail("me", "--limit", "1")) {
                second.awaitTalk(line -> line.contains("is being read by tail-"));
                publish(1);
                assertThat(lines.readLine()).contains("\"position\":2");
                assertThat(lines.readLine()).contains("\"position\":3");
                first.terminate();
                assertThat(first.awaitExit()).isZero();
                publish(1);
                assertThat(positions(second.outToEnd())).containsExactly(4L);
                assertThat(second.awaitExit()).isZero();
            }
        }
    }

    @Test
    void refusesTheSubscriptionOfARelay() throws Exception {
        database.execute("insert into postroom.subscription (name, lanes) values ('billing', 4)");
        CommandRun run = run("--subscription", "billing");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err())
                .contains("4 lanes")
                .contains("choose another name")
                .hasLineCount(1);
    }

    /** With payloads as they are; how they are masked is told by RevealOptionsTest. */
    private CommandRun run(String... arguments) {
        String[] all = Stream.concat(Stream.of("tail"), Stream.of(arguments)).toArray(String[]::new);
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), all);
    }

    private Program tail(String subscription, String... more) {
        Stream<String> all = Stream.of("tail", "--url", database.url(), "--subscription", subscription);
        return Program.start(Stream.concat(all, Stream.of(more)).toArray(String[]::new));
    }

    private void publish(int messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("o", messages));
            tx.commit();
        }
    }

    private static void copy(InputStream in, ByteArrayOutputStream out, int bytes) throws IOException {
        while (out.size() < bytes) {
            out.write(in.readNBytes(bytes - out.size()));
        }
    }

    private static List<JsonNode> lines(String text) {
        return text.lines().map(JsonMapper.shared()::readTree).toList();
    }

    private static List<Long> positions(String text) {
        return lines(text).stream().map(line -> line.get("position").asLong()).toList();
    }
}
