package io.postroom.job;

import io.postroom.deadletter.Cause;
import io.postroom.postgres.Database;
import io.postroom.retry.Backoff;
import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.retry.RetryPolicy;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs one claimed job on the thread that has it, and says what became of it. Used by all threads of a worker. */
final class Runner {
    private static final Logger LOG = LoggerFactory.getLogger(Runner.class);

    /** How long a job whose kind nobody here knows is left to others: longer each time, or many of them would be all that is claimed. */
    private static final Backoff UNKNOWN_WAIT = new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(10));

    /** How long to leave alone what needs something that is not there; no attempt is counted. */
    static final Duration UNAVAILABLE_WAIT = Duration.ofSeconds(10);

    static final String TIMEOUT = "timeout";

    private final Map<String, Kind> kinds;
    private final Database database;
    private final WorkerTable table;
    private final Transactions transactions;
    private final Completer completer;
    private final WorkerSettings settings;
    private final LongPredicate trusted;
    private final Set<String> unknownKinds = ConcurrentHashMap.newKeySet();

    /** {@code trusted} says whether this worker's lease surely held since a time. */
    Runner(
            Map<String, Kind> kinds,
            Database database,
            WorkerTable table,
            Completer completer,
            WorkerSettings settings,
            LongPredicate trusted) {
        this.kinds = Map.copyOf(kinds);
        this.database = database;
        this.table = table;
        this.transactions = new Transactions(database, settings.name());
        this.completer = completer;
        this.settings = settings;
        this.trusted = trusted;
    }

    boolean knows(String kind) {
        return kinds.containsKey(kind);
    }

    /** Runs the job; {@code runs} has it while its handler is at it. False: somebody has given up on this thread, which must end. */
    boolean run(ClaimedJob job, Set<Run> runs) {
        Kind kind = kinds.get(job.kind());
        Verdict early = kind == null ? unknown(job) : beforehand(job, kind);
        if (kind == null || early != null) {
            completer.submit(new Ended(job, early == null ? Verdict.handBack() : early, 0));
            return true;
        }
        Duration deadline = job.deadline() == null ? kind.deadline() : job.deadline();
        Run run = new Run(job, new JobContext(job, settings.codec()), deadline);
        runs.add(run);
        Verdict verdict;
        try {
            verdict = handle(run, kind);
        } catch (Throwable e) {
            // An Error too: whatever it is, it must not end the thread, and the job has to go on or be given up.
            verdict = thrown(run, kind, e);
        }
        runs.remove(run);
        if (!run.finish()) {
            LOG.warn("the handler of {} came back after it was given up on; what it said changes nothing", job);
            return false;
        }
        completer.submit(new Ended(job, verdict, run.tookNanos()));
        return true;
    }

    /** Gives up on a run whose handler does not return. False: it has just done so. */
    boolean giveUp(Run run) {
        Kind kind = kinds.get(run.job().kind());
        if (kind == null || !run.abandon()) {
            return false;
        }
        completer.submit(new Ended(run.job(), thrown(run, kind, new InterruptedException()), run.tookNanos()));
        return true;
    }

    private @Nullable Verdict beforehand(ClaimedJob job, Kind kind) {
        if (!trusted.test(job.claimedNanos())) {
            // Perhaps it was taken away already; who gets it next begins anew.
            return Verdict.handBack();
        }
        int made = job.attempt() - 1;
        int most = policy(job, kind).attemptsMax();
        if (made >= most) {
            Fault fault = Fault.of("crashed", "its worker died or hung at " + made + " of " + most + " attempts");
            return new Verdict.GiveUp(Cause.CRASHED, made, fault, null);
        }
        if (!job.exact()) {
            return null;
        }
        try {
            return database.run(tx -> table.begin(tx, job)) ? null : Verdict.handBack();
        } catch (RuntimeException | Error e) {
            LOG.warn("could not begin {}: {}; it goes back", job, e.getMessage());
            return Verdict.handBack();
        }
    }

    private Verdict unknown(ClaimedJob job) {
        if (unknownKinds.add(job.kind())) {
            LOG.warn(
                    "worker {} knows no kind {}, which queue {} has; it is left to others",
                    settings.name(),
                    job.kind(),
                    job.queue());
        }
        // The fence grows by two with each claim that ends without the job.
        int claims = (int) Math.min(Integer.MAX_VALUE, (job.fence() + 1) / 2);
        return new Verdict.Again(UNKNOWN_WAIT.after(claims), false, false, null);
    }

    /** A policy of the application's own may throw too: then the attempt has failed, and waits a while. */
    private Verdict thrown(Run run, Kind kind, Throwable e) {
        try {
            return verdict(run, kind, null, e);
        } catch (RuntimeException | Error broken) {
            LOG.error("could not decide what becomes of {}; it is tried again", run.job(), broken);
            Fault fault = Fault.of(
                    "undecided", "its retry policy threw " + broken.getClass().getName());
            return new Verdict.Again(UNAVAILABLE_WAIT, true, false, new Verdict.Note("failed", fault));
        }
    }

    private Verdict handle(Run run, Kind kind) throws Exception {
        JobHandler handler = kind.handler();
        if (handler != null) {
            return verdict(run, kind, handler.handle(run.context()), null);
        }
        JobOutcome outcome = transactions.run(run, Objects.requireNonNull(kind.transactionalHandler()));
        return outcome instanceof JobOutcome.Done ? new Verdict.Committed() : verdict(run, kind, outcome, null);
    }

    private Verdict verdict(Run run, Kind kind, @Nullable JobOutcome outcome, @Nullable Throwable thrown) {
        ClaimedJob job = run.job();
        if (outcome instanceof JobOutcome.Done done) {
            return new Verdict.Done(done.result());
        }
        if (outcome instanceof JobOutcome.Snooze snooze) {
            return new Verdict.Again(snooze.after(), false, false, new Verdict.Note("snoozed", null));
        }
        if (run.why() == Run.Why.STOP) {
            return new Verdict.Again(Duration.ZERO, false, false, new Verdict.Note(Verdict.INTERRUPTED, null));
        }
        RetryPolicy policy = policy(job, kind);
        if (run.why() == Run.Why.DEADLINE) {
            Fault late = Fault.of(TIMEOUT, "the attempt took longer than its deadline, " + run.deadline());
            return decided(policy.decide(late, job.attempt(), null), job, new Verdict.Note("timed_out", late), late);
        }
        if (outcome instanceof JobOutcome.Failed failed) {
            Decision decision = policy.overrule(failed.fault(), job.attempt(), null)
                    .orElseGet(() -> new Decision.GiveUp(failed.fault().message(), true));
            return decided(decision, job, new Verdict.Note("failed", failed.fault()), failed.fault());
        }
        if (outcome instanceof JobOutcome.Retry retry) {
            Decision decision = policy.decide(retry.fault(), job.attempt(), retry.after());
            return decided(decision, job, new Verdict.Note("failed", retry.fault()), retry.fault());
        }
        Fault fault = thrown == null ? Fault.of("no-outcome", "the handler returned null") : Fault.of(thrown);
        return decided(policy.decide(fault, job.attempt(), null), job, new Verdict.Note("failed", fault), fault);
    }

    private static Verdict decided(Decision decision, ClaimedJob job, Verdict.Note note, Fault fault) {
        if (decision instanceof Decision.TryAgain again) {
            return new Verdict.Again(again.after(), true, false, note);
        }
        if (decision instanceof Decision.GiveUp givenUp) {
            Cause cause = givenUp.rejected() ? Cause.REJECTED : Cause.EXHAUSTED;
            return new Verdict.GiveUp(cause, job.attempt(), fault, note);
        }
        return new Verdict.Again(UNAVAILABLE_WAIT, false, false, new Verdict.Note("unavailable", fault));
    }

    private static RetryPolicy policy(ClaimedJob job, Kind kind) {
        if (job.retry() == null) {
            return kind.retry();
        }
        try {
            return RetryPolicy.parse(job.retry());
        } catch (RuntimeException e) {
            LOG.warn("{} has a retry policy that cannot be read: {}; that of its kind counts", job, e.getMessage());
            return kind.retry();
        }
    }
}
