package io.postroom.server.overview;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks at everything every few seconds and remembers figures of an hour. {@link #close} ends its thread. Thread-safe. */
public final class Sampler implements AutoCloseable {
    static final Duration EVERY = Duration.ofSeconds(5);
    /** How old figures are at most that somebody watches. */
    static final Duration WATCHED_EVERY = Duration.ofSeconds(2);

    /** A clock that ticks a little early must not make every second look come too early. */
    private static final Duration SLACK = Duration.ofMillis(300);

    private static final int MOMENTS_MAX = 720;
    private static final int DELAYS_MAX = 500;
    /** Of ticks and settlements of the past hour. */
    private static final int PAST_ROWS_MAX = 100_000;
    /** Where lanes stood at the ends of half minutes of the past hour. */
    private static final int STAMPS_MAX = 10_000;
    /** Settlements of each half minute of the past hour. */
    private static final int PAST_DELAYS_MAX = 100;

    private static final int WAL_MESSAGES_MIN = 100;
    private static final Logger LOG = LoggerFactory.getLogger(Sampler.class);

    private final Postroom postroom;
    private final SampleTable table;
    private final Clock clock;
    /** Whether there are charts to fill; rates need only how far everything had come. */
    private final boolean charts;

    private final Deque<Moment> moments = new ArrayDeque<>();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "postroom-sampler");
        thread.setDaemon(true);
        return thread;
    });
    /** Held while somebody looks, so that many who watch look once, and the past is remembered once. */
    private final Object looking = new Object();

    private long triedAt;
    private boolean isTried;
    private @Nullable Sample last;
    private @Nullable String problem;

    /** With all that charts of the last hour show. */
    public Sampler(Postroom postroom) {
        this(postroom, true);
    }

    private Sampler(Postroom postroom, boolean charts) {
        this.postroom = postroom;
        this.charts = charts;
        this.table = new SampleTable(postroom.database().schema());
        this.clock = Clock.systemUTC();
    }

    /** For whoever shows figures and no charts: of the past it reads only how far everything had come, for rates. */
    static Sampler ofFigures(Postroom postroom) {
        return new Sampler(postroom, false);
    }

    /** Begins at once and goes on every few seconds. */
    public void start() {
        thread.scheduleWithFixedDelay(() -> lookAfter(EVERY), 0, EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** What is true now to somebody who watches: asks the database only if nobody has for two seconds. */
    Optional<Sample> watched() {
        lookAfter(WATCHED_EVERY);
        return Optional.ofNullable(last());
    }

    private void lookAfter(Duration pause) {
        synchronized (looking) {
            if (!isTried || System.nanoTime() - triedAt >= pause.minus(SLACK).toNanos()) {
                look(EVERY.minus(SLACK));
                triedAt = System.nanoTime();
                isTried = true;
            }
        }
    }

    /** Looks once, on the caller's thread. */
    public void look() {
        synchronized (looking) {
            look(Duration.ZERO);
        }
    }

    /** The charts have a point every few seconds, however often somebody watches. */
    private void look(Duration apart) {
        try {
            Sample sample = new Sample(
                    clock.instant(),
                    postroom.journal().refreshHead().position(),
                    postroom.subscriptions().list(),
                    postroom.database().run(tx -> table.delays(tx, DELAYS_MAX)),
                    postroom.database().run(table::footing),
                    postroom.database().run(table::work));
            if (history().isEmpty()) {
                remember(sample);
            }
            add(sample, apart);
        } catch (PostroomException e) {
            fail(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            // The thread must go on.
            LOG.error("could not look at the subscriptions", e);
            fail("something is broken here; the log of the process tells what");
        }
    }

    /** What was before this process began, as far as the database knows. Charts do without what takes too long. */
    private void remember(Sample sample) {
        try {
            Past past = Past.of(postroom.database().run(tx -> table.past(tx, PAST_ROWS_MAX)), sample);
            List<Moment> before = charts ? past.moments(stamps(past), pastDelays()) : past.moments(null, Map.of());
            synchronized (this) {
                moments.addAll(before);
            }
        } catch (PostroomException e) {
            LOG.info("could not read what was before: {}", e.getMessage());
        }
    }

    /** Null if they could not be read. */
    private @Nullable Map<Long, Instant> stamps(Past past) {
        try {
            return postroom.database().run(tx -> table.stamps(tx, past.stood(STAMPS_MAX)));
        } catch (PostroomException e) {
            LOG.info("could not read how long messages waited before: {}", e.getMessage());
            return null;
        }
    }

    private Map<Instant, List<Delay>> pastDelays() {
        try {
            return postroom.database().run(tx -> table.pastDelays(tx, PAST_DELAYS_MAX));
        } catch (PostroomException e) {
            LOG.info("could not read how long messages took before: {}", e.getMessage());
            return Map.of();
        }
    }

    private synchronized void add(Sample sample, Duration apart) {
        problem = null;
        last = sample;
        Moment before = moments.peekLast();
        if (before == null || Duration.between(before.at(), sample.at()).compareTo(apart) >= 0) {
            moments.addLast(Moment.of(sample));
        }
        while (moments.size() > MOMENTS_MAX) {
            moments.removeFirst();
        }
    }

    private synchronized void fail(String why) {
        if (problem == null) {
            LOG.warn("could not look at the subscriptions: {}", why);
        }
        problem = why;
    }

    /** The last hour, oldest first. */
    synchronized List<Moment> history() {
        return new ArrayList<>(moments);
    }

    /**
     * How many bytes of WAL the whole server wrote for each message, during the last hour or since this process began; null before
     * enough messages came.
     */
    public synchronized @Nullable Long walPerMessage() {
        Moment first = moments.stream()
                .filter(each -> each.walBytes() != Moment.UNKNOWN)
                .findFirst()
                .orElse(null);
        Moment newest = moments.peekLast();
        if (first == null || newest == null) {
            return null;
        }
        long messages = newest.position() - first.position();
        long bytes = newest.walBytes() - first.walBytes();
        // Statistics that were reset meanwhile tell nothing.
        return messages < WAL_MESSAGES_MIN || bytes < 0 ? null : bytes / messages;
    }

    /** Why the last look failed; null if it did not. */
    synchronized @Nullable String problem() {
        return problem;
    }

    /** The newest sample; looks now if there is none yet and nobody has tried just now. */
    Optional<Sample> newest() {
        if (last() == null) {
            lookAfter(WATCHED_EVERY);
        }
        return Optional.ofNullable(last());
    }

    private synchronized @Nullable Sample last() {
        return last;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
