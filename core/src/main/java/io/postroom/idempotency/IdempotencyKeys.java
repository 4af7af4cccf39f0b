package io.postroom.idempotency;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Idempotency keys as operators see and release them. Answers are not shown: who may operate need not be one who may read them.
 *
 * <p>An act and its audit entry are one transaction. Safe for use by many threads.
 */
public final class IdempotencyKeys {
    public static final int PAGE_MAX = 1_000;

    private final Database database;
    private final Audit audit;
    private final KeyListTable table;

    public IdempotencyKeys(Database database, Audit audit) {
        this.database = database;
        this.audit = audit;
        this.table = new KeyListTable(database.schema());
    }

    /** Who answers for an act, and why. */
    public record Act(String actor, String reason) {}

    /**
     * A page of keys, by tenant, scope and key.
     *
     * @param after the last key of the page before, or null for the first page
     */
    public List<KeyDetails> list(KeyFilter filter, @Nullable IdempotencyKey after, int limit) {
        if (limit < 1 || limit > PAGE_MAX) {
            throw new PostroomException(
                    "idempotency.page-invalid",
                    "could not list idempotency keys: the page is " + limit + " keys, the range is 1 to " + PAGE_MAX);
        }
        return database.run(tx -> table.list(tx, filter, after, limit));
    }

    public Optional<KeyDetails> find(IdempotencyKey key) {
        return database.run(tx -> table.find(tx, key));
    }

    /** The session whose command has a key just now: a command of one transaction has no row before it ends. */
    public Optional<KeyHolder> holder(IdempotencyKey key) {
        return database.run(tx -> table.findHolder(tx, key));
    }

    /**
     * Takes a running key from whoever goes on with its steps, dead or alive, so that the next request with it goes on at once after
     * the last step that was done. Whoever had it is refused at the next step.
     *
     * @param seen the key as it was shown; if it has changed since, nothing is done
     */
    public void release(KeyDetails seen, Act act) {
        String attempt = "release " + seen.key();
        if (seen.state() != KeyState.RUNNING) {
            throw new PostroomException(
                    "idempotency.not-running",
                    "could not " + attempt + ": it is " + seen.state()
                            + ", there is nothing to go on with; forget it if it shall be done again");
        }
        act(attempt, seen, act, false);
    }

    /**
     * Forgets a key, so that the next request with it is done from the beginning. What was done before stays done: this is how
     * something can happen twice.
     */
    public void forget(KeyDetails seen, Act act) {
        act("forget " + seen.key(), seen, act, true);
    }

    private void act(String attempt, KeyDetails seen, Act act, boolean forget) {
        List<String> problems = Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw new PostroomException("audit.invalid", "could not " + attempt + ": " + String.join("; ", problems));
        }
        database.transact(tx -> {
            if (!(forget ? table.forget(tx, seen) : table.release(tx, seen))) {
                throw new PostroomException(
                        "idempotency.key-changed",
                        "could not " + attempt + ": it has changed since it was shown; look at it again");
            }
            IdempotencyKey key = seen.key();
            Map<String, Object> details = new LinkedHashMap<>();
            details.put("tenant", key.tenant());
            details.put("state", seen.state().toString());
            details.put("steps", seen.steps());
            details.put("fence", seen.fence());
            details.put("leased", seen.leased());
            details.put("forget", forget);
            audit.record(
                    tx,
                    act.actor(),
                    "idempotency release",
                    "idempotency key " + key.scope() + " " + key.key(),
                    act.reason(),
                    details);
            return true;
        });
    }
}
