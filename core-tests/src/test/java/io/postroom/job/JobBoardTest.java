package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs and queues as operators see them. */
class JobBoardTest {
    private static Workshop shop;
    private static JobBoard board;

    @BeforeAll
    static void open() {
        shop = new Workshop();
        board = shop.postroom.jobBoard();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
    }

    @Test
    void listsWhatFitsTheNewestFirstPageByPage() {
        long done = shop.enqueue(Job.of("a", "{}"));
        Hand hand = new Hand(shop, "hand", Kind.of("a", job -> JobOutcome.done()));
        hand.complete(hand.claim(1));
        long mail = shop.enqueue(Job.of("b", "{}").queue("mail").tenantId("acme"));
        long later = shop.enqueue(Job.of("a", "{}").runAfter(Duration.ofHours(1)));
        assertThat(ids(JobFilter.ALL, null, 10)).containsExactly(later, mail, done);
        assertThat(ids(JobFilter.ALL, null, 2)).containsExactly(later, mail);
        assertThat(ids(JobFilter.ALL, mail, 2)).containsExactly(done);
        assertThat(ids(new JobFilter("mail", null, null, null, null), null, 10)).containsExactly(mail);
        assertThat(ids(new JobFilter(null, "a", JobState.READY, null, null), null, 10))
                .containsExactly(later);
        assertThat(ids(new JobFilter(null, null, JobState.DONE, null, null), null, 10))
                .containsExactly(done);
        assertThat(ids(new JobFilter(null, null, null, "acme", null), null, 10)).containsExactly(mail);
        assertThat(board.queues())
                .extracting(JobQueue::name, JobQueue::ready, JobQueue::waiting, JobQueue::workers)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("default", 0L, 1L, 1L),
                        org.assertj.core.groups.Tuple.tuple("mail", 1L, 0L, 0L));
    }

    /** Ids are far apart, as after a year: a list looks through some of them at a time. */
    @Test
    void aPageEndsWithAllEndsOfItsLastJobAndMissesNothing() {
        shop.database.execute("""
                insert into postroom.job_done (id, queue, kind, priority, payload, state, run_at, attempt, fence, created_at, ended_by)
                select id, 'default', 'rare', 100, '{}', 'done', clock_timestamp(), 1, 1, clock_timestamp(), 'me'
                from unnest(array[7, 100000, 3000000, 3000000, 3000000, 9000000]) as id""", """
                insert into postroom.job (id, queue, kind, payload) overriding system value
                values (3, 'default', 'rare', '{}'), (200000, 'default', 'rare', '{}'), (9000001, 'default', 'rare', '{}')""");
        JobFilter rare = new JobFilter(null, "rare", null, null, null);
        assertThat(ids(rare, null, 100))
                .containsExactly(
                        9_000_001L, 9_000_000L, 3_000_000L, 3_000_000L, 3_000_000L, 200_000L, 100_000L, 7L, 3L);
        assertThat(ids(rare, null, 3)).containsExactly(9_000_001L, 9_000_000L, 3_000_000L, 3_000_000L, 3_000_000L);
        assertThat(ids(rare, 3_000_000L, 3)).containsExactly(200_000L, 100_000L, 7L);
        assertThat(ids(rare, 7L, 3)).containsExactly(3L);
        assertThat(ids(new JobFilter(null, "none", null, null, null), null, 3)).isEmpty();
    }

    private static List<Long> ids(JobFilter filter, Long before, int limit) {
        return board.list(filter, before, limit).stream().map(JobDetails::id).toList();
    }

    @Test
    void aRetryBringsBackWhatFailedAndHurriesWhatWaits() {
        AtomicBoolean well = new AtomicBoolean();
        long later =
                shop.enqueue(Job.of("a", "{}").runAfter(Duration.ofHours(1)).queue("other"));
        assertThat(board.retry(later, "ann", "now")).isEqualTo(Retried.HURRIED);
        assertThat(board.retry(later, "ann", "now")).isEqualTo(Retried.UNDER_WAY);
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("a", job -> well.get() ? JobOutcome.done() : JobOutcome.failed("broken"))
                .build()) {
            workers.start();
            long failed = shop.enqueue(Job.of("a", "{}"));
            shop.awaitState(failed, "failed");
            well.set(true);
            assertThat(board.retry(failed, "ann", "fixed")).isEqualTo(Retried.REDRIVEN);
            shop.awaitState(failed, "done");
            assertThat(board.retry(failed, "ann", "fixed")).isEqualTo(Retried.ENDED);
            assertThatThrownBy(() -> board.retry(failed + 1_000, "ann", "?"))
                    .extracting("code")
                    .isEqualTo("job.unknown");
        }
    }

    @Test
    void aHandlerSaysHowFarItIs() throws InterruptedException {
        CountDownLatch seen = new CountDownLatch(1);
        try (Workers workers = shop.workers()
                .queue("default", 1)
                .handle("long", job -> {
                    job.progress(0.25, "a \"quarter\"");
                    seen.await();
                    return JobOutcome.done("{\"rows\":7}");
                })
                .build()) {
            workers.start();
            long id = shop.enqueue(Job.of("long", "{}"));
            Workshop.await(
                    () -> "its progress is there",
                    () -> board.find(id).orElseThrow().progress() != null);
            assertThat(board.find(id).orElseThrow().progress())
                    .isEqualTo("{\"share\":0.25,\"note\":\"a \\\"quarter\\\"\"}");
            seen.countDown();
            shop.awaitState(id, "done");
            assertThat(board.find(id).orElseThrow().result()).isEqualTo("{\"rows\":7}");
        }
    }
}
