package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.List;

/** Whether tomorrow's messages have a partition, and whether some of the past had none. */
final class PartitionChecks {
    /** Today and tomorrow: maintenance makes a week, so that fewer means that nobody has run it for days. */
    static final int DAYS_AHEAD_MIN = 2;

    private final Schema schema;
    private final Notes notes;
    private final Sql listDays;
    private final Sql hasStrays;

    PartitionChecks(Schema schema, Notes notes) {
        this.schema = schema;
        this.notes = notes;
        listDays = schema.sql(PartitionChecks.class, "list_days.sql");
        hasStrays = schema.sql(PartitionChecks.class, "has_strays.sql");
    }

    private record Days(String table, int ahead, long strays) {}

    void look(Connection tx) {
        Fix keep = Fix.of(Fix.Risk.HARMLESS, schema.fill("select /*schema*/keep_partitions()"));
        List<Days> tables = listDays.on(tx)
                .set("schema", schema.name())
                .list(row -> new Days(row.getString("name"), row.getInt("days_ahead"), row.getLong("strays")));
        boolean outboxHasStrays = hasStrays.on(tx).one(row -> row.getBoolean(1));
        for (Days days : tables) {
            if (days.ahead() < DAYS_AHEAD_MIN) {
                notes.add(new Finding(
                        Check.PARTITIONS_AHEAD,
                        days.ahead() <= 0 ? Severity.ERROR : Severity.WARNING,
                        days.table() + " has partitions for " + Math.max(0, days.ahead())
                                + " days from today on, the least is " + DAYS_AHEAD_MIN,
                        "make them, and let some process run maintenance",
                        keep));
            }
            boolean isOutbox = days.table().equals("outbox");
            if (isOutbox ? outboxHasStrays : days.strays() > 0) {
                notes.add(Finding.warning(
                        Check.DEFAULT_PARTITION,
                        (isOutbox ? "rows" : "about " + days.strays() + " rows") + " lie in the default partition of "
                                + days.table() + ", there should be none: nobody had made the partitions of their days",
                        "nothing is lost or late by it; see that some process runs maintenance, and delete those rows when they are old"
                                + " (docs/operating/partitions.md)",
                        // To make partitions moves none of them, and only their owner knows when nobody needs them.
                        Fix.NONE));
            }
        }
    }
}
