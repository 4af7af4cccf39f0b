package io.postroom.idempotency;

import io.postroom.postgres.Database;
import io.postroom.retry.Fault;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes on with the steps of a scope's keys that somebody has left in the middle, so that they do not wait for their client to ask
 * again. Its procedure knows the request only by {@link Steps#input()}.
 *
 * <p>Any number may run, beside requests: whoever gets a lease goes on. What fails is tried again when all others have had their turn, and
 * ever later. Once started, it goes on with {@value #THREADS} keys at a time: one that takes long, or hangs until the policy's runtimeMax
 * interrupts it, holds up no other. A procedure that is deaf to interrupts keeps its thread. A key that was forgotten meanwhile is not begun
 * anew.
 */
public final class Completer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Completer.class);
    static final int ROUND_MAX = 100;
    static final int THREADS = 4;
    static final Duration PAUSE = Duration.ofSeconds(1);

    /** The pause doubles so often: a second, two, four, up to an hour or so. */
    private static final int DOUBLED_MAX = 12;

    private final Idempotency idempotency;
    private final Database database;
    private final StepTable table;
    private final String scope;
    private final KeyPolicy policy;
    private final Procedure<?> procedure;
    private final ScheduledExecutorService thread;
    private final ExecutorService hands;
    /** Given to the threads, and not at their end. */
    private final Set<IdempotencyKey> inHand = ConcurrentHashMap.newKeySet();

    private final long pauseNanos;
    /** Those that failed: what fails again and again is said once. */
    private final Map<IdempotencyKey, Pause> failing = new ConcurrentHashMap<>();
    /** Those that were there since the beginning of the list. */
    private final Set<IdempotencyKey> seen = new HashSet<>();
    /** Where the last round ended; null at the end of the list. */
    private @Nullable IdempotencyKey after;

    Completer(
            Idempotency idempotency,
            Database database,
            StepTable table,
            String scope,
            KeyPolicy policy,
            Procedure<?> procedure,
            Duration pause) {
        this.pauseNanos = pause.toNanos();
        this.idempotency = idempotency;
        this.database = database;
        this.table = table;
        this.scope = scope;
        this.policy = policy;
        this.procedure = procedure;
        this.thread = Executors.newSingleThreadScheduledExecutor(work -> daemon(work, "postroom-completer-" + scope));
        this.hands = Executors.newFixedThreadPool(THREADS, work -> daemon(work, "postroom-complete-" + scope));
    }

    private static Thread daemon(Runnable work, String name) {
        Thread made = new Thread(work, name);
        made.setDaemon(true);
        return made;
    }

    /** Begins at once, and looks again so long after each round. */
    public void start(Duration interval) {
        thread.scheduleWithFixedDelay(this::runQuietly, 0, interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** How often a key has failed in a row, and until when it is left alone. */
    private record Pause(int times, long until) {}

    /** One round of up to 100 keys, on the caller's thread; returns how many got their answer. The next goes on behind them. */
    public synchronized int runOnce() {
        AtomicInteger answered = new AtomicInteger();
        round(request -> {
            if (complete(request)) {
                answered.incrementAndGet();
            }
        });
        return answered.get();
    }

    private void round(Consumer<Request> hand) {
        for (Request request : next()) {
            seen.add(request.key());
            Pause pause = failing.get(request.key());
            if (pause == null || System.nanoTime() - pause.until() >= 0) {
                hand.accept(request);
            }
        }
        if (after == null) {
            failing.keySet().retainAll(seen);
            seen.clear();
        }
    }

    /** Leaves it to the threads; what they have no room for comes again with the next round. */
    private void give(Request request) {
        if (inHand.size() < ROUND_MAX && inHand.add(request.key())) {
            hands.execute(() -> {
                try {
                    complete(request);
                } finally {
                    inHand.remove(request.key());
                }
            });
        }
    }

    private List<Request> next() {
        List<Request> page = find(after);
        if (page.isEmpty() && after != null) {
            page = find(null);
        }
        after = page.size() == ROUND_MAX ? page.get(ROUND_MAX - 1).key() : null;
        return page;
    }

    private List<Request> find(@Nullable IdempotencyKey behind) {
        return database.run(tx -> table.findLapsed(tx, scope, behind, ROUND_MAX));
    }

    private boolean complete(Request request) {
        try {
            boolean answered =
                    idempotency.resume(request, policy, procedure) instanceof Outcome.Executed done && done.stored();
            if (answered) {
                LOG.info("completed {}, which was left in the middle of its steps", request.key());
            }
            failing.remove(request.key());
            return answered;
        } catch (Throwable e) {
            // Whatever the procedure throws, an Error too: the others must not wait for it, and the rounds must not
            // end. What it says is
            // the application's own and may hold what no log should.
            Pause before = failing.get(request.key());
            if (before == null) {
                LOG.warn("could not complete {}: {}; it is tried again, ever later", request.key(), Fault.of(e));
            }
            int times = before == null ? 0 : Math.min(before.times() + 1, DOUBLED_MAX);
            failing.put(request.key(), new Pause(times, System.nanoTime() + (pauseNanos << times)));
            return false;
        }
    }

    private void runQuietly() {
        try {
            synchronized (this) {
                round(this::give);
            }
        } catch (Throwable e) {
            // An executor would never run this again, and say nothing.
            LOG.warn("could not look for unfinished keys of {}: {}; it is tried again", scope, Fault.of(e));
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
        hands.shutdownNow();
    }
}
