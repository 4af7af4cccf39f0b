package io.postroom.maintenance;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.util.List;

/** Makes daily partitions well ahead, and notices messages for which nobody did. Safe to run anywhere, at any time. */
public final class PartitionKeeper {
    /** How many days ahead of today there is always a partition. */
    public static final int LEAD_DAYS = 7;

    private final Database database;
    private final Sql keepPartitions;
    private final Sql findStrays;

    public PartitionKeeper(Database database) {
        this.database = database;
        keepPartitions = database.schema().sql(PartitionKeeper.class, "keep_partitions.sql");
        findStrays = database.schema().sql(PartitionKeeper.class, "find_strays.sql");
    }

    /** Makes what is missing and returns the names of the new partitions. */
    public List<String> keep() {
        return database.transact(
                tx -> keepPartitions.on(tx).set("lead_days", LEAD_DAYS).list(row -> row.getString(1)));
    }

    /** Whether messages lie in the outbox's default partition, because no partition was there for their day. */
    public boolean hasStrays() {
        return database.run(tx -> findStrays.on(tx).one(row -> row.getBoolean(1)));
    }
}
