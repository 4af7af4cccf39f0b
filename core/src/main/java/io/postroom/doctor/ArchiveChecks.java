package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/** Whether old days go to the archive as they used to, where somebody archives at all. */
final class ArchiveChecks {
    /** A day more or less is nothing: rounds of maintenance, and somebody who is a little behind. */
    static final int MARGIN_DAYS = 2;

    private final Notes notes;
    private final Sql findStuckDay;

    ArchiveChecks(Schema schema, Notes notes) {
        this.notes = notes;
        findStuckDay = schema.sql(ArchiveChecks.class, "find_stuck_day.sql");
    }

    private record Stuck(LocalDate day, int usual, @Nullable String need) {}

    void look(Connection tx) {
        findStuckDay
                .on(tx)
                .set("margin", MARGIN_DAYS)
                .first(row ->
                        new Stuck(row.getObject("day", LocalDate.class), row.getInt("days"), row.getString("need")))
                .ifPresent(stuck -> notes.add(Finding.warning(
                        Check.ARCHIVE_STUCK,
                        "day " + stuck.day() + " is not archived, though others were after " + stuck.usual() + " days; "
                                + (stuck.need() == null
                                        ? "nobody needs it: perhaps nobody archives any more, or a lock was not to be had"
                                        : "it is needed by " + stuck.need()),
                        "remove who does not want it any longer, or see why they are behind; postroom archive run --dry-run shows them"
                                + " (docs/operating/disk.md)",
                        Fix.NONE)));
    }
}
