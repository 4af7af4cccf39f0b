package io.postroom.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator with many dead letters: a tenth of the 100,000 for which it is promised; all of them in a long run, and in the benchmarks. */
class ManyLettersTest {
    private static final int LETTERS = Boolean.getBoolean("postroom.long") ? 100_000 : 10_000;
    private static final int CONFLICTS = 17;
    private static final Duration PREVIEW_MAX = Duration.ofSeconds(2);
    private static final Duration CANCEL_MAX = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final DeadLetterFilter ALL = DeadLetterFilter.ofOwner("many");

    private TestDatabase database;
    private Postroom postroom;

    @BeforeEach
    void bury() {
        database = TestDatabase.create();
        postroom = database.postroom();
        publish(LETTERS);
        deliver(envelope -> CompletableFuture.completedFuture(Outcome.rejected("no")));
        publish(CONFLICTS);
        deliver(envelope -> Outcome.acceptedStage());
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void thePreviewIsSoonThereAndFindsTheKeysThatHaveSeenNewerMessagesAndNoOthers() {
        long began = System.nanoTime();
        RedrivePlan plan = postroom.deadLetters().plan(ALL);
        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .as("the first one")
                .isLessThan(PREVIEW_MAX);
        assertThat(postroom.deadLetters().plan(ALL)).isEqualTo(plan);
        assertThat(plan.letters()).isEqualTo(LETTERS);
        assertThat(plan.conflicts().exact()).isTrue();
        assertThat(plan.conflicts().keys()).isEqualTo(CONFLICTS);
        assertThat(plan.conflicts().samples())
                .allMatch(key -> Integer.parseInt(key.replace("order o-", "")) <= CONFLICTS);
    }

    @Test
    void aCancelledRedriveEndsSoonAndRedrivesNothingMore() throws Exception {
        Redrives redrives = postroom.deadLetters().redrives();
        Redrive redrive = redrives.request(
                RedriveRequest.redrive(ALL).actor("ann").reason("a test").build());
        CompletableFuture<Redrive> run = CompletableFuture.supplyAsync(() -> run(redrive));
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (redrives.get(redrive.request().id()).done() == 0) {
            assertThat(System.nanoTime() - deadline).as("in time").isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        redrives.cancel(redrive.request().id(), "ann", "enough");
        Redrive ended = within(run, CANCEL_MAX);
        assertThat(ended.state()).isEqualTo(RedriveState.CANCELLED);
        assertThat(ended.done()).isPositive().isLessThan(LETTERS);
        assertThat(database.queryLong("select count(*) from postroom.dead_letter where resolution = 'redriven'"))
                .isEqualTo(ended.done());
        assertThat(redrives.stepAll()).isZero();
        assertThat(database.queryLong("select count(*) from postroom.delivery")).isEqualTo(ended.done());
    }

    private static Redrive within(CompletableFuture<Redrive> run, Duration time)
            throws InterruptedException, ExecutionException, TimeoutException {
        return run.get(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Redrive run(Redrive redrive) {
        try {
            return postroom.deadLetters().redrives().run(redrive.request().id(), progress -> {});
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void deliver(Sink sink) {
        try (Relay relay = postroom.relay()
                .deliver(Subscription.named("many").lanes(4).build(), sink)
                .build()) {
            // One round has its time, and may not be enough for all.
            do {
                relay.runOnce();
            } while (database.queryLong(
                            "select (select max(position) from postroom.tick) - min(position) from postroom.lane")
                    > 0);
        }
    }

    private void publish(int keys) {
        database.execute(
                "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload)"
                        + " select gen_random_uuid(), 'order', 'o-' || n, 'OrderPlaced', '{}' from generate_series(1, "
                        + keys
                        + ") as n",
                "analyze postroom.outbox");
    }
}
