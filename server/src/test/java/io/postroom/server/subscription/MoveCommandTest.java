package io.postroom.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.CommandRun;
import io.postroom.sink.kafka.KafkaSink;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.source.kafka.KafkaSource;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MoveCommandTest {
    private static TestDatabase database;
    private static KafkaBroker broker;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        broker = KafkaBroker.start();
        broker.createTopic("events", 2);
    }

    @AfterAll
    static void drop() {
        broker.close();
        database.close();
    }

    private static CommandRun run(String... arguments) {
        String[] all = new String[arguments.length + 2];
        all[0] = "subscription";
        all[1] = "move";
        System.arraycopy(arguments, 0, all, 2, arguments.length);
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), all);
    }

    private static String show() {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), "subscription", "show", "billing", "-o", "json")
                .out();
    }

    private static CommandRun move(String name, String target, String... more) {
        List<String> all = new ArrayList<>(List.of(
                name,
                "--to",
                target,
                "--topic",
                "events",
                "--feed",
                "feed",
                "--bootstrap-servers",
                broker.bootstrapServers()));
        all.addAll(List.of(more));
        return run(all.toArray(String[]::new));
    }

    @Test
    void refusesWhatItCannotReadBeforeAnythingIsAsked() {
        assertThat(run("billing", "--reason", "x").err()).contains("--to kafka or --to postgres");
        assertThat(run("billing", "--to", "mars", "--reason", "x").exitCode()).isEqualTo(2);
        assertThat(run("billing", "--to", "kafka").err()).contains("--reason is missing");
        CommandRun bare = run("billing", "--to", "kafka", "--dry-run", "--kafka-property", "securty.protocol=SSL");
        assertThat(bare.exitCode()).isEqualTo(2);
        assertThat(bare.err())
                .contains("--bootstrap-servers is missing")
                .contains("name each with --topic")
                .contains("--feed is missing")
                .contains("securty.protocol is not a setting");
        assertThat(move("nobody", "kafka", "--dry-run").exitCode()).isEqualTo(3);
        CommandRun nobody = run("nobody", "--cancel", "--reason", "x");
        assertThat(nobody.exitCode()).isEqualTo(3);
        assertThat(nobody.err()).contains("could not show subscription nobody: there is no such subscription");
        CommandRun nowhere = run(
                "billing",
                "--to",
                "kafka",
                "--topic",
                "t",
                "--feed",
                "f",
                "--bootstrap-servers",
                "nohost",
                "--dry-run");
        assertThat(nowhere.exitCode()).isEqualTo(2);
        assertThat(nowhere.err())
                .contains("bootstrap servers are 'nohost', none of which has an address; give host:port,host:port");
    }

    @Test
    void movesThereAndBackWithAPlan() {
        Postroom postroom = database.postroom();
        Set<UUID> applied = ConcurrentHashMap.newKeySet();
        Projection projection =
                (tx, batch) -> batch.forEach(each -> applied.add(each.message().id()));
        try (KafkaSink sink = KafkaSink.builder()
                        .bootstrapServers(broker.bootstrapServers())
                        .topic("events")
                        .build();
                Relay relay = postroom.relay()
                        .lease(Duration.ofSeconds(3))
                        .deliver(Subscription.named("feed").build(), sink)
                        .project(Subscription.named("billing").build(), projection.behind(postroom.inbox(), "billing"))
                        .build();
                KafkaSource source = KafkaSource.builder(postroom)
                        .bootstrapServers(broker.bootstrapServers())
                        .topics("events")
                        .consumer("billing")
                        .build(projection)) {
            relay.start();
            source.start();
            publish(postroom, applied, "a");

            CommandRun blocked = move("feed", "kafka", "--dry-run");
            assertThat(blocked.exitCode()).isEqualTo(4);
            assertThat(blocked.err()).contains("in the way: its receiver is a sink");

            CommandRun plan = move("billing", "kafka", "--dry-run");
            assertThat(plan.exitCode()).isZero();
            assertThat(plan.out()).contains("note the ends of the topics", "switch to Kafka in one transaction");
            assertThat(database.queryLong("select count(*) from postroom.subscription_move"))
                    .isZero();
            assertThat(move("billing", "kafka", "--reason", "x").err())
                    .contains("there is no terminal to ask on; add --yes");

            assertThat(show()).contains("\"movingTo\":null");
            CommandRun there = move("billing", "kafka", "--reason", "more", "--actor", "ann", "--yes");
            assertThat(there.exitCode()).as(there.err()).isZero();
            assertThat(there.err()).contains("the cut is position", "subscription billing is served by kafka now");
            assertThat(move("billing", "kafka", "--reason", "more").err()).contains("is served by kafka already");
            assertThat(CommandRun.of(Map.of("POSTROOM_URL", database.url()), "subscription", "list")
                            .out())
                    .containsPattern("billing +kafka");
            publish(postroom, applied, "b");

            CommandRun other = move("billing", "postgres", "--group", "audit", "--reason", "less", "--yes");
            assertThat(other.err()).contains("it was moved to Kafka with feed feed, topics [events] and group billing");
            CommandRun back = run(
                    "billing",
                    "--to",
                    "postgres",
                    "--bootstrap-servers",
                    broker.bootstrapServers(),
                    "--reason",
                    "less",
                    "--actor",
                    "ann",
                    "--yes");
            assertThat(back.exitCode()).as(back.err()).isZero();
            publish(postroom, applied, "c");
        }
        assertThat(database.queryLong("select count(*) from postroom.audit where actor = 'ann'"))
                .isEqualTo(4);

        // Nobody is there any more to apply these: the move waits, and it is seen that it does.
        postroom.database().transact(tx -> postroom.outbox().publishAll(tx, Messages.ofManyKeys("d", 5)));
        postroom.journal().stampAll();
        assertThat(move("billing", "kafka", "--reason", "again", "--actor", "ann", "--yes", "--wait", "300ms")
                        .exitCode())
                .isEqualTo(5);
        assertThat(show()).contains("\"movingTo\":\"kafka\"", "\"movingBy\":\"ann\"", "\"moveReason\":\"again\"");
        assertThat(run("billing", "--cancel", "--reason", "not today", "--actor", "ann")
                        .exitCode())
                .isZero();
        assertThat(show()).contains("\"movingTo\":null");
    }

    /** And waits until all of it was applied, whoever serves. */
    private static void publish(Postroom postroom, Set<UUID> applied, String prefix) {
        List<Message> messages = Messages.ofManyKeys(prefix, 20);
        postroom.database().transact(tx -> postroom.outbox().publishAll(tx, messages));
        await(() -> messages.stream().allMatch(message -> applied.contains(message.id())));
    }

    private static void await(BooleanSupplier done) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!done.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
