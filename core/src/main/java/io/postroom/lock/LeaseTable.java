package io.postroom.lock;

import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/** The table of leases: one method per statement, no decisions. */
final class LeaseTable {
    private final Sql take;
    private final Sql renew;
    private final Sql release;
    private final Sql require;

    LeaseTable(Schema schema) {
        take = schema.sql(LeaseTable.class, "take.sql");
        renew = schema.sql(LeaseTable.class, "renew.sql");
        release = schema.sql(LeaseTable.class, "release.sql");
        require = schema.sql(LeaseTable.class, "require.sql");
    }

    /** The right to act under a name. */
    record Held(String name, UUID holder, long fence) {}

    /** A lease just taken; {@code takeover} if a former holder let it run out. */
    record Taken(long fence, boolean takeover) {}

    /** Whether a lease was renewed; if not, whether it is still ours and only could not be changed now. */
    record Renewal(boolean renewed, boolean held) {}

    Optional<Taken> take(Connection tx, String name, UUID holder, String node, Duration lease) {
        return take.on(tx)
                .set("name", name)
                .set("holder", holder)
                .set("node", node)
                .set("lease", lease)
                .first(row -> new Taken(row.getLong("fence"), row.getBoolean("takeover")));
    }

    Renewal renew(Connection tx, Held held, Duration lease) {
        return held(renew, tx, held)
                .set("lease", lease)
                .one(row -> new Renewal(row.getBoolean("renewed"), row.getBoolean("held")));
    }

    void release(Connection tx, Held held) {
        held(release, tx, held).update();
    }

    boolean require(Connection tx, Held held, Duration idle) {
        return held(require, tx, held)
                .set("idle", idle)
                .set("idle_millis", Long.toString(idle.toMillis()))
                .first(row -> true)
                .isPresent();
    }

    private static Call held(Sql sql, Connection tx, Held held) {
        return sql.on(tx).set("name", held.name()).set("holder", held.holder()).set("fence", held.fence());
    }
}
