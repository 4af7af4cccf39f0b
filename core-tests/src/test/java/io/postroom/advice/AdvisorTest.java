package io.postroom.advice;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AdvisorTest {
    @Test
    void advisesOnWhatItMeasures() throws SQLException {
        try (TestDatabase database = TestDatabase.create()) {
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("a", 500));
                tx.commit();
            }
            try (Relay relay = database.postroom()
                    .relay()
                    .deliver(Subscription.named("billing").lanes(2).build(), new RecordingSink())
                    .build()) {
                relay.runOnce();
            }
            // Rates are those of whole minutes: the journal began more than one ago, and less than two.
            database.execute("update postroom.tick set at = now() - interval '70 seconds' where position = 0");
            Figures figures = database.postroom().advisor().measure();
            assertThat(figures.messagesPerSecond()).isBetween(8.3, 8.4);
            assertThat(figures.peakPerSecond()).isGreaterThanOrEqualTo(figures.messagesPerSecond());
            assertThat(figures.payloadBytes()).isPositive();
            assertThat(figures.consumers()).isEqualTo(1);
            assertThat(figures.relays()).isZero();
            assertThat(figures.delay99()).isNotNull();
            assertThat(figures.walBytesPerSecond()).isPositive();
            assertThat(figures.storage().bytes()).isPositive();
            assertThat(figures.subscriptions())
                    .singleElement()
                    .satisfies(flow -> assertThat(flow.name()).isEqualTo("billing"));
            List<Advice> advice = database.postroom().advisor().advise(Wishes.NONE);
            assertThat(advice).extracting(Advice::topic).containsExactly(Topic.values());
            assertThat(advice).allSatisfy(each -> assertThat(each.reasons()).isNotEmpty());
            assertThat(advice)
                    .filteredOn(each -> each.urgency() == Advice.Urgency.ACT)
                    .isEmpty();
        }
    }

    @Test
    void aLaneThatStandsStillIsTheSlowest() throws SQLException {
        try (TestDatabase database = TestDatabase.create()) {
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("a", 200));
                tx.commit();
            }
            database.postroom().journal().stampAll();
            database.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 2)",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 100), ('billing', 1, 200)",
                    "insert into postroom.settlement (subscription, lane, position, at, node) values"
                            + " ('billing', 0, 0, now() - interval '10 seconds', 'n'), ('billing', 0, 100, now(), 'n')");
            assertThat(outPerSecond(database))
                    .as("the other has nothing before it")
                    .isBetween(9.9, 10.1);
            database.execute("update postroom.lane set position = 7 where lane = 1");
            assertThat(outPerSecond(database)).isZero();
        }
    }

    @Test
    void aRateIsThatOfTheLastMinuteUntilNow() throws SQLException {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute(
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 1000)",
                    "insert into postroom.settlement (subscription, lane, position, at, node) values"
                            + " ('billing', 0, 0, now() - interval '100 seconds', 'n'), ('billing', 0, 1000, now() - interval '90 seconds', 'n')");
            assertThat(outPerSecond(database)).as("nothing for a minute").isZero();
            database.execute("insert into postroom.settlement (subscription, lane, position, at, node) values"
                    + " ('billing', 0, 1600, now() - interval '30 seconds', 'n')");
            assertThat(outPerSecond(database)).isBetween(9.9, 10.1);
        }
    }

    @Test
    void saysNothingOfLanesWhileTheDestinationTakesNothing() throws SQLException {
        try (TestDatabase database = TestDatabase.create()) {
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("a", 200));
                tx.commit();
            }
            database.postroom().journal().stampAll();
            database.execute(
                    "update postroom.tick set at = now() - interval '5 minutes'",
                    "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                    "insert into postroom.relay (id, name, subscriptions, leased_until) values"
                            + " ('00000000-0000-4000-8000-000000000001', 'r', '{billing}', now() + interval '1 hour')",
                    "insert into postroom.lane (subscription, lane, position, owner, leased_until) values ('billing', 0, 1,"
                            + " '00000000-0000-4000-8000-000000000001', now() + interval '1 hour')");
            assertThat(lanes(database)).isEqualTo(Advice.Urgency.ACT);
            database.execute(
                    "insert into postroom.circuit (subscription, relay, probe_at, failures, error_class, error) values"
                            + " ('billing', '00000000-0000-4000-8000-000000000001', now(), 11, 'unavailable', 'connection refused')");
            assertThat(lanes(database)).isEqualTo(Advice.Urgency.STAY);
        }
    }

    private static Advice.Urgency lanes(TestDatabase database) {
        return database.postroom().advisor().advise(Wishes.NONE).stream()
                .filter(each -> each.topic() == Topic.LANES)
                .findFirst()
                .orElseThrow()
                .urgency();
    }

    private static double outPerSecond(TestDatabase database) {
        return database.postroom().advisor().measure().subscriptions().get(0).outPerSecond();
    }

    @Test
    void saysNothingForeignOfAnEmptyDatabase() {
        try (TestDatabase database = TestDatabase.create()) {
            Figures figures = database.postroom().advisor().measure();
            assertThat(figures.messagesPerSecond()).isZero();
            assertThat(figures.delay99()).isNull();
            assertThat(database.postroom().advisor().advise(Wishes.NONE))
                    .filteredOn(each -> each.urgency() != Advice.Urgency.STAY)
                    .isEmpty();
        }
    }

    @Test
    void everyTopicHasItsSectionAndEverySectionItsTopic() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        assertThat(Pattern.compile("(?m)^### (PR-A\\d{3})\\b")
                        .matcher(Files.readString(root.resolve("docs/operating/advise.md")))
                        .results()
                        .map(match -> match.group(1)))
                .containsExactlyElementsOf(
                        Stream.of(Topic.values()).map(Topic::id).toList());
    }
}
