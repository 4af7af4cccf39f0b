package io.postroom.lock;

import io.postroom.PostroomException;
import io.postroom.retry.Backoff;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that one node of many runs at a time, under a lease. Each node that has one waits for the lease on a thread of its own and runs
 * the work there; when the node that runs it dies, another goes on after the lease has run out.
 *
 * <p>Work is meant to go on until it is interrupted, which happens when this is closed and when the lease is lost. If it returns or
 * throws, the lease is given back and after a pause the work begins anew, here or elsewhere. It never runs twice at once in one process,
 * and on two nodes only if one of them stood still past its lease or does not heed the interrupt: {@link Lease#requireHeld} and
 * {@link Lease#fence} are for that. Safe for use by many threads.
 */
public final class OneNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OneNode.class);
    private static final Duration LOOK_MAX = Duration.ofSeconds(1);
    private static final Duration PAUSE_MAX = Duration.ofMinutes(1);

    /** What is done on one node. */
    @FunctionalInterface
    public interface Work {
        /** Goes on until its thread is interrupted. {@code lease} is what it runs under. */
        void run(Lease lease) throws Exception;
    }

    private final Locks locks;
    private final String name;
    private final LeaseTerms terms;
    private final Work work;
    /** The same for every try: if the answer to one was lost, the next gets what that one took. */
    private final UUID holder = UUID.randomUUID();

    private final Backoff pauses;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Thread thread;
    private final Object lock = new Object();
    private @Nullable Lease current;
    private int failures;
    private boolean failing;

    OneNode(Locks locks, String name, LeaseTerms terms, Work work) {
        this.locks = locks;
        this.name = name;
        this.terms = terms;
        this.work = work;
        this.pauses = new Backoff(look(), PAUSE_MAX);
        this.thread = new Thread(this::loop, "postroom-one-node " + name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Whether the work runs here, now. */
    public boolean isRunning() {
        synchronized (lock) {
            return current != null;
        }
    }

    /**
     * Interrupts the work, waits until it has ended, for as long as a lease at most, and gives the lease back. Work that does not end in
     * time keeps its lease until it does.
     */
    @Override
    public void close() {
        closing.countDown();
        synchronized (lock) {
            if (current != null) {
                thread.interrupt();
            }
        }
        if (thread == Thread.currentThread()) {
            return;
        }
        try {
            thread.join(terms.lease().toMillis());
            if (thread.isAlive()) {
                LOG.warn(
                        "the work of {} has not ended within {} s of being interrupted; its lease is kept until it does",
                        LockName.shown(name),
                        terms.lease().toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends when this is closed. */
    private void loop() {
        while (!isClosing()) {
            Duration pause = look();
            try {
                Optional<Lease> lease = locks.tryLease(name, terms, holder);
                failing = false;
                if (lease.isPresent()) {
                    pause = run(lease.get());
                }
            } catch (PostroomException e) {
                if (!failing) {
                    failing = true;
                    LOG.warn(
                            "could not try to take lease {}: {}; it is tried again",
                            LockName.shown(name),
                            e.getMessage());
                }
            }
            rest(pause);
        }
    }

    /** Returns how long to wait before the next try. */
    private Duration run(Lease lease) {
        try (lease) {
            enter(lease);
            LOG.info("runs {} here now, with fence {}", LockName.shown(name), lease.fence());
            work.run(lease);
            failures = 0;
        } catch (Throwable e) {
            // An Error too: nobody would ever try again, and the lease would be kept for nothing.
            if (isClosing() || !lease.isHeld()) {
                LOG.info("stopped {} here: {}", LockName.shown(name), String.valueOf(e));
            } else {
                failures++;
                LOG.warn("the work of {} failed; it is begun anew", LockName.shown(name), e);
            }
        } finally {
            leave();
        }
        return pauses.after(Math.max(1, failures));
    }

    private void enter(Lease lease) {
        synchronized (lock) {
            current = lease;
            if (isClosing()) {
                thread.interrupt();
            }
        }
        lease.onLost(() -> {
            synchronized (lock) {
                if (current == lease) {
                    thread.interrupt();
                }
            }
        });
    }

    private void leave() {
        synchronized (lock) {
            current = null;
            // What was meant for the work must not hit what comes after it.
            Thread.interrupted();
        }
    }

    private void rest(Duration pause) {
        try {
            closing.await(pause.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // Nobody but us knows this thread; it ends when it is told to.
            LOG.debug("interrupted while at rest");
        }
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    private Duration look() {
        Duration third = terms.third();
        return third.compareTo(LOOK_MAX) < 0 ? third : LOOK_MAX;
    }
}
