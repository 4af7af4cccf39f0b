package io.postroom.source.kafka;

import io.postroom.source.Arrival;
import io.postroom.source.Reception;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles the records of one partition on a thread of its own, batch by batch, so that a partition whose message is tried again holds up
 * no other and the consumer goes on polling.
 */
final class PartitionWork implements Reception.Caller {
    private static final Logger LOG = LoggerFactory.getLogger(PartitionWork.class);

    private final TopicPartition partition;
    private final Reception reception;
    private final Runnable changed;
    private final CountDownLatch abandoned = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> over;

    /** Guarded by this: the batch in hand, and how much of it is done. */
    private List<ConsumerRecord<byte[], byte[]>> records = List.of();

    private long end;
    private int done;
    private boolean busy;
    /** Everything before this offset is handled; negative: nothing is known of it. */
    private volatile long handled = -1;

    private volatile long committed = -1;
    private final Thread thread;

    /** @param over where it says what ended it, if it was not abandoned */
    PartitionWork(
            TopicPartition partition,
            Reception reception,
            Runnable changed,
            AtomicReference<@Nullable Throwable> over) {
        this.partition = partition;
        this.reception = reception;
        this.changed = changed;
        this.over = over;
        this.thread = new Thread(this::run, "postroom-" + reception.consumer() + "-" + partition);
        thread.setDaemon(true);
        thread.start();
    }

    /** Gives it the next records, of which {@code end} is the offset that follows. It has none in hand. */
    synchronized void give(List<ConsumerRecord<byte[], byte[]>> next, long end) {
        if (busy) {
            throw new IllegalStateException(partition + " has records in hand");
        }
        this.records = next;
        this.end = end;
        this.done = 0;
        this.busy = true;
        notifyAll();
    }

    /** Whether it wants records. */
    synchronized boolean isIdle() {
        return !busy;
    }

    /** There is nothing for it before this offset: what lies there nobody is shown. */
    synchronized void reached(long offset) {
        if (!busy) {
            handled = Math.max(handled, offset);
        }
    }

    /** The offset to tell the broker, if it is not told yet; else a negative one. */
    long toCommit() {
        return handled > committed ? handled : -1;
    }

    void committed(long offset) {
        committed = Math.max(committed, offset);
    }

    /** It is to handle nothing more; a transaction that is open comes to its end. */
    void abandon() {
        abandoned.countDown();
        synchronized (this) {
            notifyAll();
        }
    }

    /** Waits for the end of what it was at. Returns whether that came in time. */
    boolean join(Duration patience) throws InterruptedException {
        thread.join(Math.max(1, patience.toMillis()));
        return !thread.isAlive();
    }

    /** Ends when it is abandoned, or when somebody else serves, or else in a way that nobody foresaw. */
    private void run() {
        try {
            while (goesOn()) {
                List<Arrival> arrivals;
                synchronized (this) {
                    while (!busy && goesOn()) {
                        wait();
                    }
                    arrivals = records.stream().map(RecordReader::read).toList();
                }
                if (!goesOn()) {
                    return;
                }
                reception.receive(arrivals, this);
                finish();
            }
        } catch (Throwable e) {
            // An Error, too: nobody else would notice that this partition goes no further.
            over.compareAndSet(null, e);
            changed.run();
        }
    }

    private synchronized void finish() {
        if (done == records.size()) {
            // Beyond the last record there may be others that nobody is shown.
            handled = Math.max(handled, end);
            busy = false;
            changed.run();
        }
    }

    @Override
    public boolean goesOn() {
        return abandoned.getCount() > 0;
    }

    @Override
    public void pause(Duration time) throws InterruptedException {
        if (abandoned.await(time.toNanos(), TimeUnit.NANOSECONDS)) {
            LOG.debug("{} is given up", partition);
        }
    }

    @Override
    public synchronized void handled(int arrivals) {
        done += arrivals;
        handled = records.get(done - 1).offset() + 1;
    }
}
