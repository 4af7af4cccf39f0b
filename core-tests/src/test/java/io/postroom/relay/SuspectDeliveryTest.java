package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Messages that were on their way when a relay ended: which of them is given up for it. */
class SuspectDeliveryTest {
    private static final String NAME = "suspects";
    private static final int ATTEMPTS = 3;
    private static final int LANES = 2;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final List<Process> processes = new ArrayList<>();
    private TestDatabase database;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
    }

    @AfterEach
    void drop() {
        processes.forEach(Process::bury);
        database.close();
    }

    @Test
    void oneThatWasNotAloneIsNeverGivenUp() throws Exception {
        leaveSending(100, false);
        RecordingSink sink = runOnce();
        assertThat(sink.accepted()).hasSize(1);
        assertThat(sink.attempts()).allMatch(each -> each.attempt() == 101);
        assertThat(count("dead_letter")).isZero();
    }

    @Test
    void oneThatWasAloneIsGivenUpWhenItIsOutOfAttempts() throws Exception {
        leaveSending(ATTEMPTS, true);
        RecordingSink sink = runOnce();
        assertThat(sink.attempts()).isEmpty();
        assertThat(count("dead_letter where cause = 'crashed' and attempts = " + ATTEMPTS))
                .isEqualTo(1);
    }

    @Test
    void oneThatWasAloneIsSentAgainWhileItHasAttempts() throws Exception {
        leaveSending(ATTEMPTS - 1, true);
        RecordingSink sink = runOnce();
        assertThat(sink.accepted()).hasSize(1);
        assertThat(count("dead_letter")).isZero();
    }

    /** Those behind a message that was on its way are free before the suspect goes; they wait for it all the same. */
    @Test
    void theOneThatIsSentAloneGoesBeforeWhatIsLinedUp() throws Exception {
        Subscription single = Subscription.named("single").lanes(1).build();
        RecordingSink sink = new RecordingSink();
        publish(List.of(Messages.order("suspect")));
        sink.answer(message -> true, Outcome.retry("not now", Duration.ofHours(1)), 1);
        try (Relay relay = database.postroom().relay().deliver(single, sink).build()) {
            relay.runOnce();
        }
        database.execute("update postroom.delivery set due_at = now() + interval '1 hour', crashes = 1");
        sink.forget();
        sink.hang(message -> Long.valueOf(1).equals(message.aggregateVersion()));
        try (Relay relay = database.postroom()
                .relay()
                .lease(Duration.ofMillis(600))
                .deliver(single, sink)
                .build()) {
            relay.start();
            publish(Messages.sequence("busy", 3));
            sink.awaitAttempts(1, PATIENCE);
            database.execute("update postroom.delivery set due_at = now() where crashes = 1");
            await(() -> count("delivery where state = 'sending' and crashes = 1") == 1);
            sink.release();
            sink.awaitAccepted(4, PATIENCE);
        }
        assertThat(sink.attempts())
                .extracting(each -> each.message().aggregateId())
                .containsExactly("busy", "suspect", "busy", "busy");
    }

    /** It was to be sent alone, but another was still on its way when the process ended. */
    @Test
    void oneThatWaitedToBeAloneIsNotGivenUp() throws Exception {
        publish(List.of(Messages.order("suspect")));
        runOnce(new RecordingSink().answer(message -> true, Outcome.retry("not now", Duration.ofHours(1)), 1));
        database.execute("update postroom.delivery set due_at = now() + interval '1 hour', crashes = 1, attempts = "
                + (ATTEMPTS - 1));
        Process process = start();
        publish(List.of(Messages.order("hung")));
        process.await(process.hungSent);
        database.execute("update postroom.delivery set due_at = now()");
        await(() -> count("delivery where state = 'sending' and crashes = 1") == 1);
        process.end();
        expireLeases();
        RecordingSink sink = runOnce();
        assertThat(count("dead_letter")).isZero();
        assertThat(sink.accepted()).hasSize(2);
    }

    /** The slow one is under suspicion and out of attempts; the others are new each time, and end the process when they are sent. */
    @Test
    void aSlowOneIsNotGivenUpForWhatOthersDo() throws Exception {
        publish(List.of(Messages.order("slow")));
        int deaths = 0;
        while (processes.stream().noneMatch(process -> process.answered)) {
            assertThat(deaths).as("deaths while the slow one was on its way").isLessThan(2 * ATTEMPTS);
            Process process = start();
            process.await(process.slowSent);
            // Of both lanes.
            publish(Messages.ofManyKeys(process.deadly, 8));
            process.await(process.died);
            process.end();
            deaths++;
            assertThat(count("dead_letter"))
                    .as("given up after %s deaths", deaths)
                    .isZero();
        }
        assertThat(deaths).as("it was out of attempts").isGreaterThanOrEqualTo(ATTEMPTS);
        assertThat(processes.get(processes.size() - 1).sentBesideTheSlowOne)
                .as("sent while the one under suspicion was on its way")
                .isEmpty();
        expireLeases();
        RecordingSink sink = new RecordingSink();
        try (Relay relay = database.postroom()
                .relay()
                .lease(Duration.ofSeconds(2))
                .deliver(subscription(), sink)
                .build()) {
            relay.start();
            await(() -> count("delivery") == 0
                    && count("lane where position = (select max(position) from postroom.journal)") == LANES);
        }
        assertThat(count("dead_letter")).isZero();
        assertThat(sink.accepted())
                .as("it was done before the last death")
                .noneMatch(message -> message.aggregateId().equals("slow"));
    }

    /** It was sent alone and accepted; the next of its lane ends the process at once. */
    @Test
    void oneThatHasComeThroughIsNotBlamedForTheNext() throws Exception {
        publish(List.of(Messages.order("slow")));
        runOnce(new RecordingSink().answer(message -> true, Outcome.retry("not now", Duration.ofHours(1)), 1));
        database.execute("update postroom.delivery set due_at = now(), crashes = 1, attempts = " + (ATTEMPTS - 1));
        Process process = start();
        process.await(process.slowSent);
        publish(Messages.ofManyKeys(process.deadly, 8));
        process.await(process.died);
        process.end();
        assertThat(process.answered).isTrue();
        expireLeases();
        RecordingSink sink = runOnce();
        assertThat(count("dead_letter")).isZero();
        assertThat(sink.accepted())
                .as("sent again")
                .noneMatch(message -> message.aggregateId().equals("slow"));
    }

    /** A message that was being sent when its relay ended. */
    private void leaveSending(int attempts, boolean alone) throws SQLException {
        publish(List.of(Messages.order("any")));
        RecordingSink sink = new RecordingSink();
        sink.answer(message -> true, Outcome.retry("not now", Duration.ofHours(1)), 1);
        runOnce(sink);
        database.execute(
                """
                update postroom.delivery set state = 'sending', due_at = null, sending_since = now(), sending_by = 'dead', attempts = %d,
                    crashes = %d, alone = %s""".formatted(attempts, attempts, alone),
                "update postroom.lane set owner = gen_random_uuid(), leased_until = now() - interval '1 second'");
    }

    private RecordingSink runOnce() {
        RecordingSink sink = new RecordingSink();
        runOnce(sink);
        return sink;
    }

    private void runOnce(Sink sink) {
        try (Relay relay =
                database.postroom().relay().deliver(subscription(), sink).build()) {
            relay.runOnce();
        }
    }

    private static Subscription subscription() {
        return Subscription.named(NAME)
                .lanes(LANES)
                .retry(RetryPolicy.builder()
                        .linear(Duration.ofMillis(1))
                        .attemptsMax(ATTEMPTS)
                        .build())
                .build();
    }

    private void expireLeases() {
        database.execute(
                "update postroom.relay set leased_until = now() - interval '1 second'",
                "update postroom.lane set leased_until = now() - interval '1 second' where owner is not null");
    }

    private Process start() {
        expireLeases();
        Process process = new Process();
        processes.add(process);
        process.relay.start();
        return process;
    }

    /** A relay with connections of its own. When it has died nothing of it goes on: its sink does not return, and it has no database. */
    private final class Process implements Sink {
        final CountDownLatch slowSent = new CountDownLatch(1);
        final CountDownLatch hungSent = new CountDownLatch(1);
        final CountDownLatch died = new CountDownLatch(1);
        final List<Envelope> sentBesideTheSlowOne = new CopyOnWriteArrayList<>();
        volatile boolean answered;
        /** What ends this process; the next one it does nothing. */
        private final String deadly = "deadly-" + processes.size();

        private final CountDownLatch end = new CountDownLatch(1);
        private final HikariDataSource pool = TestDatabase.pool(database.url(), 8);
        private final Relay relay = Postroom.on(pool)
                .relay()
                .lease(Duration.ofSeconds(2))
                .stopGrace(Duration.ZERO)
                .settleInterval(Duration.ZERO)
                .deliver(subscription(), this)
                .build();

        @Override
        public CompletionStage<Outcome> send(Envelope envelope) {
            if (envelope.message().aggregateId().equals("hung")) {
                hungSent.countDown();
                return new CompletableFuture<>();
            }
            if (envelope.message().aggregateId().equals("slow")) {
                slowSent.countDown();
                return CompletableFuture.supplyAsync(
                        this::answer, CompletableFuture.delayedExecutor(400, TimeUnit.MILLISECONDS));
            }
            if (!envelope.message().aggregateId().startsWith(deadly)) {
                return Outcome.acceptedStage();
            }
            if (!answered) {
                sentBesideTheSlowOne.add(envelope);
            }
            died.countDown();
            awaitDeaf(end);
            throw new IllegalStateException("dead");
        }

        private Outcome answer() {
            if (died.getCount() == 0) {
                awaitDeaf(end);
            }
            answered = true;
            return Outcome.accepted();
        }

        void await(CountDownLatch latch) throws InterruptedException {
            assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }

        void end() {
            pool.close();
        }

        /** Lets its threads go. */
        void bury() {
            end();
            end.countDown();
            relay.close();
        }
    }

    private void publish(List<Message> messages) throws SQLException {
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, messages);
            tx.commit();
        }
        database.postroom().journal().stampAll();
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

    private static void awaitDeaf(CountDownLatch latch) {
        while (latch.getCount() > 0) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                // Deaf.
            }
        }
    }
}
