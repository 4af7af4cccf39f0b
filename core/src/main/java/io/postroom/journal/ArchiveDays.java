package io.postroom.journal;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;

/** The archived days as those who read them by position need them. Safe for use by many threads. */
public final class ArchiveDays {
    private final Sql keep;

    public ArchiveDays(Schema schema) {
        keep = schema.sql(ArchiveDays.class, "keep_archive.sql");
    }

    /** Until the transaction ends no archived day is dropped; returns the last position that was dropped before. */
    public long keep(Connection tx) {
        return keep.on(tx).one(row -> row.getLong(1));
    }
}
