package io.postroom.source.kafka;

import io.postroom.source.Arrival;
import io.postroom.source.Mark;
import io.postroom.source.Progress;
import io.postroom.source.Reception;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
    private final RecordReader reader;
    private final Runnable changed;
    private final CountDownLatch abandoned = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> over;

    /** Guarded by this: the batch in hand, and how much of it is done. */
    private List<ConsumerRecord<byte[], byte[]>> records = List.of();

    private long end;
    private int done;
    private boolean busy;
    /** Everything before this offset is handled. */
    private volatile long handled;

    /** How far the database knows it to be. */
    private volatile long kept;

    /** The count of leaders when the record before {@link #kept} was written. */
    private volatile @Nullable Long epoch;

    private volatile long committed = -1;

    /** So many of those that come next are tried alone. */
    private int suspects;

    private final Thread thread;

    /**
     * @param begun where it begins; the broker is told that, too
     * @param suspects how many of those that come next may have ended the process that had it before
     * @param over where it says what ended it, if it was not abandoned
     */
    PartitionWork(
            TopicPartition partition,
            Progress begun,
            int suspects,
            Reception reception,
            RecordReader reader,
            Runnable changed,
            AtomicReference<@Nullable Throwable> over) {
        this.partition = partition;
        this.handled = begun.next();
        this.kept = begun.next();
        this.epoch = begun.epoch();
        this.suspects = suspects;
        this.reception = reception;
        this.reader = reader;
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

    /** How far the database knows it to be: it never knows of less, unless it has lost commits. */
    long kept() {
        return kept;
    }

    /** The count of leaders when the record before was written, if it is known. */
    Optional<Integer> epoch() {
        Long known = epoch;
        return known == null ? Optional.empty() : Optional.of(known.intValue());
    }

    /** What is to be noted before the broker is told: offsets that hold nothing for us. Null: nothing. */
    synchronized @Nullable Mark passed() {
        return !busy && handled > kept ? new Mark(Partitions.name(partition), kept, handled, epoch) : null;
    }

    synchronized void kept(long offset) {
        kept = Math.max(kept, offset);
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
                    arrivals = records.stream().map(reader::read).toList();
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
    public synchronized Mark mark(int arrivals) {
        int until = done + arrivals;
        // Beyond the last record there may be others that nobody is shown.
        long next = until == records.size() ? end : records.get(until - 1).offset() + 1;
        return new Mark(Partitions.name(partition), kept, next, epoch(records.get(until - 1)));
    }

    private static @Nullable Long epoch(ConsumerRecord<byte[], byte[]> record) {
        return record.leaderEpoch().map(Integer::longValue).orElse(null);
    }

    @Override
    public synchronized void overtaken(long next) {
        kept = next;
    }

    @Override
    public synchronized void handled(int arrivals) {
        Mark mark = mark(arrivals);
        done += arrivals;
        kept = Math.max(kept, mark.next());
        epoch = mark.epoch();
        handled = mark.next();
        suspects = Math.max(0, suspects - arrivals);
    }

    @Override
    public synchronized int suspects() {
        return suspects;
    }

    /** Whether nothing of it is open. */
    boolean isOver() {
        return !thread.isAlive();
    }
}
