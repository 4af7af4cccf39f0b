package io.postroom.job;

import io.postroom.PostroomException;
import io.postroom.message.Codec;
import io.postroom.message.JacksonCodec;
import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads of this process that do jobs of some queues. Any number of processes may work on the same queues; they share the jobs.
 *
 * <p>{@link #start} claims and runs jobs until {@link #close}, which gives back what has not begun, waits a grace for what runs, and
 * then interrupts it and gives it back too: no attempt is counted for either. If the process dies, its jobs are taken away when its
 * lease runs out and run again. Keeps three connections of its own, and takes
 * others for moments.
 */
public final class Workers implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Workers.class);

    /** How long handlers that are interrupted by a stop may take to return. */
    private static final Duration INTERRUPTED_GRACE = Duration.ofSeconds(2);

    /** A job that is due again and again must not run for ever. */
    private static final int RUN_DUE_MAX = 100_000;

    private static final long LOOK_AGAIN_NANOS = 2_000_000;

    private final WorkerSettings settings;
    private final Jobs jobs;
    private final Held held = new Held();
    private final Completer completer;
    private final Runner runner;
    private final Claimer claimer;
    private final Heart heart;
    private final Reaper reaper;
    private final List<Crew> crews = new ArrayList<>();
    private Runnable forget = () -> {};
    private boolean started;
    private boolean closed;

    private Workers(Builder builder, WorkerSettings settings) {
        this.settings = settings;
        this.jobs = builder.jobs;
        Database database = builder.database;
        WorkerTable table = new WorkerTable(database.schema());
        Settler settler = new Settler(new SettleTable(database.schema()), settings.name());
        completer = new Completer(database, settler, held, this::over, builder.telemetry, settings.name());
        ClaimTable claims = new ClaimTable(database.schema(), settings.id(), builder.kinds.values());
        Duration deadlineMin = builder.kinds.values().stream()
                .map(Kind::deadline)
                .min(Duration::compareTo)
                .orElse(Kind.DEADLINE);
        heart = new Heart(database, table, settings, held, crews, deadlineMin);
        reaper = new Reaper(database, settler, settings, heart::isSteady, builder.telemetry);
        runner = new Runner(builder.kinds, database, table, completer, settings, heart::isTrustedSince);
        Gate gate = new Gate(database, settler);
        claimer = new Claimer(
                database,
                claims,
                settler,
                gate,
                held,
                settings,
                heart::isTrusted,
                completer::keepsUp,
                builder.telemetry);
        builder.queues.forEach((queue, threads) -> {
            Crew crew = new Crew(queue, threads, runner, completer, claimer::hungry);
            crews.add(crew);
            claimer.add(crew);
            builder.kinds.keySet().forEach(kind -> builder.telemetry.worksOn(queue, kind));
        });
    }

    /** Begins to work, on threads of its own. Throws if the database cannot be used as it is; later trouble is retried. */
    public synchronized void start() {
        if (started || closed) {
            throw new IllegalStateException("worker " + settings.name() + " was started or closed already");
        }
        started = true;
        heart.start();
        completer.start();
        crews.forEach(Crew::start);
        claimer.start();
        reaper.start();
        forget = jobs.onNudge(claimer::expect);
        LOG.info("worker {} ({}) started, on {}", settings.name(), settings.id(), settings.queues());
    }

    /**
     * Runs every job that is due and whose kind is handled, one after the other on the caller's thread, with all that these let go, and
     * returns how many attempts were made. Others are handed back as they were. For tests and tools, instead of {@link #start}: nobody interrupts a handler that hangs.
     */
    public synchronized int runDue() throws InterruptedException {
        if (started || closed) {
            throw new IllegalStateException("worker " + settings.name() + " was started or closed already");
        }
        Set<Run> current = ConcurrentHashMap.newKeySet();
        AtomicInteger ran = new AtomicInteger();
        // Kept until the end: handed back at once, the most urgent ones would be claimed again and again.
        List<ClaimedJob> unknown = new ArrayList<>();
        heart.beatOnce();
        try {
            boolean more = true;
            while (more && ran.get() + unknown.size() < RUN_DUE_MAX) {
                heart.beatOnce();
                more = claimer.step(job -> {
                    if (!runner.knows(job.kind())) {
                        unknown.add(job);
                        return;
                    }
                    // Nobody else does so while a handler is at work.
                    heart.beatOnce();
                    runner.run(job, current);
                    ran.incrementAndGet();
                });
                completer.writeNow();
            }
            for (ClaimedJob job : unknown) {
                completer.submit(Ended.handBack(job));
                completer.writeNow();
            }
            return ran.get();
        } finally {
            completer.closeLine();
            claimer.closeLine();
            heart.withdrawOnce();
        }
    }

    /** The worker's own name for itself in the database. */
    public UUID id() {
        return settings.id();
    }

    /** Gives back what has not begun, waits for what runs, then interrupts it. The heartbeat goes last: nobody takes the jobs meanwhile. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        forget.run();
        if (!started) {
            return;
        }
        claimer.stop(settings.stopGrace());
        reaper.stop();
        crews.forEach(Crew::stopTaking);
        if (!awaitHandlers(settings.stopGrace())) {
            runs().forEach(run -> run.interrupt(Run.Why.STOP));
            if (!awaitHandlers(INTERRUPTED_GRACE)) {
                runs().forEach(this::leave);
            }
        }
        completer.stop(settings.stopGrace());
        heart.stop(settings.stopGrace().plusSeconds(1));
        LOG.info("worker {} ({}) stopped", settings.name(), settings.id());
    }

    private void over(ClaimedJob job) {
        claimer.over(job);
    }

    private List<Run> runs() {
        return crews.stream().flatMap(crew -> crew.runs().stream()).toList();
    }

    private void leave(Run run) {
        if (runner.giveUp(run)) {
            LOG.warn(
                    "the handler of {} does not hear that worker {} stops; another worker begins the job anew",
                    run.job(),
                    settings.name());
        }
    }

    private boolean awaitHandlers(Duration grace) {
        long until = System.nanoTime() + grace.toNanos();
        while (!crews.stream().allMatch(Crew::isIdle)) {
            if (until - System.nanoTime() < 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
        return true;
    }

    /** Collects workers; {@link #build} reports every problem at once. */
    public static final class Builder {
        public static final int THREADS_MAX = 1_000;

        private final Database database;
        private final Telemetry telemetry;
        private final Jobs jobs;
        private final Map<String, Integer> queues = new LinkedHashMap<>();
        private final Map<String, Kind> kinds = new LinkedHashMap<>();
        private final List<String> problems = new ArrayList<>();
        private String name = "worker";
        private Codec codec = new JacksonCodec();
        private Duration lease = Duration.ofSeconds(15);
        private Duration stopGrace = Duration.ofSeconds(10);
        private Duration pollMin = Duration.ofMillis(2);
        private Duration pollMax = Duration.ofMillis(100);

        Builder(Database database, Telemetry telemetry, Jobs jobs) {
            this.database = database;
            this.telemetry = telemetry;
            this.jobs = jobs;
        }

        /** Works on a queue with so many threads. */
        public Builder queue(String queue, int threads) {
            check(
                    JobRules.isQueue(queue),
                    "queue is " + JobRules.quote(queue) + ", it must be a lower-case letter and up"
                            + " to 99 letters, digits or _ . -");
            check(
                    threads >= 1 && threads <= THREADS_MAX,
                    "queue " + JobRules.quote(queue) + " has " + threads + " threads, the range is 1 to "
                            + THREADS_MAX);
            check(queues.put(queue, threads) == null, "queue " + JobRules.quote(queue) + " is there twice");
            return this;
        }

        /** Does a kind of job. */
        public Builder handle(String kind, JobHandler handler) {
            return handle(Kind.of(kind, handler));
        }

        /** Does a kind of job whose payload is read as an object. */
        public <T> Builder handle(String kind, Class<T> type, TypedJobHandler<T> handler) {
            return handle(Kind.of(kind, type, handler));
        }

        /** Does a kind of job, with a retry policy and a deadline. */
        public Builder handle(Kind kind) {
            check(
                    JobRules.isKind(kind.name()),
                    "kind is " + JobRules.quote(kind.name())
                            + ", it must be 1 to 200 letters, digits or _ . : / -, beginning with a letter or digit");
            check(
                    JobRules.isDeadline(kind.deadline()),
                    "the deadline of kind " + JobRules.quote(kind.name()) + " is " + kind.deadline()
                            + ", the range is 1 ms to " + JobRules.DEADLINE_MAX.toDays() + " days");
            check(kinds.put(kind.name(), kind) == null, "kind " + JobRules.quote(kind.name()) + " is there twice");
            return this;
        }

        /** How operators call this worker; a host or pod name is a good one. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** How payloads become objects; by Jackson unless given. */
        public Builder codec(Codec codec) {
            this.codec = codec;
            return this;
        }

        /** How long jobs stay with a worker that is not heard of; 15 s unless given. Renewed at a third of it. */
        public Builder lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        /** How long {@link Workers#close} waits for handlers before it interrupts them; 10 s unless given. */
        public Builder stopGrace(Duration stopGrace) {
            this.stopGrace = stopGrace;
            return this;
        }

        /** How often to look for jobs: from the first, when busy, to the second, when nothing happens. */
        public Builder poll(Duration min, Duration max) {
            this.pollMin = min;
            this.pollMax = max;
            return this;
        }

        public Workers build() {
            check(!queues.isEmpty(), "there is no queue; add one with queue");
            check(!kinds.isEmpty(), "there is no kind of job; add one with handle");
            check(!name.isBlank() && name.length() <= 200, "name is '" + name + "', it must be 1 to 200 characters");
            check(
                    name.chars().noneMatch(Character::isISOControl),
                    "name has a control character, such as a line break; leave it out");
            checkWithin("lease", lease, Duration.ofMillis(100), Duration.ofHours(1));
            checkWithin("stop grace", stopGrace, Duration.ZERO, Duration.ofHours(1));
            checkWithin("poll min", pollMin, Duration.ofNanos(100_000), pollMax);
            checkWithin("poll max", pollMax, pollMin, Duration.ofMinutes(1));
            if (!problems.isEmpty()) {
                throw new PostroomException(
                        "worker.invalid", "could not make worker " + name + ": " + String.join("; ", problems));
            }
            return new Workers(
                    this,
                    new WorkerSettings(
                            UUID.randomUUID(),
                            name,
                            List.copyOf(queues.keySet()),
                            lease,
                            stopGrace,
                            pollMin,
                            pollMax,
                            codec));
        }

        private void checkWithin(String setting, Duration value, Duration least, Duration most) {
            check(
                    value.compareTo(least) >= 0 && value.compareTo(most) <= 0,
                    setting + " is " + value + ", the range is " + least + " to " + most);
        }

        private void check(boolean holds, String problem) {
            if (!holds) {
                problems.add(problem);
            }
        }
    }
}
