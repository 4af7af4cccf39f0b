package io.postroom.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of one queue, and the claimed jobs that wait for them: as many as keep the threads busy for a moment, so that short jobs
 * need not wait for the next claim and long ones do not lie here while others are idle.
 */
final class Crew {
    private static final Logger LOG = LoggerFactory.getLogger(Crew.class);

    /** For so long there is work at hand. */
    private static final long AHEAD_NANOS = 25_000_000;

    /** How many jobs wait in memory or are being claimed at most: some are at hand while both claimers fetch. And about how large they are together. */
    private static final int AHEAD_MAX = 4_000;

    private static final long AHEAD_SIZE_MAX = 2 * ClaimTable.BYTES_MAX;

    /** Whoever waits longer than this is given back: all threads are busy, and another process may have one. */
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    /** A handler that was interrupted because of its deadline may take as long again to return, within these. */
    private static final Duration DEAF_AFTER_MIN = Duration.ofMillis(100);

    private static final Duration DEAF_AFTER_MAX = Duration.ofSeconds(5);

    /** How many threads may hang in handlers; when there are more, no other takes their place. */
    private static final int HUNG_MAX = 16;

    private static final long IDLE_MILLIS = 200;

    private final String queue;
    private final int threads;
    private final Runner runner;
    private final Completer completer;
    private final Runnable hungry;
    private final BlockingQueue<ClaimedJob> waiting = new LinkedBlockingQueue<>();
    private final Set<Run> runs = ConcurrentHashMap.newKeySet();
    /** Jobs that wait or run here, or are being claimed for it. */
    private final AtomicInteger load = new AtomicInteger();

    /** How large those are that wait. */
    private final AtomicLong waitingSize = new AtomicLong();

    private final AtomicInteger started = new AtomicInteger();
    private final List<Thread> hung = new ArrayList<>();
    /** How long a job takes, about. Written without care by many threads: about is enough. */
    private volatile long averageNanos = AHEAD_NANOS;

    private volatile boolean stopped;

    /** {@code hungry} is run when there is room for more. */
    Crew(String queue, int threads, Runner runner, Completer completer, Runnable hungry) {
        this.queue = queue;
        this.threads = threads;
        this.runner = runner;
        this.completer = completer;
        this.hungry = hungry;
    }

    String queue() {
        return queue;
    }

    void start() {
        for (int i = 0; i < threads; i++) {
            startThread();
        }
    }

    /** Whether there is room for more. */
    boolean wantsMore() {
        return wanted() > 0;
    }

    /** How many jobs to claim, no more than {@code most}; none while enough is at hand. They count from now on, until they are given or released. */
    synchronized int reserve(int most) {
        int wanted = Math.min(wanted(), most);
        load.addAndGet(wanted);
        return wanted;
    }

    /** Nothing was claimed for a reservation. */
    void release(int reserved) {
        load.addAndGet(-reserved);
    }

    /** Takes what was claimed for a reservation; gives it back if it was stopped meanwhile. */
    void give(List<ClaimedJob> jobs, int reserved) {
        load.addAndGet(jobs.size() - reserved);
        waitingSize.addAndGet(jobs.stream().mapToLong(ClaimedJob::size).sum());
        waiting.addAll(jobs);
        if (stopped) {
            handBack();
        }
    }

    /** Begins nothing more, and gives back what has not begun. */
    void stopTaking() {
        stopped = true;
        handBack();
    }

    Set<Run> runs() {
        return runs;
    }

    /** Whether nothing waits or runs here, or is being claimed. */
    boolean isIdle() {
        return load.get() == 0;
    }

    /** Interrupts whoever is over the deadline, and gives up on whoever does not hear it. For one thread, which does not wait. */
    void watch() {
        boolean room = completer.hasRoom(waiting.size() + threads);
        ClaimedJob oldest = waiting.peek();
        if (room && oldest != null && System.nanoTime() - oldest.claimedNanos() > PATIENCE_NANOS) {
            // Jobs are longer than they were: nothing is claimed ahead until some have come to their end.
            averageNanos = Math.max(averageNanos, PATIENCE_NANOS);
            handBack();
        }
        for (Run run : runs) {
            if (run.isOverdue()) {
                run.interrupt(Run.Why.DEADLINE);
                if (room && run.isDeafFor(patience(run))) {
                    replace(run);
                }
            }
        }
    }

    private static Duration patience(Run run) {
        Duration least = run.deadline().compareTo(DEAF_AFTER_MIN) < 0 ? DEAF_AFTER_MIN : run.deadline();
        return least.compareTo(DEAF_AFTER_MAX) > 0 ? DEAF_AFTER_MAX : least;
    }

    private void replace(Run run) {
        hung.removeIf(thread -> !thread.isAlive());
        if (hung.size() >= HUNG_MAX) {
            return;
        }
        if (runner.giveUp(run)) {
            runs.remove(run);
            hung.add(run.thread());
            load.decrementAndGet();
            LOG.error(
                    "the handler of {} hangs over its deadline, {}; its thread {} is left alone and another takes its place",
                    run.job(),
                    run.deadline(),
                    run.thread().getName());
            startThread();
        }
    }

    private void handBack() {
        List<ClaimedJob> back = new ArrayList<>();
        load.addAndGet(-waiting.drainTo(back));
        waitingSize.addAndGet(-back.stream().mapToLong(ClaimedJob::size).sum());
        back.forEach(job -> completer.submit(Ended.handBack(job)));
    }

    private void startThread() {
        Threads.start("postroom-job-" + queue + "-" + started.incrementAndGet(), this::work);
    }

    /** Ends when the crew is stopped, or when somebody has given up on this thread. */
    private void work() {
        try {
            while (!stopped) {
                ClaimedJob job = waiting.poll(IDLE_MILLIS, TimeUnit.MILLISECONDS);
                if (job != null && !work(job)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            LOG.warn("a thread of queue {} was interrupted by a stranger and ends", queue, e);
            startThread();
        }
    }

    private boolean work(ClaimedJob job) {
        waitingSize.addAndGet(-job.size());
        long began = System.nanoTime();
        try {
            if (!runner.run(job, runs)) {
                return false;
            }
        } catch (RuntimeException | Error e) {
            // Handlers throw into the runner's hands; this is trouble of our own, and must not cost a thread.
            LOG.error("could not run {}; it goes back", job, e);
            completer.submit(Ended.handBack(job));
        }
        load.decrementAndGet();
        averageNanos += (System.nanoTime() - began - averageNanos) / 16;
        if (waiting.size() <= ahead() / 2) {
            hungry.run();
        }
        return true;
    }

    private int wanted() {
        int ahead = ahead();
        boolean enough = waiting.size() > ahead / 2 || waitingSize.get() > AHEAD_SIZE_MAX;
        return enough ? 0 : Math.max(0, threads + ahead - load.get());
    }

    private int ahead() {
        return (int) Math.min(AHEAD_MAX, threads * AHEAD_NANOS / Math.max(1, averageNanos));
    }
}
