package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class OneNodeTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration SHORT = LeaseTerms.LEASE_MIN;

    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static Locks node() {
        return new Locks(database.postroom().database());
    }

    /** Goes on until it is interrupted. */
    private static void forever() throws InterruptedException {
        new CountDownLatch(1).await();
    }

    @Test
    void oneRunsItAndAnotherGoesOnWhenThatOneIsClosed() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        OneNode.Work work = lease -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            try {
                forever();
            } finally {
                inside.decrementAndGet();
            }
        };
        try (OneNode first = node().oneNode("handover", LONG, work);
                OneNode second = node().oneNode("handover", LONG, work)) {
            Patience.await("one runs it", () -> first.isRunning() || second.isRunning());
            OneNode running = first.isRunning() ? first : second;
            OneNode waiting = running == first ? second : first;
            assertThat(waiting.isRunning()).isFalse();
            running.close();
            assertThat(running.isRunning()).as("close waits for its end").isFalse();
            Patience.await("the other runs it, without waiting for a lease to run out", waiting::isRunning);
        }
        assertThat(inside.get()).isZero();
        assertThat(most.get()).isEqualTo(1);
    }

    @Test
    void workIsInterruptedWhenItsLeaseIsLostAndBegunAnew() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        AtomicReference<Lease> lease = new AtomicReference<>();
        try (OneNode node = node().oneNode("lost", SHORT, own -> {
            lease.set(own);
            try {
                forever();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
        })) {
            Patience.await("it runs", () -> lease.get() != null);
            Lease lost = lease.get();
            database.execute(
                    "update postroom.lease set fence = fence + 1, leased_until = clock_timestamp() where name = 'lost'");
            assertThat(interrupted.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            Patience.await("it runs again", () -> lease.get() != lost && node.isRunning());
            assertThat(lease.get().fence()).isGreaterThan(lost.fence());
        }
    }

    @Test
    void workThatReturnsThrowsOrEndsBadlyIsBegunAnew() throws Exception {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch fourth = new CountDownLatch(1);
        try (OneNode node = node().oneNode("again", LONG, lease -> {
            switch (runs.incrementAndGet()) {
                case 1 -> {}
                case 2 -> throw new IllegalStateException("thrown for the test");
                case 3 -> throw new StackOverflowError("thrown for the test");
                default -> {
                    fourth.countDown();
                    forever();
                }
            }
        })) {
            assertThat(fourth.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(node.isRunning()).isTrue();
        }
    }

    /** What does not heed its interrupt keeps its lease, and with it the others out, until it ends. */
    @Test
    void workThatDoesNotEndIsNotBegunElsewhere() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger meanwhile = new AtomicInteger();
        OneNode stubborn = node().oneNode("stubborn", LONG, lease -> {
            inside.incrementAndGet();
            boolean done = false;
            while (!done) {
                try {
                    done = go.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    interrupted.countDown();
                }
            }
            inside.decrementAndGet();
        });
        Patience.await("it runs", () -> inside.get() == 1);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(stubborn::close);
        assertThat(interrupted.await(Patience.LONG.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        try (OneNode next = node().oneNode("stubborn", LONG, lease -> {
            meanwhile.addAndGet(inside.get());
            forever();
        })) {
            assertThat(node().tryLease("stubborn", LONG)).isEmpty();
            assertThat(next.isRunning()).isFalse();
            assertThat(stubborn.isRunning()).isTrue();
            assertThat(closed).isNotDone();
            go.countDown();
            closed.get(Patience.LONG.toSeconds(), TimeUnit.SECONDS);
            Patience.await("it runs elsewhere", next::isRunning);
        }
        assertThat(stubborn.isRunning()).isFalse();
        assertThat(meanwhile.get()).isZero();
    }

    @Test
    void workMayCloseItself() throws Exception {
        AtomicReference<OneNode> own = new AtomicReference<>();
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch known = new CountDownLatch(1);
        own.set(node().oneNode("itself", LONG, lease -> {
            known.await();
            runs.incrementAndGet();
            own.get().close();
        }));
        known.countDown();
        Patience.await(
                "it has given its lease back",
                () -> runs.get() == 1
                        && database.queryLong(
                                        "select count(*) from postroom.lease where name = 'itself' and holder is null")
                                == 1);
        own.get().close();
        assertThat(runs.get()).isEqualTo(1);
    }
}
