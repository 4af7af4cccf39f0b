package io.postroom.server.job;

import io.postroom.job.JobFilter;
import io.postroom.job.JobState;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Jobs as pages list them, through a window of ids at a time: there is no index on what people look for. */
final class JobRowTable {
    private final Sql listRows;
    private final Sql readSpan;

    JobRowTable(Schema schema) {
        listRows = schema.sql(JobRowTable.class, "list_rows.sql");
        readSpan = schema.sql(JobRowTable.class, "read_span.sql");
    }

    /** The ids that are known; both are 0 if there are none. */
    record Span(long oldest, long newest) {}

    Span span(Connection tx) {
        return readSpan.on(tx).one(row -> new Span(row.getLong("oldest"), row.getLong("newest")));
    }

    List<JobRow> rows(Connection tx, JobFilter filter, long from, long before, int limit) {
        JobState state = filter.state();
        return listRows.on(tx)
                .set("queue", filter.queue())
                .set("kind", filter.kind())
                .set("state", state == null ? null : state.word())
                .set("tenant_id", filter.tenantId())
                .set("batch", filter.batch())
                .set("from", from)
                .set("before", before)
                .set("limit", limit)
                .list(JobRowTable::row);
    }

    private static JobRow row(ResultSet row) throws SQLException {
        String state = row.getString("state");
        return new JobRow(
                row.getLong("id"),
                row.getString("queue"),
                row.getString("kind"),
                Arrays.stream(JobState.values())
                        .filter(each -> each.word().equals(state))
                        .findFirst()
                        .orElseThrow(),
                row.getString("waits"),
                row.getInt("priority"),
                row.getInt("attempt"),
                row.getObject("run_at", OffsetDateTime.class).toInstant(),
                row.getString("worker"),
                instant(row.getObject("ended_at", OffsetDateTime.class)),
                row.getString("error"));
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }
}
