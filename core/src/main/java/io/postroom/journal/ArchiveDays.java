package io.postroom.journal;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.LocalDate;
import java.util.Optional;

/**
 * Which days of the archive positions lie in. Whoever looks into the archive by position asks here first and names the days: a statement
 * that names none opens and locks every day there is, and a server has not locks enough for some years of them. Ask after you have looked
 * into the journal: a day only ever goes from there to the archive. Safe for use by many threads.
 */
public final class ArchiveDays {
    private final Sql findSpan;
    private final Sql keep;

    public ArchiveDays(Schema schema) {
        findSpan = schema.sql(ArchiveDays.class, "find_archive_span.sql");
        keep = schema.sql(ArchiveDays.class, "keep_archive.sql");
    }

    /** Until the transaction ends no archived day is dropped; returns the last position that was dropped before. */
    public long keep(Connection tx) {
        return keep.on(tx).one(row -> row.getLong(1));
    }

    /** Days, both included. */
    public record Span(LocalDate first, LocalDate last) {}

    /** The days of the positions after one and up to another; empty if none of them is archived, or all were dropped since. */
    public Optional<Span> of(Connection tx, long after, long upTo) {
        return findSpan.on(tx).set("after", after).set("up_to", upTo).one(row -> {
            LocalDate first = row.getObject("first_day", LocalDate.class);
            LocalDate last = row.getObject("last_day", LocalDate.class);
            return first == null ? Optional.empty() : Optional.of(new Span(first, last));
        });
    }
}
