package io.postroom.source;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after projections that hang. PostgreSQL ends their transaction when its deadline is over, but not what they wait for elsewhere;
 * their thread would keep its partition for ever, and nobody would be told. Safe for use by many threads.
 */
final class Watch {
    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);

    private final String consumer;
    private final Duration deadline;
    private final Map<Thread, Stay> stays = new ConcurrentHashMap<>();

    Watch(String consumer, Duration deadline) {
        this.consumer = consumer;
        this.deadline = deadline;
    }

    /** A thread that is in the projection. */
    private static final class Stay {
        private final Thread thread;
        private final Application.Item first;
        private final long beganNanos = System.nanoTime();
        private long saidNanos = beganNanos;
        private boolean over;

        private Stay(Thread thread, Application.Item first) {
            this.thread = thread;
            this.first = first;
        }
    }

    /** This thread goes into the projection, with this message first. */
    void enter(Application.Item first) {
        stays.put(Thread.currentThread(), new Stay(Thread.currentThread(), first));
    }

    /** This thread is back. No interrupt of this watch comes later; one that came is taken away. */
    void leave() {
        Stay stay = stays.remove(Thread.currentThread());
        if (stay != null) {
            synchronized (stay) {
                stay.over = true;
            }
            Thread.interrupted();
        }
    }

    /** Interrupts those that have been there for longer than the deadline, and says so, each time it has passed once more. */
    void look() {
        long now = System.nanoTime();
        stays.values().forEach(stay -> look(stay, now));
    }

    private void look(Stay stay, long now) {
        synchronized (stay) {
            if (stay.over || now - stay.saidNanos < deadline.toNanos()) {
                return;
            }
            stay.saidNanos = now;
            stay.thread.interrupt();
        }
        LOG.error(
                "projection of consumer {} has not come back for {} s from a batch that begins with message {} from {}; the deadline is"
                        + " {} s. Its thread is interrupted and nothing of it takes effect, but its partition waits until it comes back",
                consumer,
                Duration.ofNanos(now - stay.beganNanos).toSeconds(),
                stay.first.envelope().message().id(),
                stay.first.arrival().place(),
                deadline.toSeconds());
    }
}
