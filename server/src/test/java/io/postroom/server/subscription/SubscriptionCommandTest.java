package io.postroom.server.subscription;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.server.CommandRun;
import io.postroom.server.Interruption;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SubscriptionCommandTest {
    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** Twenty messages; billing has two lanes and has delivered ten of them. */
    @BeforeEach
    void deliver() {
        database.execute("""
                truncate postroom.outbox, postroom.journal, postroom.generation, postroom.subscription, postroom.settlement, postroom.lane, postroom.delivery, postroom.relay,
                    postroom.circuit, postroom.attempt, postroom.dead_letter, postroom.redrive, postroom.audit restart identity cascade""", "delete from postroom.tick where position > 0");
        publish(Messages.ofManyKeys("first", 10));
        relayOnce(Subscription.named("billing").lanes(2).build());
        publish(Messages.ofManyKeys("second", 10));
        sink.forget();
    }

    @Test
    void pausesOnceAndResumes() {
        CommandRun paused = run("pause", "billing", "--reason", "broker upgrade", "--actor", "ann");
        assertThat(paused.exitCode()).isZero();
        assertThat(paused.out()).isEmpty();
        assertThat(paused.err()).isEqualTo("postroom: subscription billing is paused; no relay has a lane of it\n");
        assertThat(run("pause", "billing", "--reason", "again").err())
                .contains("is paused already, since ")
                .contains(" by ann: broker upgrade");
        assertThat(row(run("list", "-o", "json")).get("state").asString()).isEqualTo("paused");
        JsonNode shown = JsonMapper.shared()
                .readTree(run("show", "billing", "-o", "json").out());
        assertThat(shown.get("pausedBy").asString()).isEqualTo("ann");
        assertThat(shown.get("pauseReason").asString()).isEqualTo("broker upgrade");
        assertThat(run("resume", "billing", "--reason", "done").err()).contains("goes on; it was paused since ");
        assertThat(run("resume", "billing", "--reason", "done").err()).contains("is not paused");
        assertThat(count("audit where actor = 'ann' and action = 'subscription pause'"))
                .isEqualTo(1);
        assertThat(count("audit where actor = '" + System.getProperty("user.name") + "'"))
                .isEqualTo(1);
    }

    @Test
    void saysHowSoonLanesAreGivenBack() {
        try (Relay relay = relay(Subscription.named("billing").build())) {
            relay.runOnce();
            assertThat(run("pause", "billing", "--reason", "r").err())
                    .containsPattern(
                            "relays hear of it within [0-9.]+s, finish what is on its way and give 2 lanes back");
        }
    }

    @Test
    void showsASubscription() {
        sink.answer(message -> message.aggregateId().equals("second-3"), Outcome.retry("not now"));
        try (Relay relay = relay(Subscription.named("billing")
                .eventTypes("OrderConfirmed")
                .retry(RetryPolicy.named("linear"))
                .build())) {
            relay.runOnce();
            JsonNode shown = JsonMapper.shared()
                    .readTree(run("show", "billing", "-o", "json").out());
            assertThat(shown.get("state").asString()).isEqualTo("active");
            assertThat(shown.get("deliveries").get("waiting").asInt()).isEqualTo(1);
            assertThat(shown.get("laneStates").size()).isEqualTo(2);
            assertThat(shown.get("laneStates").get(0).get("ownerName").asString())
                    .isEqualTo("node-1");
            assertThat(shown.get("relays").get(0).asString()).isEqualTo("node-1");
            assertThat(shown.get("eventTypes").get(0).asString()).isEqualTo("OrderConfirmed");
            assertThat(shown.get("lagSeconds").isNumber()).isTrue();
            assertThat(run("show", "billing").out())
                    .contains("deliveries")
                    .contains("1 waiting")
                    .contains("node-1")
                    .doesNotContain("pausedBy");
        }
    }

    @Test
    void listsWhatNeedsAnOperator() {
        Subscription holding =
                Subscription.named("billing").onBurial(OnBurial.HOLD).build();
        sink.answer(message -> message.aggregateId().equals("second-3"), Outcome.rejected("never"));
        try (Relay relay = relay(holding)) {
            relay.runOnce();
            JsonNode row = row(run("list", "-o", "json"));
            assertThat(row.get("state").asString()).isEqualTo("active");
            assertThat(row.get("heldKeys").asLong()).isOne();
            assertThat(row.get("deadLetters").asLong()).isOne();
            database.execute("""
                    insert into postroom.circuit (subscription, relay, opened_at, probe_at, failures, error_class, error)
                    select 'billing', id, '2026-11-15T10:00:00Z', now(), 3, 'http.503', 'busy' from postroom.relay""");
            assertThat(row(run("list", "-o", "json")).get("state").asString()).isEqualTo("unavailable");
            JsonNode shown = JsonMapper.shared()
                    .readTree(run("show", "billing", "-o", "json").out());
            assertThat(shown.get("state").asString()).isEqualTo("unavailable");
            assertThat(shown.get("unavailableSince").asString()).isEqualTo("2026-11-15T10:00:00Z");
        }
        // What a relay saw that lives no more counts for nothing.
        assertThat(row(run("list", "-o", "json")).get("state").asString()).isEqualTo("unserved");
    }

    @Test
    void countsNoFurtherThanIsOfUse() {
        database.execute("""
                insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id, event_type,
                    event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)
                select 'subscription', 'billing', n, 1, gen_random_uuid(), 'order', 'o', 'OrderPaid', 1, '{}', now(), 'rejected', 1,
                    'http.422', 'no', 'f00d', 'node-1'
                from generate_series(1, 10100) as n""");
        assertThat(run("list").out()).contains("10000+");
        assertThat(row(run("list", "-o", "json")).get("deadLetters").asLong()).isEqualTo(10_000);
    }

    @Test
    void changesLanesItselfWhereNoRelayLives() {
        CommandRun run = run("lanes", "billing", "5", "--reason", "more", "-o", "jsonl");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out().lines()).hasSize(5);
        assertThat(run.err()).contains("subscription billing has 5 lanes, it had 2");
        assertThat(run("lanes", "billing", "5", "--reason", "more").err()).contains("has 5 lanes, as before");
        assertThat(run("lanes", "billing", "-o", "jsonl").out().lines()).hasSize(5);
    }

    @Test
    void waitsUntilARelayHasGivenItsLanesBack() {
        try (Relay relay = relay(Subscription.named("billing").build())) {
            relay.runOnce();
            CommandRun pending = run("lanes", "billing", "3", "--reason", "r", "--wait", "200ms");
            assertThat(pending.exitCode()).isEqualTo(5);
            assertThat(pending.err())
                    .contains("asked for 3 lanes of subscription billing; waiting until relays have given 2 lanes back")
                    .contains("still has 2 lanes, relays have not given 2 lanes back yet");
        }
        assertThat(run("lanes", "billing", "3", "--reason", "r").err()).contains("has 3 lanes, it had 2");
    }

    @Test
    void skipsWhatLiesBeforeAPoint() {
        CommandRun plan = run("skip", "billing", "--to", "16", "--dry-run", "-o", "json");
        assertThat(plan.exitCode()).isZero();
        assertThat(plan.err()).contains("would move 2 lanes of subscription billing past at most 5 positions");
        assertThat(JsonMapper.shared().readTree(plan.out()).values().stream()
                        .mapToLong(row -> row.get("messages").asLong())
                        .sum())
                .isEqualTo(5);
        assertThat(count("lane where position = 10")).isEqualTo(2);
        CommandRun run = run("skip", "billing", "--to", "16", "--reason", "only what is new", "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(count("lane where position = 15")).isEqualTo(2);
        assertThat(run("skip", "billing", "--to", "16", "--reason", "r", "--yes")
                        .err())
                .contains("nothing to skip: every lane of subscription billing is beyond position 15");
        relayOnce(Subscription.named("billing").build());
        assertThat(sink.attempts()).hasSize(5);
    }

    @Test
    void skipsASingleMessage() {
        Subscription patient =
                Subscription.named("billing").retry(RetryPolicy.named("linear")).build();
        List<Message> bad = Messages.sequence("bad", 3);
        sink.answer(message -> message.id().equals(bad.get(0).id()), Outcome.retry("not now"));
        publish(bad);
        relayOnce(patient);
        CommandRun run = run("skip", "billing", "--message", bad.get(0).id().toString(), "--reason", "gone");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err())
                .contains(
                        "the message at position 21 is skipped; it is kept as dead letter 1, discarded; 2 messages that waited");
        assertThat(run("skip", "billing", "--position", "21", "--reason", "gone")
                        .err())
                .contains("was skipped before; it is kept as dead letter 1");
        CommandRun none = run("skip", "billing", "--position", "1", "--reason", "gone");
        assertThat(none.exitCode()).isEqualTo(3);
        assertThat(none.err()).contains("it does not wait among the deliveries");
    }

    @Test
    void replaysAndSaysWhatHappensNext() {
        CommandRun plan = run("replay", "billing", "--from", "beginning", "--dry-run");
        assertThat(plan.err())
                .contains("would deliver positions 1 to 10 once more to subscription billing, in 2 lanes");
        CommandRun run = run("replay", "billing", "--from", "4", "--to", "8", "--reason", "r", "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).contains("postroom subscription show billing tells how far they are");
        assertThat(row(run("list", "-o", "json")).get("state").asString()).isEqualTo("replaying");
        CommandRun again = run("replay", "billing", "--from", "4", "--reason", "r", "--yes");
        assertThat(again.exitCode()).isEqualTo(1);
        assertThat(again.err())
                .contains("it replays already, lane 0 is at position 3 and ends at 8; wait, or skip the rest");
        relayOnce(Subscription.named("billing").build());
        assertThat(sink.attempts()).hasSize(15);
    }

    @Test
    void refusesToReplayWhatWasDropped() {
        database.execute(
                "insert into postroom.archive_day (day, first_position, last_position, passed_at, has_messages, dropped_at)"
                        + " values (current_date - 90, 1, 6, 6, true, now())");
        try {
            for (String copy : new String[] {"", " --as again"}) {
                CommandRun run = run(("replay billing --from 4 --reason r --yes" + copy).split(" "));
                assertThat(run.exitCode()).isEqualTo(1);
                assertThat(run.err())
                        .contains("it is to begin at position 4, but messages up to position 6 are gone")
                        .contains("say --from 7 to go without the others");
            }
            assertThat(count("lane where replay_to is not null")).isZero();
            assertThat(count("audit")).isZero();
            assertThat(run("replay", "billing", "--from", "7", "--dry-run").exitCode())
                    .isZero();
        } finally {
            database.execute("delete from postroom.archive_day");
        }
    }

    @Test
    void replaysAtARate() {
        run("replay", "billing", "--from", "4", "--rate", "6000/m", "--reason", "r", "--yes");
        assertThat(database.queryLong("select replay_rate from postroom.subscription"))
                .isEqualTo(100);
        assertThat(run("show", "billing").out()).containsPattern("replayRate +100.0");
    }

    @Test
    void replaysACopyThatCanBeRemovedWhenItIsDone() {
        CommandRun run = run("replay", "billing", "--from", "beginning", "--as", "again", "--reason", "r", "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(run.err())
                .contains("no relay serves billing at the moment; one that does will deliver positions 1 to 20 of")
                .contains("when it is done, postroom subscription remove again");
        relayOnce(Subscription.named("billing").build());
        relayOnce(Subscription.named("billing").build());
        assertThat(sink.attempts()).hasSize(30);
        assertThat(JsonMapper.shared()
                        .readTree(run("show", "again", "-o", "json").out())
                        .get("state")
                        .asString())
                .isEqualTo("done");
        CommandRun refused = run("remove", "billing", "--reason", "r", "--yes");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("it has a copy, again; remove that first");
        assertThat(run("remove", "again", "--reason", "r", "--yes").err()).contains("subscription again is removed");
    }

    @Test
    void listsAndReleasesHeldKeys() {
        Subscription holding =
                Subscription.named("billing").onBurial(OnBurial.HOLD).build();
        sink.answer(message -> Long.valueOf(1).equals(message.aggregateVersion()), Outcome.rejected("never"));
        publish(Messages.sequence("bad", 3));
        relayOnce(holding);
        JsonNode held = row(run("held", "billing", "-o", "json"));
        assertThat(held.get("aggregateId").asString()).isEqualTo("bad");
        assertThat(held.get("parked").asInt()).isEqualTo(2);
        String letter = held.get("deadLetter").asString();
        assertThat(row(run("deliveries", "billing", "--state", "held", "-o", "json"))
                        .get("aggregateId")
                        .asString())
                .isEqualTo("bad");
        CommandRun parked = run("deliveries", "billing", "--state", "parked", "--limit", "1", "-o", "json");
        assertThat(row(parked).get("state").asString()).isEqualTo("parked");
        assertThat(parked.err()).contains("there may be more: --after 22");
        assertThat(run("deliveries", "billing", "--state", "parked", "--after", "22", "-o", "json")
                        .out())
                .contains("parked");
        assertThat(run("deliveries", "billing", "--state", "lost").err())
                .contains("the state is lost, it is one of waiting, sending, parked");
        assertThat(run("deliveries", "nobody").exitCode()).isEqualTo(3);
        assertThat(run("held", "billing", "--limit", "1").err()).contains("there may be more: --after 21");
        assertThat(run("release", "billing", letter, "--reason", "r").err())
                .contains("order bad goes on, with 2 messages at once; dead letter " + letter + " stays open");
        assertThat(run("release", "billing", letter, "--reason", "r").err())
                .contains("does not hold order bad any more");
        assertThat(run("release", "billing", "999", "--reason", "r").exitCode()).isEqualTo(3);
        assertThat(run("held", "billing", "-o", "json").out()).isEqualTo("[]\n");
    }

    @Test
    void removesWithWhatIsLeft() {
        sink.answer(message -> message.aggregateId().equals("second-3"), Outcome.rejected("never"));
        relayOnce(Subscription.named("billing").build());
        JsonNode plan = row(run("remove", "billing", "--dry-run", "-o", "json"));
        assertThat(plan.get("deadLetters").asInt()).isEqualTo(1);
        CommandRun refused = run("remove", "billing", "--reason", "r", "--yes");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("it has 0 deliveries and 1 open dead letter;");
        assertThat(run("remove", "billing", "--with-deliveries", "--reason", "r", "--yes")
                        .exitCode())
                .isZero();
        assertThat(count("subscription")).isZero();
        assertThat(run("list", "-o", "json").out()).isEqualTo("[]\n");
    }

    @Test
    void skipsToWhereThePlanSaidThoughMoreHasCome() {
        CommandRun run = Interruption.when(
                "moving 2 lanes of subscription billing past at most 10 positions",
                () -> publish(Messages.ofManyKeys("late", 5)),
                database.url(),
                "subscription",
                "skip",
                "billing",
                "--to",
                "now",
                "--reason",
                "r",
                "--yes",
                "-o",
                "json");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(count("lane where position = 20")).isEqualTo(2);
        assertThat(JsonMapper.shared().readTree(run.out()).values().stream()
                        .mapToLong(row -> row.get("messages").asLong())
                        .sum())
                .isEqualTo(10);
        relayOnce(Subscription.named("billing").build());
        assertThat(sink.attempts()).hasSize(5);
    }

    @Test
    void replaysTheStretchOfThePlanThoughLanesHaveMoved() {
        CommandRun run = Interruption.when(
                "delivering positions 1 to 10 once more",
                () -> relayOnce(Subscription.named("billing").build()),
                database.url(),
                "subscription",
                "replay",
                "billing",
                "--from",
                "beginning",
                "--reason",
                "r",
                "--yes");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err())
                .contains(
                        "lanes had moved since the plan; asked for: positions 1 to 10 once more to subscription billing");
        assertThat(count("lane where replay_to = 10 and resume_at = 20")).isEqualTo(2);
        sink.forget();
        relayOnce(Subscription.named("billing").build());
        assertThat(sink.attempts()).hasSize(10);
    }

    @Test
    void replaysTheStretchOfThePlanAsACopy() {
        CommandRun run = Interruption.when(
                "delivering positions 1 to 20 of subscription billing once more, as again",
                () -> publish(Messages.ofManyKeys("late", 5)),
                database.url(),
                "subscription",
                "replay",
                "billing",
                "--from",
                "beginning",
                "--as",
                "again",
                "--reason",
                "r",
                "--yes");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(count("lane where subscription = 'again' and replay_to = 20"))
                .isEqualTo(2);
    }

    @Test
    void actsThoughNobodyReadsWhatItPrints() {
        CommandRun run = Interruption.unread(
                database.url(), "subscription", "skip", "billing", "--to", "now", "--reason", "r", "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(count("lane where position = 20")).isEqualTo(2);
        run = Interruption.unread(
                database.url(), "subscription", "replay", "billing", "--from", "4", "--reason", "r", "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(count("lane where replay_to is not null")).isEqualTo(2);
        run = Interruption.unread(database.url(), "subscription", "remove", "billing", "--reason", "r", "--yes");
        assertThat(run.exitCode()).isZero();
        assertThat(count("subscription")).isZero();
    }

    @Test
    void printsWhatBecameOfASingleMessage() {
        List<Message> bad = Messages.sequence("bad", 1);
        sink.answer(message -> message.id().equals(bad.get(0).id()), Outcome.retry("not now"));
        publish(bad);
        relayOnce(
                Subscription.named("billing").retry(RetryPolicy.named("linear")).build());
        JsonNode skipped =
                row(run("skip", "billing", "--message", bad.get(0).id().toString(), "--reason", "gone", "-o", "json"));
        assertThat(skipped.get("position").asLong()).isEqualTo(21);
        assertThat(skipped.get("deadLetter").asLong()).isOne();
        assertThat(skipped.get("already").asBoolean()).isFalse();
    }

    private void relayOnce(Subscription subscription) {
        try (Relay relay = relay(subscription)) {
            relay.runOnce();
        }
    }

    private Relay relay(Subscription subscription) {
        // A new one: the last test's remembers how far its journal was.
        return Postroom.on(database.dataSource())
                .relay()
                .name("node-1")
                .lease(Duration.ofSeconds(15))
                .deliver(subscription, sink)
                .build();
    }

    private static void publish(List<Message> messages) {
        Postroom postroom = Postroom.on(database.dataSource());
        postroom.database().transact(tx -> postroom.outbox().publishAll(tx, messages));
        postroom.journal().stampAll();
    }

    private static JsonNode row(CommandRun run) {
        return JsonMapper.shared().readTree(run.out()).get(0);
    }

    private static long count(String table) {
        return database.queryLong("select count(*) from postroom." + table);
    }

    private static CommandRun run(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "subscription";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), all);
    }
}
