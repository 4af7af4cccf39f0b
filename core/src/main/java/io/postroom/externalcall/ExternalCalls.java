package io.postroom.externalcall;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import io.postroom.retry.Fault;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes calls to others under keys that stay the same, so that a provider that honours such keys takes effect once.
 *
 * <p>Whenever the process dies, the next attempt goes under the same key or finds how the last one ended. A provider keeps keys for a
 * limited time, the window; after that no call is repeated, it is parked for reconciliation. Safe for use by many threads.
 */
public final class ExternalCalls {
    /** How long providers keep keys unless told otherwise. */
    public static final Duration WINDOW = Duration.ofHours(24);

    /** How long an attempt may take unless told otherwise. */
    public static final Duration LEASE = Duration.ofMinutes(1);

    public static final Duration LEASE_MAX = Duration.ofHours(1);
    public static final Duration WINDOW_MAX = Duration.ofDays(365);
    public static final int REFERENCE_LENGTH_MAX = 255;
    public static final int PAGE_MAX = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(ExternalCalls.class);
    private static final Duration LEASE_MIN = Duration.ofSeconds(1);

    /** How many are parked in one statement. */
    private static final int PARK_MAX = 1_000;

    private static final String TOO_LATE = "the provider's window is over and nobody knows how the last attempt ended";

    private final Database database;
    private final Audit audit;
    private final Telemetry telemetry;
    private final ExternalCallTable table;
    private final Duration lease;
    private final Duration window;

    public ExternalCalls(Database database, Audit audit, Telemetry telemetry) {
        this(database, audit, telemetry, LEASE, WINDOW);
    }

    private ExternalCalls(Database database, Audit audit, Telemetry telemetry, Duration lease, Duration window) {
        this.database = database;
        this.audit = audit;
        this.telemetry = telemetry;
        this.table = new ExternalCallTable(database.schema());
        this.lease = lease;
        this.window = window;
        if (lease.compareTo(LEASE_MIN) < 0 || lease.compareTo(LEASE_MAX) > 0) {
            throw invalid("lease is " + lease + ", the range is " + LEASE_MIN + " to " + LEASE_MAX);
        }
        if (window.compareTo(lease) <= 0 || window.compareTo(WINDOW_MAX) > 0) {
            throw invalid("window is " + window + ", it must be more than the lease of " + lease + " and at most "
                    + WINDOW_MAX);
        }
    }

    /** The same, for attempts that may take so long; the provider's client must give up before. */
    public ExternalCalls lease(Duration lease) {
        return new ExternalCalls(database, audit, telemetry, lease, window);
    }

    /** The same, for a provider that keeps keys so long. */
    public ExternalCalls window(Duration window) {
        return new ExternalCalls(database, audit, telemetry, lease, window);
    }

    /** Calls a provider with a key. Whatever it throws, nobody knows what happened. */
    @FunctionalInterface
    public interface Provider<E extends Exception> {
        ProviderAnswer call(String key) throws E;
    }

    /**
     * Makes a call, if it is not over and not another's turn, and returns how it stands then: done, declined, calling (try again
     * later) or in need of reconciliation.
     *
     * @param requestHash SHA-256 of what is asked for; other content under the same revision is refused
     */
    public <E extends Exception> ExternalCall perform(
            ExternalOperation operation, byte[] requestHash, Provider<E> provider) throws E {
        Turn turn = begin(operation, requestHash);
        if (!(turn instanceof Turn.Yours yours)) {
            return turn.call();
        }
        ProviderAnswer answer;
        try {
            answer = provider.call(yours.key());
        } catch (Throwable e) {
            try {
                unknown(yours, Fault.of(e).toString());
            } catch (RuntimeException lost) {
                // The lease ends by itself, and what went wrong at the provider is what the caller must see.
                e.addSuppressed(lost);
            }
            throw e;
        }
        try {
            return settle(yours, answer);
        } catch (StaleAttemptException e) {
            return get(operation.key());
        }
    }

    private ExternalCall settle(Turn.Yours yours, ProviderAnswer answer) {
        if (answer instanceof ProviderAnswer.Done done) {
            return database.run(tx -> done(tx, yours, done.reference()));
        }
        if (answer instanceof ProviderAnswer.Declined declined) {
            return database.run(tx -> declined(tx, yours, declined.reason()));
        }
        return answer instanceof ProviderAnswer.Unclear unclear
                ? park(yours, unclear.reason())
                : unknown(yours, ((ProviderAnswer.Unknown) answer).reason());
    }

    /**
     * Says whose turn it is, in a transaction of its own. If it is the caller's, the key is committed when this returns.
     *
     * @param requestHash SHA-256 of what is asked for; other content under the same revision is refused
     */
    public Turn begin(ExternalOperation operation, byte[] requestHash) {
        String hash = RequestHash.text(operation, requestHash);
        Turn turn = database.transactPromptly(tx -> {
            Optional<ExternalCall> first = table.insert(tx, operation, hash, lease, window);
            return first.isPresent() ? new Turn.Yours(first.get()) : again(tx, operation, hash);
        });
        if (turn instanceof Turn.Yours) {
            telemetry.externalCall(operation.name(), "called");
        }
        return turn;
    }

    private Turn again(Connection tx, ExternalOperation operation, String hash) {
        ExternalCallTable.Locked locked =
                table.lock(tx, operation.key(), lease).orElseThrow(() -> tooEarly(tx, operation));
        ExternalCall call = locked.call();
        RequestHash.require(call, hash);
        if (call.state().isFinal()) {
            return new Turn.Over(call);
        }
        if (call.state() == CallState.NEEDS_RECONCILIATION) {
            return new Turn.Parked(call);
        }
        if (locked.leased()) {
            return new Turn.Busy(call);
        }
        if (locked.tooLate()) {
            ExternalCall parked = table.park(tx, call, TOO_LATE).orElseThrow();
            told(parked.key(), operation.name(), TOO_LATE);
            return new Turn.Parked(parked);
        }
        return new Turn.Yours(table.take(tx, operation.key(), lease));
    }

