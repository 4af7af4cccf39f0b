package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;

/** Whether there are connections left. */
final class ConnectionChecks {
    static final int PERCENT_MAX = 80;
    static final int PERCENT_FULL = 95;

    private final Notes notes;
    private final Sql countConnections;

    ConnectionChecks(Schema schema, Notes notes) {
        this.notes = notes;
        countConnections = schema.sql(ConnectionChecks.class, "count_connections.sql");
    }

    record Use(int used, int room, int relays) {}

    /** {@code pool} is how many connections one relay may open; 0 if nobody said. */
    void look(Connection tx, int pool) {
        judge(
                countConnections
                        .on(tx)
                        .one(row -> new Use(row.getInt("used"), row.getInt("room"), row.getInt("relays"))),
                pool);
    }

    private void judge(Use use, int pool) {
        String advice =
                "lower the pools of applications, put a pooler before them, or raise max_connections, which needs a restart";
        long percent = use.used() * 100L / Math.max(1, use.room());
        if (percent >= PERCENT_MAX) {
            notes.add(new Finding(
                    Check.CONNECTIONS,
                    percent >= PERCENT_FULL ? Severity.ERROR : Severity.WARNING,
                    use.used() + " of " + use.room() + " connections are in use, the limit is " + PERCENT_MAX + " %",
                    advice,
                    Fix.NONE));
        }
        // One more: while a relay is replaced, both have their pools.
        long wanted = (long) pool * (use.relays() + 1);
        if (pool > 0 && wanted > use.room()) {
            notes.add(Finding.error(
                    Check.POOLS,
                    "the pools of " + use.relays() + " live relays and one more are " + wanted
                            + " connections, there is room for " + use.room(),
                    advice,
                    Fix.NONE));
        }
    }
}
