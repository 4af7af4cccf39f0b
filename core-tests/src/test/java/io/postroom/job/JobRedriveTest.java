package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.GroupBy;
import io.postroom.deadletter.JsonPatch;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.RedriveState;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs that failed are dead letters like any other. */
class JobRedriveTest {
    private static Workshop shop;
    private static DeadLetters letters;

    private final AtomicBoolean well = new AtomicBoolean();
    private final Kind kind = Kind.of(
                    "work",
                    job -> well.get() || job.payload().contains("fixed")
                            ? JobOutcome.done()
                            : JobOutcome.failed("broken"))
            .retry(RetryPolicy.parse("linear step=1ms cap=1ms attempts=2"));

    @BeforeAll
    static void open() {
        shop = new Workshop();
        letters = shop.postroom.deadLetters();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
    }

    private static Redrive redrive(RedriveAction action, @Nullable JsonPatch patch, @Nullable Integer canary)
            throws InterruptedException {
        RedriveRequest request = new RedriveRequest(
                UUID.randomUUID(),
                action,
                DeadLetterFilter.ofQueue("default"),
                patch,
                null,
                canary,
                "ann",
                "it works again");
        letters.redrives().request(request);
        return letters.redrives().run(request.id(), progress -> {});
    }

    @Test
    void aRedrivenJobRunsAgainUnderItsIdWithItsAttemptsCountedAnew() throws InterruptedException {
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("work", "{\"a\":1}")
                    .priority(7)
                    .tenantId("acme")
                    .deadline(Duration.ofSeconds(77))
                    .retry("quick attempts=4")
                    .header("a", "b"));
            shop.awaitState(id, "failed");
            long fence = shop.database.queryLong("select fence from postroom.job_done where id = " + id);
            well.set(true);
            Redrive done = redrive(RedriveAction.REDRIVE, null, null);
            assertThat(done.done()).isEqualTo(1);
            shop.awaitState(id, "done");
            assertThat(shop.rows(
                            "select priority, tenant_id, payload, headers, attempt, retry, attempts_max, deadline, fence > "
                                    + fence + " from postroom.job_done where id = " + id + " and state = 'done'"))
                    .containsExactly("7|acme|{\"a\":1}|{\"a\":\"b\"}|1|quick attempts=4|4|00:01:17|t");
            assertThat(redrive(RedriveAction.REDRIVE, null, null).total())
                    .as("nothing is left")
                    .isZero();
        }
    }

    @Test
    void aPatchedJobRunsWithTheNewPayloadAndAFailingOneIsANewDeadLetter() throws InterruptedException {
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long fixed = shop.enqueue(Job.of("work", "{\"a\":\"x\"}"));
            long array = shop.enqueue(Job.of("work", "[]"));
            shop.awaitState(fixed, "failed");
            shop.awaitState(array, "failed");
            JsonPatch patch = JsonPatch.parse("[{\"op\":\"replace\",\"path\":\"/a\",\"value\":\"fixed\"}]");
            Redrive first = redrive(RedriveAction.REDRIVE, patch, null);
            assertThat(first.done()).isEqualTo(1);
            assertThat(first.skipped()).as("the patch does not fit the other").isEqualTo(1);
            shop.awaitState(fixed, "done");
            Redrive second = redrive(RedriveAction.REDRIVE, null, null);
            assertThat(second.done()).isEqualTo(1);
            Workshop.await(
                    () -> "it fails again",
                    () -> shop.database.queryLong("select count(*) from postroom.job_done where id = " + array) == 2);
            assertThat(letters.list(DeadLetterFilter.ALL, null, 10)).hasSize(1).allSatisfy(row -> {
                assertThat(row.position()).isEqualTo(array);
                assertThat(letters.get(row.id()).orElseThrow().origin()).isNotNull();
            });
        }
    }

    @Test
    void aCanaryThatFailsAgainStopsTheRest() throws InterruptedException {
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            List<Long> ids = shop.enqueueAll(List.of(
                    Job.of("work", "1").build(),
                    Job.of("work", "2").build(),
                    Job.of("work", "3").build()));
            for (long id : ids) {
                shop.awaitState(id, "failed");
            }
            Redrive stopped = redrive(RedriveAction.REDRIVE, null, 1);
            assertThat(stopped.state()).isEqualTo(RedriveState.STOPPED);
            assertThat(stopped.done()).isEqualTo(1);
            well.set(true);
            assertThat(redrive(RedriveAction.REDRIVE, null, 1).state()).isEqualTo(RedriveState.DONE);
            for (long id : ids) {
                shop.awaitState(id, "done");
            }
        }
    }

    @Test
    void aDiscardedJobStaysFailed() throws InterruptedException {
        try (Workers workers = shop.workers().queue("default", 1).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("work", "{}"));
            shop.awaitState(id, "failed");
            assertThat(redrive(RedriveAction.DISCARD, null, null).done()).isEqualTo(1);
            assertThat(shop.state(id)).isEqualTo("failed");
            assertThat(shop.rows("select * from postroom.job")).isEmpty();
        }
    }

    /** A message at a position that happens to be the id of a job that failed, of a queue named like its subscription. */
    @Test
    void aRelayDoesNotTakeADeadJobForADeadMessage() {
        try (Workers workers = shop.workers().queue("billing", 1).handle(kind).build()) {
            workers.start();
            for (int i = 0; i < 3; i++) {
                shop.enqueue(Job.of("work", "{}").queue("billing"));
            }
            Workshop.await(
                    () -> "three failed",
                    () -> shop.database.queryLong("select count(*) from postroom.dead_letter") == 3);
        }
        long last = shop.database.queryLong("select max(position) from postroom.dead_letter");
        List<String> seen = new ArrayList<>();
        shop.postroom
                .database()
                .transact(tx -> shop.postroom.outbox().publishAll(tx, Messages.sequence("order", (int) last + 2)));
        try (Relay relay = shop.postroom
                .relay()
                .handle(Subscription.named("billing").lanes(2).build(), envelope -> seen.add("" + envelope.position()))
                .build()) {
            relay.runOnce();
        }
        assertThat(seen).hasSize((int) last + 2);
    }

    @Test
    void aFilterOfASubscriptionMeansNoJobsOfAQueueOfThatName() throws InterruptedException {
        try (Workers workers = shop.workers().queue("billing", 1).handle(kind).build()) {
            workers.start();
            long id = shop.enqueue(Job.of("work", "{}").queue("billing"));
            shop.awaitState(id, "failed");
        }
        RedriveRequest request = new RedriveRequest(
                UUID.randomUUID(),
                RedriveAction.DISCARD,
                DeadLetterFilter.ofOwner("billing"),
                null,
                null,
                null,
                "ann",
                "old messages");
        letters.redrives().request(request);
        assertThat(letters.redrives().run(request.id(), progress -> {}).total()).isZero();
        assertThat(letters.list(DeadLetterFilter.ofOwner("billing"), null, 10)).isEmpty();
        assertThat(letters.list(DeadLetterFilter.ofQueue("billing"), null, 10)).hasSize(1);
        assertThat(letters.plan(DeadLetterFilter.ofQueue("billing")).letters()).isEqualTo(1);
        assertThat(letters.groups(DeadLetterFilter.ofQueue("billing"), Set.of(GroupBy.OWNER), 10))
                .singleElement()
                .satisfies(group -> assertThat(group.ofJobs()).isTrue());
    }
}