    /** Notes that it has happened, in the caller's transaction with what follows from it. */
    public ExternalCall done(Connection tx, Turn.Yours attempt, @Nullable String reference) {
        requireReference(attempt.call(), reference);
        return settle(tx, attempt, new ExternalCallTable.End(CallState.DONE, reference, null));
    }

    /** Notes that it has not happened and never will under this key, in the caller's transaction with what follows from it. */
    public ExternalCall declined(Connection tx, Turn.Yours attempt, String reason) {
        return settle(tx, attempt, new ExternalCallTable.End(CallState.DECLINED, null, redacted(reason)));
    }

    private ExternalCall settle(Connection tx, Turn.Yours attempt, ExternalCallTable.End end) {
        String word = end.state().word();
        ExternalCall ended = table.settle(tx, attempt.call(), end)
                .orElseThrow(() -> new StaleAttemptException(attempt.call(), word));
        telemetry.externalCall(ended.operation().name(), word);
        return ended;
    }

    /** Notes that there was no answer. The next attempt may begin at once, and calls with the same key. */
    public ExternalCall unknown(Turn.Yours attempt, String reason) {
        ExternalCall call = database.run(tx -> table.letGo(tx, attempt.call(), redacted(reason)))
                .orElseThrow(() -> new StaleAttemptException(attempt.call(), "unknown"));
        telemetry.externalCall(call.operation().name(), "unknown");
        return call;
    }

    /** Parks it for reconciliation: calling again would tell nothing, such as when the provider repeats a stored error. */
    public ExternalCall park(Turn.Yours attempt, String reason) {
        ExternalCall call = database.run(tx -> table.park(tx, attempt.call(), redacted(reason)))
                .orElseThrow(() -> new StaleAttemptException(attempt.call(), "parked"));
        told(call.key(), call.operation().name(), redacted(reason));
        return call;
    }

    /** Parks every call that nobody makes any more and whose window is over; maintenance does it. Returns how many. */
    public int parkOverdue() {
        int parked = 0;
        List<ExternalCallTable.Overdue> step;
        do {
            step = database.run(tx -> table.parkOverdue(tx, PARK_MAX, TOO_LATE));
            step.forEach(call -> told(call.key(), call.name(), TOO_LATE));
            parked += step.size();
        } while (step.size() == PARK_MAX);
        return parked;
    }

    /**
     * Ends a call as somebody says who has looked at the provider; audited. Saying the same twice is saying it once.
     *
     * @param outcome done, or declined if it is certain that it did not happen; then there may be another revision
     * @param reference what the provider calls it, if it has happened
     */
    public ExternalCall reconcile(
            String key, CallState outcome, @Nullable String reference, String actor, String reason) {
        return new Reconciliation(database, audit, table, telemetry).reconcile(key, outcome, reference, actor, reason);
    }

    /** A call by its key. */
    public Optional<ExternalCall> find(String key) {
        return database.run(tx -> table.find(tx, key));
    }

    /** The last revision of an operation, whichever is given. */
    public Optional<ExternalCall> latest(ExternalOperation operation) {
        return database.run(tx -> table.latest(tx, operation));
    }

    /**
     * A page of calls, newest first.
     *
     * @param before the id of the last call of the page before, or null for the first page
     */
    public List<ExternalCall> list(ExternalCallFilter filter, @Nullable Long before, int limit) {
        if (limit < 1 || limit > PAGE_MAX) {
            throw new PostroomException(
                    "externalcall.page-invalid",
                    "could not list external calls: the page is " + limit + " calls, the range is 1 to " + PAGE_MAX);
        }
        return database.run(tx -> table.list(tx, filter, before, limit));
    }

    private ExternalCall get(String key) {
        return find(key).orElseThrow(() -> new IllegalStateException("external call " + key + " was deleted"));
    }

    private PostroomException tooEarly(Connection tx, ExternalOperation operation) {
        Optional<ExternalCall> last = table.latest(tx, operation);
        String fact = last.map(call -> "the last one, r" + call.operation().revision() + ", is "
                        + call.state().word())
                .orElse("there is none before");
        return new PostroomException(
                "externalcall.revision-too-early",
                "could not begin external call " + operation
                        + ": a new revision must follow one that was declined, and " + fact + "; begin that one");
    }

    private void told(String key, String name, String reason) {
        LOG.warn("parked external call {}: {}; look at the provider, then reconcile it", key, reason);
        telemetry.externalCall(name, "parked");
    }

    static void requireReference(ExternalCall call, @Nullable String reference) {
        if (reference != null
                && (reference.isBlank()
                        || reference.length() > REFERENCE_LENGTH_MAX
                        || reference.chars().anyMatch(Character::isISOControl))) {
            throw new PostroomException(
                    "externalcall.reference-invalid",
                    "could not note the reference of external call " + call.key() + ": it is " + reference.length()
                            + " characters, it must be 1 to " + REFERENCE_LENGTH_MAX
                            + " without control characters; leave it out, or keep the provider's own id of the call");
        }
    }

    /** One line, without what looks like a secret. */
    private static String redacted(String reason) {
        return Fault.of("external", reason).message();
    }

    private static PostroomException invalid(String fact) {
        return new PostroomException("externalcall.settings-invalid", "could not use external calls: " + fact);
    }
}
