package io.postroom.projection;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.retry.Spelling;
import io.postroom.subscription.Act;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps materialized views: refreshes each every so often, concurrently, so that readers go on meanwhile. Any number of processes may
 * run it; one at a time refreshes a view, and the database says when it is due. A process that dies in the middle leaves the view as it
 * was, and the next one refreshes it. Safe for use by many threads.
 */
public final class MaterializedViews implements AutoCloseable {
    public static final Duration EVERY_MIN = Duration.ofSeconds(1);
    public static final Duration EVERY_MAX = Duration.ofDays(31);

    /** How long a refresh may take; then it is ended, noted as failed, and tried again later. */
    public static final Duration REFRESH_MAX = Duration.ofHours(6);

    /** How long a process that refreshes may say nothing; then it is taken for gone. */
    private static final Duration IDLE_MAX = Duration.ofSeconds(30);

    /** PostgreSQL ends what takes too long; whoever hears nothing of that for so long gives up by itself. */
    private static final Duration GRACE = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(MaterializedViews.class);
    private static final Pattern NAME = Pattern.compile("[^.\"\\p{Cntrl}]{1,63}\\.[^.\"\\p{Cntrl}]{1,63}");
    private static final Duration LOOK = Duration.ofSeconds(1);
    private static final int ROUND_MAX = 100;
    private static final int ERROR_LENGTH_MAX = 1_000;

    private final Database database;
    private final Audit audit;
    private final ViewTable table;
    private @Nullable ScheduledExecutorService thread;
    private final Duration idleMax;
    private final Duration refreshMax;
    private boolean failing;

    public MaterializedViews(Database database, Audit audit) {
        this(database, audit, IDLE_MAX, REFRESH_MAX);
    }

    MaterializedViews(Database database, Audit audit, Duration idleMax, Duration refreshMax) {
        this.database = database;
        this.audit = audit;
        this.idleMax = idleMax;
        this.refreshMax = refreshMax;
        this.table = new ViewTable(database.schema());
    }

    /**
     * Has a view refreshed every so often, from now on. It must be there, and have a unique index: PostgreSQL cannot refresh it
     * concurrently otherwise.
     *
     * @param name as {@code schema.view}, without quotes
     */
    public void keep(String name, Duration every) {
        keep(name, every, null);
    }

    /** The same on behalf of an operator, who is kept in the audit. */
    public void keep(String name, Duration every, @Nullable Act act) {
        String attempt = "keep materialized view " + name;
        if (act != null) {
            Operations.check(act, attempt);
        }
        if (!NAME.matcher(name).matches()) {
            throw refused("invalid", attempt, "its name must have the form schema.view, each 1 to 63 characters");
        }
        if (every.compareTo(EVERY_MIN) < 0 || every.compareTo(EVERY_MAX) > 0) {
            throw refused("invalid", attempt, "every is " + every + ", the range is 1 s to 31 days");
        }
        database.transact(tx -> {
            usable(tx, name, attempt);
            table.register(tx, name, every);
            if (act != null) {
                audit.record(
                        tx,
                        act.actor(),
                        "view keep",
                        "view " + name,
                        act.reason(),
                        Map.of("everySeconds", every.toMillis() / 1000.0));
            }
            return true;
        });
    }

    public List<ViewState> list() {
        return database.run(tx -> table.list(tx, null));
    }

    /** Lets a view be due now; whoever keeps them refreshes it within seconds. */
    public ViewState hasten(String name, Act act) {
        return change(name, act, "refresh", tx -> table.hasten(tx, name));
    }

    /** Keeps a view no longer. It stays as it is. */
    public ViewState forget(String name, Act act) {
        return change(name, act, "forget", tx -> table.forget(tx, name));
    }

    private ViewState change(String name, Act act, String verb, Database.Work<Boolean> work) {
        String attempt = verb + " materialized view " + name;
        Operations.check(act, attempt);
        return database.transact(tx -> {
            ViewState state = table.list(tx, name).stream().findFirst().orElse(null);
            if (state == null || !work.run(tx)) {
                throw new UnknownReadModelException("could not " + attempt + ": it is not among those that are kept"
                        + Spelling.didYouMean(
                                name,
                                table.list(tx, null).stream()
                                        .map(ViewState::name)
                                        .toList()));
            }
            audit.record(tx, act.actor(), "view " + verb, "view " + name, act.reason(), Map.of());
            return state;
        });
    }

    /** Looks every second which views are due and refreshes them, on a thread of its own. */
    public synchronized void start() {
        if (thread != null) {
            throw new IllegalStateException("materialized views are being kept already");
        }
        thread = Executors.newSingleThreadScheduledExecutor(work -> {
            Thread made = new Thread(work, "postroom-views");
            made.setDaemon(true);
            return made;
        });
        thread.scheduleWithFixedDelay(this::refreshQuietly, 0, LOOK.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public synchronized void close() {
        if (thread != null) {
            thread.shutdownNow();
        }
    }

    /** Refreshes what is due, on the caller's thread, and returns how many were. What fails is noted and tried again later. */
    public int refreshDue() {
        int refreshed = 0;
        for (String name : database.run(tx -> table.due(tx, ROUND_MAX))) {
            refreshed += refresh(name) ? 1 : 0;
        }
        return refreshed;
    }

    private boolean refresh(String name) {
        try {
            return database.transactWithin(refreshMax.plus(GRACE), tx -> {
                // Another node is at it, or was a moment ago.
                if (!table.lock(tx, name, idleMax, refreshMax) || !table.isDue(tx, name)) {
                    return false;
                }
                table.refresh(tx, usable(tx, name, "refresh materialized view " + name));
                table.refreshed(tx, name);
                return true;
            });
        } catch (PostroomException e) {
            String said =
                    e instanceof DatabaseException failed && failed.sqlState().equals(SqlState.QUERY_CANCELED)
                            ? "could not refresh materialized view " + name + ": it was ended, a refresh may take "
                                    + refreshMax + "; let its query read less, or keep it as a read model"
                            : e.getMessage();
            String error = said.substring(0, Math.min(said.length(), ERROR_LENGTH_MAX));
            LOG.warn("{}; it is tried again later", error);
            database.run(tx -> table.failed(tx, name, error));
            return false;
        }
    }

    private ViewTable.Found usable(Connection tx, String name, String attempt) {
        String[] parts = name.split("\\.", 2);
        Optional<ViewTable.Found> found = table.find(tx, parts[0], parts[1]);
        ViewTable.Found view = found.orElseThrow(() ->
                refused("view-missing", attempt, "there is no such materialized view; create it first, or forget it"));
        if (!view.hasKey()) {
            throw refused(
                    "view-without-key",
                    attempt,
                    "it has no unique index, without which it cannot be refreshed while others read it; create unique"
                            + " index on " + view.view() + " (…), on columns and without a condition");
        }
        if (!view.isOwner()) {
            throw refused(
                    "not-owner",
                    attempt,
                    "it belongs to role " + view.owner() + "; grant that role to the login that refreshes it");
        }
        return view;
    }

    private void refreshQuietly() {
        try {
            refreshDue();
            failing = false;
        } catch (RuntimeException | Error e) {
            // Whatever it is: an executor forgets a task that throws.
            if (!failing) {
                failing = true;
                LOG.warn("could not look for materialized views that are due: {}; it is tried again", e.getMessage());
            }
        }
    }

    private static PostroomException refused(String code, String attempt, String fact) {
        return Operations.refused(code, attempt, fact);
    }
}
