package io.postroom.server.web;

import io.postroom.Postroom;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import java.security.MessageDigest;
import java.sql.Connection;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * Does each act once, by its key: the key, the act, its audit and its answer are one transaction, so that after a crash all of them are
 * there, or none. Keys are kept for a day, for every console of the database. Thread-safe.
 */
public final class Deeds {
    /** The code of the refusal while the same is being done. */
    static final String RUNNING = "idempotency.running";

    private final Postroom acting;
    private final Function<DataSource, Postroom> on;
    private final ActTable table;

    /** {@code on} makes a Postroom like {@code acting} on another DataSource. */
    public Deeds(Postroom acting, Function<DataSource, Postroom> on) {
        this.acting = acting;
        this.on = on;
        this.table = new ActTable(acting.database().schema());
    }

    /** What is done once, through a Postroom whose changes are committed together with the key. */
    @FunctionalInterface
    interface Work {
        String answer(Postroom acting);
    }

    /** Does it, or answers as before; what throws was not done, and may be tried again with its key. */
    String once(String actor, String key, String asked, Work work) {
        return once(actor, key, asked, work, () -> {});
    }

    /** The same; {@code replayed} is run where it was done before. */
    String once(String actor, String key, String asked, Work work, Runnable replayed) {
        byte[] hash = Gate.digest(asked);
        return acting.database().transactPromptly(tx -> {
            if (!begin(tx, actor, key, hash)) {
                String answer = before(tx, actor, key, hash);
                replayed.run();
                return answer;
            }
            String answer = work.answer(on.apply(new Joined(tx)));
            table.end(tx, actor, key, answer);
            table.purge(tx);
            return answer;
        });
    }

    private boolean begin(Connection tx, String actor, String key, byte[] asked) {
        try {
            return table.begin(tx, actor, key, asked);
        } catch (DatabaseException e) {
            if (e.sqlState().equals(SqlState.LOCK_NOT_AVAILABLE)) {
                throw running();
            }
            throw e;
        }
    }

    private String before(Connection tx, String actor, String key, byte[] asked) {
        ActTable.Done done = table.find(tx, actor, key).orElseThrow(Deeds::running);
        if (!MessageDigest.isEqual(done.asked(), asked)) {
            throw new Refusal(
                    422,
                    "idempotency.mismatch",
                    "this key was used for something else; nothing was done: send a new one");
        }
        return done.answer();
    }

    private static Refusal running() {
        return new Refusal(409, RUNNING, "the same is being done at the moment; ask again soon");
    }
}
