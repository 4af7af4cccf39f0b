package io.postroom.source;

import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How it goes with the messages in hand: how many go together, what failed and how often. For one thread. */
final class Course {
    /** A batch that PostgreSQL ends so often in a row, because of what others do at the same time, is made smaller. */
    private static final int DISTURBED_MAX = 5;

    /** A message alone that it ends for so long is taken for the one at fault. */
    private static final long BLAMED_AFTER_NANOS = Duration.ofMinutes(1).toNanos();

    private final String consumer;
    private final String node;
    private final RetryPolicy retry;
    private final int batchMax;
    private Trial trial;
    private int max;
    private int failures;
    private int disturbed;
    private long disturbedNanos;
    private @Nullable Outage outage;
    private boolean counted;

    Course(String consumer, String node, RetryPolicy retry, int batchMax) {
        this.consumer = consumer;
        this.node = node;
        this.retry = retry;
        this.batchMax = batchMax;
        this.max = batchMax;
        this.trial = new Trial(retry, node, 0);
    }

    /** The attempts at the message that comes next. */
    Trial trial() {
        return trial;
    }

    /** How many go together at most. */
    int max() {
        return max;
    }

    /** Of so many one was at fault: fewer go together. */
    void halve(int messages) {
        max = Math.max(1, messages / 2);
    }

    /** Counts a failure; returns how many there were in a row. */
    int failed() {
        return ++failures;
    }

    Outage outage(Application.Item first) {
        Outage now = outage == null ? new Outage(consumer, first.arrival().place()) : outage;
        outage = now;
        return now;
    }

    /** The next message has nothing to do with what became of the last one. */
    void begin() {
        trial = new Trial(retry, node, 0);
        failures = 0;
        disturbed = 0;
        outage = null;
        counted = false;
    }

    /** Others have tried the next message so often before. */
    void resume(int attempts) {
        trial = new Trial(retry, node, attempts);
    }

    /** Whether the attempt at the next message is to be counted before it is made; it is, once. */
    boolean isToBeCounted() {
        boolean first = !counted;
        counted = true;
        return first;
    }

    void goesWell() {
        begin();
        max = Math.min(batchMax, max * 2);
    }

    /** Whether it is the message's fault that PostgreSQL ends its transaction again and again. Fewer at once meet others less often. */
    boolean isBlamed(int messages, long now) {
        if (disturbed++ == 0) {
            disturbedNanos = now;
        }
        if (messages > 1) {
            if (disturbed % DISTURBED_MAX == 0) {
                halve(messages);
            }
            return false;
        }
        return now - disturbedNanos > BLAMED_AFTER_NANOS;
    }
}
