package io.postroom.relay;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.postroom.fault.CapturedLog;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.retry.Reaction;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A handler calls a host for each tenant, and cannot connect: to one that is gone, which is the fault of that tenant's messages alone,
 * or to any, which is an outage.
 */
class OwnDestinationTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final RuntimeException REFUSED = new UncheckedIOException(new ConnectException("refused"));
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.builder()
            .linear(Duration.ofHours(1))
            .jitter(0)
            .attemptsMax(3)
            .build();

    private final RecordingSink sink = new RecordingSink();
    private final AtomicInteger published = new AtomicInteger();
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aMessageWhoseHostIsGoneIsBuriedAfterItsAttemptsWhileOthersGoOn(int lanes) throws Exception {
        sink.fail(about("gone"), REFUSED);
        publish(Messages.sequence("gone", 2));
        try (Relay relay = relay(lanes, RetryPolicy.STANDARD)) {
            relay.start();
            await(() -> {
                publishGood();
                return count("dead_letter") == 2;
            });
            await(() -> sink.accepted().size() == published.get());
            await(() -> count("circuit") == 0 && count("delivery") == 0);
        }
        assertThat(count("dead_letter where aggregate_id = 'gone' and cause = 'exhausted' and attempts = 5"
                        + " and error_class = 'java.net.ConnectException' and jsonb_array_length(history) = 5"))
                .isEqualTo(2);
        assertThat(sink.accepted()).as("nothing is repeated").doesNotHaveDuplicates();
    }

    /** Many of its messages lie before the first that can be delivered. */
    @Test
    void aTenantWhoseHostIsGoneHoldsUpNobodyForLong() throws Exception {
        sink.fail(message -> message.aggregateId().startsWith("gone"), REFUSED);
        publish(Messages.ofManyKeys("gone", 8));
        publish(Messages.ofManyKeys("good", 50));
        try (Relay relay = relay(1, RetryPolicy.STANDARD)) {
            relay.start();
            sink.awaitAccepted(50, PATIENCE);
            await(() -> {
                publishGood();
                return count("dead_letter where aggregate_id like 'gone%' and attempts = 5") == 8;
            });
        }
        assertThat(count("dead_letter")).isEqualTo(8);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anOutageCountsNoAttemptKeepsTheOrderOfKeysAndEndsByItself(int lanes) throws Exception {
        sink.fail(message -> true, REFUSED);
        publish(interleaved(6, 4));
        try (Relay relay = relay(lanes, RetryPolicy.STANDARD)) {
            relay.start();
            // Far more than the attempts of the policy, had each of them counted.
            sink.awaitAttempts(60, PATIENCE);
            assertThat(sink.attempts().stream()
                            .map(each -> each.message().aggregateId())
                            .distinct())
                    .as("one after the other finds out")
                    .hasSize(6);
            await(() -> count("circuit where failures > 10 and error_class = 'java.net.ConnectException'") == 1);
            assertThat(count("dead_letter")).isZero();
            assertThat(count("attempt")).isZero();
            assertThat(count("delivery")).as("they wait in memory").isZero();
            sink.mend();
            sink.awaitAccepted(24, PATIENCE);
            await(() -> count("circuit") == 0 && count("delivery") == 0);
        }
        assertThat(sink.attempts()).extracting(Envelope::attempt).containsOnly(1);
        assertThat(sink.accepted()).as("nothing is repeated").hasSize(24);
        for (int key = 0; key < 6; key++) {
            assertThat(sink.accepted("key-" + key))
                    .extracting(Message::aggregateVersion)
                    .containsExactly(1L, 2L, 3L, 4L);
        }
        assertThat(count("dead_letter")).isZero();
    }

    @Test
    void anOutageIsSaidWhenItBeginsAndWhenItIsOverNotByEveryProbe() throws Exception {
        sink.fail(message -> true, REFUSED);
        publish(interleaved(6, 1));
        String log;
        try (CapturedLog captured = new CapturedLog()) {
            try (Relay relay = relay(1, RetryPolicy.STANDARD)) {
                relay.start();
                sink.awaitAttempts(100, PATIENCE);
                sink.mend();
                sink.awaitAccepted(6, PATIENCE);
                await(() -> count("circuit") == 0);
            }
            log = captured.text();
        }
        assertThat(log.lines().filter(line -> line.contains("the destination takes nothing")))
                .as("it begins, and goes on for some seconds")
                .hasSizeBetween(1, 5);
        assertThat(log.lines().filter(line -> line.contains("the destination of subscription tenants answers again")))
                .singleElement(as(STRING))
                .matches(".* it took nothing for [0-9.]+ s");
    }

    /** As often as it likes: whoever was turned away goes first when the destination is back. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anOutageAfterTheOtherCountsNoAttemptEither(int lanes) throws Exception {
        try (Relay relay = relay(lanes, RetryPolicy.STANDARD)) {
            relay.start();
            for (int outage = 1; outage <= 4; outage++) {
                sink.fail(message -> true, REFUSED);
                publish(interleaved(4, 2));
                int before = sink.attempts().size();
                sink.awaitAttempts(before + 12, PATIENCE);
                sink.mend();
                sink.awaitAccepted(outage * 8, PATIENCE);
                await(() -> count("circuit") == 0);
            }
        }
        assertThat(sink.attempts()).extracting(Envelope::attempt).containsOnly(1);
        assertThat(count("attempt")).isZero();
        assertThat(count("dead_letter")).isZero();
    }

    /** Nothing else is to be read: the one that has waited for its next attempt must find out. */
    @Test
    void whatIsDueIsAProbeToo() throws Exception {
        sink.answer(about("late"), Outcome.retry("not now"), 1);
        publish(List.of(Messages.order("late")));
        try (Relay relay = relay(1, IN_AN_HOUR)) {
            relay.runOnce();
        }
        sink.fail(about("gone"), REFUSED);
        publish(List.of(Messages.order("gone")));
        try (Relay relay = relay(1, IN_AN_HOUR)) {
            relay.start();
            await(() -> count("circuit") == 1);
            database.execute("update postroom.delivery set due_at = now()");
            sink.awaitAccepted(1, PATIENCE);
            await(() -> count("delivery where attempts = 1 and error_class = 'java.net.ConnectException'") == 1);
            await(() -> count("circuit") == 0);
        }
    }

    /** Whoever says so themselves is believed. */
    @Test
    void anErrorThatThePolicyCallsUnavailableIsNobodysFault() throws Exception {
        RetryPolicy told = RetryPolicy.builder()
                .immediate(3)
                .attemptsMax(3)
                .on(ConnectException.class, Reaction.unavailable())
                .build();
        sink.fail(about("gone"), REFUSED);
        publish(List.of(Messages.order("gone")));
        publish(Messages.ofManyKeys("good", 5));
        try (Relay relay = relay(3, told)) {
            relay.start();
            await(() -> sink.attempts().stream()
                            .filter(each -> each.message().aggregateId().equals("gone"))
                            .count()
                    > 10);
        }
        assertThat(count("attempt")).isZero();
        assertThat(count("dead_letter")).isZero();
    }

    private Relay relay(int lanes, RetryPolicy retry) {
        return database.postroom()
                .relay()
                .lease(Duration.ofSeconds(3))
                .probe(Duration.ofMillis(10), Duration.ofMillis(40))
                .deliver(Subscription.named("tenants").lanes(lanes).retry(retry).build(), sink)
                .build();
    }

    private void publishGood() {
        try {
            publish(List.of(Messages.order("fine-" + published.incrementAndGet())));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
    }

    /** The first messages of all keys, then the second ones, and so on. */
    private static List<Message> interleaved(int keys, int versions) {
        List<Message> messages = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            messages.addAll(Messages.sequence("key-" + key, versions));
        }
        messages.sort(Comparator.comparing(Message::aggregateVersion));
        return messages;
    }

    private static Predicate<Message> about(String key) {
        return message -> message.aggregateId().equals(key);
    }

    private long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
