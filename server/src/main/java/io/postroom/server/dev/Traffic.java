package io.postroom.server.dev;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.job.Jobs;
import io.postroom.message.Message;
import io.postroom.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Applications at work: threads that change business rows, publish and enqueue, at a given rate, until closed. */
final class Traffic implements AutoCloseable {
    static final int RATE_MAX = 20_000;

    private static final Logger LOG = LoggerFactory.getLogger(Traffic.class);
    private static final int RATE_PER_WRITER = 100;
    private static final int WRITERS_MAX = 8;
    private static final int ROLLBACK_PERCENT = 3;
    private static final Duration RECOVERY = Duration.ofSeconds(1);

    private final DataSource dataSource;
    private final Outbox outbox;
    private final Jobs jobs;
    private final Business business;
    private final long intervalNanos;
    private final LongAdder committed = new LongAdder();
    private final LongAdder rolledBack = new LongAdder();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<Thread> writers = new ArrayList<>();

    private Traffic(DataSource dataSource, Postroom postroom, Business business, int rate) {
        this.dataSource = dataSource;
        this.outbox = postroom.outbox();
        this.jobs = postroom.jobs();
        this.business = business;
        int count = writers(rate);
        this.intervalNanos = rate == 0 ? Long.MAX_VALUE : TimeUnit.SECONDS.toNanos(count) / rate;
        for (int i = 0; i < count; i++) {
            writers.add(new Thread(this::write, "demo-writer-" + i));
        }
    }

    /** Begins with so many transactions a second; none at rate zero. */
    static Traffic start(DataSource dataSource, Postroom postroom, Business business, int rate) {
        Traffic traffic = new Traffic(dataSource, postroom, business, rate);
        traffic.writers.forEach(Thread::start);
        return traffic;
    }

    /** How many threads, and connections, a rate takes. */
    static int writers(int rate) {
        return Math.min(WRITERS_MAX, (rate + RATE_PER_WRITER - 1) / RATE_PER_WRITER);
    }

    long committed() {
        return committed.sum();
    }

    long rolledBack() {
        return rolledBack.sum();
    }

    /** Waits for transactions under way. */
    @Override
    public void close() {
        closed.countDown();
        for (Thread writer : writers) {
            try {
                writer.join(RECOVERY.multipliedBy(5).toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends when closed; trouble with the database makes it try again. */
    private void write() {
        Duration rest = Duration.ZERO;
        while (!isClosedAfter(rest.toNanos())) {
            rest = RECOVERY;
            try (Connection tx = dataSource.getConnection()) {
                tx.setAutoCommit(false);
                writeOn(tx);
            } catch (SQLException | PostroomException e) {
                LOG.warn("a demo transaction failed: {}; trying again", e.getMessage());
            }
        }
    }

    private void writeOn(Connection tx) throws SQLException {
        long next = System.nanoTime();
        while (!isClosedAfter(next - System.nanoTime())) {
            Message message = business.step(tx);
            outbox.publish(tx, message);
            if (message.eventType().equals(Business.ORDER_PLACED)) {
                jobs.enqueue(tx, DemoWorkers.receipt(message));
            }
            if (ThreadLocalRandom.current().nextInt(100) < ROLLBACK_PERCENT) {
                tx.rollback();
                rolledBack.increment();
            } else {
                tx.commit();
                committed.increment();
            }
            // What a slow moment has cost is not caught up in a burst.
            next = Math.max(next + intervalNanos, System.nanoTime() - intervalNanos);
        }
    }

    private boolean isClosedAfter(long nanos) {
        try {
            return closed.await(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
