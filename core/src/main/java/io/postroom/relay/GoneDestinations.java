package io.postroom.relay;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pauses subscriptions whose destinations want no more, as an operator would: every relay and every restart finds it so, until somebody
 * resumes them. A relay that dies before it could do so leaves nothing: the next one sends one message, and is told again.
 *
 * <p>For the thread of the heartbeat.
 */
final class GoneDestinations {
    private static final Logger LOG = LoggerFactory.getLogger(GoneDestinations.class);

    private final Sql pause;
    private final String node;
    /** What was written, and not served since. A lane that takes its time to end must not undo that somebody has resumed it. */
    private final Set<String> paused = new HashSet<>();

    GoneDestinations(Database database, String node) {
        this.pause = database.schema().sql(GoneDestinations.class, "pause_gone.sql");
        this.node = node;
    }

    /** Pauses the subscription if its destination wants no more; returns whether it was paused just now. */
    boolean pause(Connection tx, Relay.Target target) {
        String name = target.subscription().name();
        Fault fault = target.circuit().wantsNoMore().orElse(null);
        if (fault == null || paused.contains(name)) {
            return false;
        }
        Done done = pause.on(tx)
                .set("subscription", name)
                .set("actor", "relay " + node)
                .set("reason", fault.errorClass() + ": " + fault.message())
                .set("error_class", fault.errorClass())
                .one(row -> new Done(row.getBoolean(1), row.getBoolean(2)));
        if (done.found()) {
            paused.add(name);
        }
        if (done.paused()) {
            LOG.warn(
                    "relay {} paused subscription {}, its destination wants no more: {}: {}; when it does again:"
                            + " postroom subscription resume {}",
                    node,
                    name,
                    fault.errorClass(),
                    fault.message(),
                    name);
        }
        return done.paused();
    }

    /** It has lanes to be delivered, and so is not paused: not even if somebody resumed it before its lanes were given back. */
    void serving(Relay.Target target, boolean hasNone) {
        if (paused.remove(target.subscription().name()) || hasNone) {
            target.circuit().resumed();
        }
    }

    /** Whether the row could be had, and whether the subscription was not paused before. */
    private record Done(boolean found, boolean paused) {}
}
