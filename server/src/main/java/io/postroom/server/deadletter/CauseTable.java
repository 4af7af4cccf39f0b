package io.postroom.server.deadletter;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Dead letters by cause, for people: however many there are, a page looks at the newest and answers at once. */
final class CauseTable {
    /** How many of the newest are looked at. */
    static final int WINDOW = 10_000;

    /** So many are looked at for a page of the list. */
    static final int PAGE_WINDOW = 20_000;

    private final Sql listCauses;
    private final Sql findLetters;

    CauseTable(Schema schema) {
        listCauses = schema.sql(CauseTable.class, "list_causes.sql");
        findLetters = schema.sql(CauseTable.class, "find_letters.sql");
    }

    /** Groups, and among how many dead letters they were made. */
    record Causes(List<DeadLetterGroup> groups, long lookedAt) {
        boolean isWhole() {
            return lookedAt < WINDOW;
        }
    }

    Causes causes(Connection tx, DeadLetterFilter filter, int limit) {
        long[] lookedAt = {0};
        List<DeadLetterGroup> groups = filter
                .on(listCauses.on(tx))
                .set("window", WINDOW)
                .set("limit", limit)
                .list(row -> {
                    lookedAt[0] = row.getLong("looked_at");
                    return row.getString("owner") == null ? Optional.<DeadLetterGroup>empty() : Optional.of(group(row));
                })
                .stream()
                .flatMap(Optional::stream)
                .toList();
        return new Causes(groups, lookedAt[0]);
    }

    /** Ids that fit, newest first; {@code next} is where the search goes on, null if there is nothing older. */
    record Letters(List<Long> ids, @Nullable Long next) {}

    Letters letters(Connection tx, DeadLetterFilter filter, @Nullable Long before, int window, int limit) {
        return filter.on(findLetters.on(tx))
                .set("window", window)
                .set("before", before == null ? Long.MAX_VALUE : before)
                .set("limit", limit + 1)
                .one(row -> {
                    List<Long> found = List.of((Long[]) row.getArray("found").getArray());
                    boolean hasMore = found.size() > limit;
                    List<Long> shown = hasMore ? found.subList(0, limit) : found;
                    Long further = row.getLong("looked_at") < window ? null : Long.valueOf(row.getLong("oldest"));
                    return new Letters(shown, hasMore ? shown.get(limit - 1) : further);
                });
    }

    private static DeadLetterGroup group(ResultSet row) throws SQLException {
        return new DeadLetterGroup(
                row.getString("owner"),
                row.getBoolean("of_jobs"),
                row.getString("event_type"),
                row.getString("error_class"),
                row.getString("fingerprint"),
                null,
                null,
                null,
                null,
                row.getLong("letters"),
                row.getObject("first_buried_at", OffsetDateTime.class).toInstant(),
                row.getObject("last_buried_at", OffsetDateTime.class).toInstant(),
                row.getLong("keys"),
                row.getLong("tenants"),
                row.getLong("sample_id"),
                row.getString("sample_error"));
    }
}
