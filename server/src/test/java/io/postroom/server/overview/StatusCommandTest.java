package io.postroom.server.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.CommandRun;
import io.postroom.server.CommandTree;
import io.postroom.server.terminal.Terminal;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code status} and {@code top}: what the console's first page says, in a terminal. */
class StatusCommandTest {
    private static final String RELAY = "00000000-0000-7000-8000-000000000001";

    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("billing").lanes(2).build(), new RecordingSink())
                .build()) {
            relay.runOnce();
        }
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void exitsByHealth() {
        CommandRun stuck = run("status");
        assertThat(stuck.exitCode()).isEqualTo(4);
        assertThat(stuck.out())
                .startsWith("One thing needs you now.\n  stuck    No relay is running: ")
                .contains("\nlag 0ms, backlog 0 messages, dead letters 0, failed jobs 0, held keys 0")
                .containsPattern("\nSUBSCRIPTION +LANES .*\nbilling +0/2 ");
        database.execute("insert into postroom.relay (id, name, subscriptions, leased_until) values ('" + RELAY
                + "', 'r1', '{billing}', now() + interval '1 hour')");
        try {
            CommandRun well = run("status");
            assertThat(well.out())
                    .startsWith("Everything is delivered.\n")
                    .containsPattern("\nnodes\nKIND.*\nrelay +r1 +billing ");
            assertThat(well.exitCode()).isZero();
            database.execute("""
                    insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                        event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                    values ('subscription', 'billing', 1, 1, gen_random_uuid(), 'order', '1', 'OrderPlaced', 1, '{}', now(), 'rejected', 1, 'x',
                        'y', 'z', 'r1')""");
            assertThat(run("status").exitCode()).isEqualTo(5);
            database.execute("delete from postroom.dead_letter", """
                    insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at, created_at)
                    values ('billing', 1, 0, 1, 1, current_date, 2, 'waiting', now() + interval '1 hour', now() - interval '1 hour')""");
            CommandRun retried = run("status");
            assertThat(retried.exitCode()).isEqualTo(5);
            assertThat(retried.out()).contains("1 message of billing tried again and again: the oldest for 1h ");
            database.execute("update postroom.delivery set state = 'unreadable', due_at = null");
            CommandRun unreadable = run("status");
            assertThat(unreadable.exitCode()).isEqualTo(4);
            assertThat(unreadable.out()).contains("1 message of billing cannot be read");
        } finally {
            database.execute(
                    "delete from postroom.relay", "delete from postroom.dead_letter", "delete from postroom.delivery");
        }
    }

    @Test
    void saysToProgramsWhatTheApiSays() {
        CommandRun run = run("status", "-o", "json");
        JsonNode status = JsonMapper.shared().readTree(run.out());
        assertThat(status.propertyNames())
                .containsExactly(
                        "at",
                        "sentence",
                        "position",
                        "backlogMessages",
                        "lagSeconds",
                        "publishedPerSecond",
                        "deliveredPerSecond",
                        "commitToDeliverySeconds",
                        "backlogGrowthPerSecond",
                        "deadLetters",
                        "failedJobs",
                        "heldKeys",
                        "putAside",
                        "relays",
                        "problems",
                        "jobs",
                        "nodes");
    }

    /** How far everything had come is for the rates; how long messages waited and took is for charts, which it has none of. */
    @ParameterizedTest
    @ValueSource(strings = {"status -o json", "top --once -o json"})
    void readsOfThePastOnlyWhatItShows(String command) {
        try (TestDatabase busy = TestDatabase.create()) {
            busy.execute(
                    "update postroom.tick set at = now() - interval '20 minutes' where position = 0",
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.tick (position, snapshot, seq, day, at) select n, pg_current_snapshot(), n, current_date,"
                            + " now() - interval '20 minutes' + n * interval '1 second' from generate_series(1, 1199) as n",
                    "insert into postroom.settlement (subscription, lane, position, node, at) select 'billing', 0, n, 'relay', now() -"
                            + " interval '20 minutes' + n * interval '1 second' from generate_series(1, 1199) as n",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 1199)",
                    // Only the positions of stamps are asked for in an array of numbers.
                    "create sequence public.stamps_asked",
                    "create function public.unnest(bigint[]) returns setof bigint language sql volatile as"
                            + " $$select nextval('public.stamps_asked')$$");
            CommandRun run = CommandRun.of(Map.of("POSTROOM_URL", busy.url()), command.split(" "));
            assertThat(busy.queryLong("select count(*) from public.stamps_asked where is_called"))
                    .isZero();
            if (command.startsWith("status")) {
                JsonNode status = JsonMapper.shared().readTree(run.out());
                assertThat(status.get("deliveredPerSecond").asDouble())
                        .as(run.out())
                        .isBetween(0.5, 1.5);
            }
        }
    }

    @Test
    void topShowsOneFrameWhereThereIsNoTerminal() {
        CommandRun run = run("top", "--every", "200ms");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .doesNotContain("\u001b")
                .containsPattern("\nin 0/s\n\nSUBSCRIPTION +LANES +OUT .*\nbilling +0/2 +0/s ");
    }

    @Test
    void topStreamsLines() {
        CommandRun run = run("top", "--every", "200ms", "--frames", "2", "-o", "jsonl");
        List<String> lines = run.out().lines().toList();
        assertThat(lines).hasSize(2);
        assertThat(JsonMapper.shared()
                        .readTree(lines.get(1))
                        .get("subscriptions")
                        .get(0)
                        .propertyNames())
                .contains("subscription", "outPerSecond", "lagMessages");
    }

    @Test
    void topRedrawsATerminalAndLeavesItAsItWas() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Terminal terminal = new Terminal(
                out,
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                Map.of("POSTROOM_URL", database.url()),
                true);
        assertThat(CommandTree.run(terminal, "top", "--every", "200ms", "--frames", "2"))
                .isZero();
        String drawn = out.toString(StandardCharsets.UTF_8);
        assertThat(drawn).startsWith("\u001b[?1049h").endsWith("\u001b[?1049l");
        assertThat(drawn.split("\u001b\\[H", -1)).as("frames").hasSize(3);
    }

    /** The schema is away for a moment: the stream says so and goes on. */
    @Test
    void topGoesOnWhileTheDatabaseIsAway() {
        List<String> lines = new CopyOnWriteArrayList<>();
        CountDownLatch wellAgain = new CountDownLatch(1);
        OutputStream out = new OutputStream() {
            @Override
            public void write(int octet) {
                throw new AssertionError("lines are written whole");
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                String line = new String(bytes, offset, length, StandardCharsets.UTF_8);
                if (lines.isEmpty()) {
                    database.execute("alter schema postroom rename to away");
                } else if (line.contains("\"problem\"")) {
                    database.execute("alter schema away rename to postroom");
                } else {
                    wellAgain.countDown();
                }
                lines.add(line);
            }
        };
        Terminal terminal = new Terminal(
                out,
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                Map.of("POSTROOM_URL", database.url()),
                false);
        assertThat(CommandTree.run(terminal, "top", "--every", "200ms", "--frames", "3", "-o", "jsonl"))
                .isZero();
        assertThat(wellAgain.getCount()).as("%s", lines).isZero();
        assertThat(lines).hasSize(3);
        assertThat(lines.get(1)).startsWith("{\"problem\":\"");
    }

    @Test
    void refusesAPaceThatHurts() {
        assertThat(run("top", "--every", "10ms").err()).contains("--every is 10ms, the range is 200ms to 1h");
        assertThat(run("top", "--frames", "0").err()).contains("--frames is 0, the least is 1");
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }
}
