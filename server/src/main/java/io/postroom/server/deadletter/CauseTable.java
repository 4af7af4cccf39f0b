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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Dead letters by cause, for people: however many there are, a page steps from cause to cause and answers at once. */
final class CauseTable {
    /** So many groups are looked for; more are nobody's reading. */
    static final int STEPS_MAX = 1_000;

    /** So many letters of all groups together are counted, and so many are read. */
    static final int COUNTED_MAX = 200_000;

    static final int SAMPLED_MAX = 10_000;

    /** How many of the newest are looked at where a filter has no index. */
    static final int WINDOW = 10_000;

    /** So many are looked at for a page of the list. */
    static final int PAGE_WINDOW = 20_000;

    private final Sql listCauses;
    private final Sql stepCauses;
    private final Sql findLetters;
    private final Sql findGroupLetters;

    CauseTable(Schema schema) {
        listCauses = DeadLetterFilter.statement(schema, CauseTable.class, "list_causes.sql");
        stepCauses = schema.sql(CauseTable.class, "step_causes.sql");
        findGroupLetters = schema.sql(CauseTable.class, "find_group_letters.sql");
        findLetters = DeadLetterFilter.statement(schema, CauseTable.class, "find_letters.sql");
    }

    /**
     * Groups.
     *
     * @param isWhole whether every letter that fits is in one of them
     * @param isStepped whether groups were looked for, up to a thousand; else they are made of the newest letters, up to ten thousand
     * @param lettersMax letters of a group are counted up to this
     * @param sampleMax keys and tenants of a group are those of so many of its newest letters
     */
    record Causes(List<DeadLetterGroup> groups, boolean isWhole, boolean isStepped, long lettersMax, long sampleMax) {}

    /** From group to group where the filter has nothing but what groups are made of; else among the newest. */
    Causes causes(Connection tx, DeadLetterFilter filter, int limit) {
        return isOfGroups(filter) ? stepped(tx, filter, limit) : windowed(tx, filter, limit);
    }

    private static boolean isOfGroups(DeadLetterFilter filter) {
        return filter.equals(DeadLetterFilter.builder()
                .owner(filter.owner())
                .sources(filter.sources())
                .eventTypes(filter.eventTypes())
                .fingerprint(filter.fingerprint())
                .build());
    }

    private Causes stepped(Connection tx, DeadLetterFilter filter, int limit) {
        long[] bounds = {Long.MAX_VALUE, Long.MAX_VALUE, 0};
        List<DeadLetterGroup> groups = stepCauses
                .on(tx)
                .set("owner", filter.owner())
                .set("sources", orNull(filter.sources()))
                .set("event_types", orNull(filter.eventTypes()))
                .set("fingerprint", filter.fingerprint())
                .set("steps_max", STEPS_MAX)
                .set("letters_max", COUNTED_MAX)
                .set("sample_max", SAMPLED_MAX)
                .set("limit", limit)
                .list(row -> {
                    bounds[0] = row.getLong("letters_max");
                    bounds[1] = row.getLong("sample_max");
                    bounds[2] = row.getLong("steps");
                    return groupOf(row);
                })
                .stream()
                .flatMap(Optional::stream)
                .toList();
        return new Causes(groups, bounds[2] < STEPS_MAX, true, bounds[0], bounds[1]);
    }

    private static String @Nullable [] orNull(Set<String> values) {
        return values.isEmpty() ? null : values.toArray(String[]::new);
    }

    private Causes windowed(Connection tx, DeadLetterFilter filter, int limit) {
        long[] lookedAt = {0};
        List<DeadLetterGroup> groups = filter
                .on(listCauses.on(tx))
                .set("window", WINDOW)
                .set("limit", limit)
                .list(row -> {
                    lookedAt[0] = row.getLong("looked_at");
                    return groupOf(row);
                })
                .stream()
                .flatMap(Optional::stream)
                .toList();
        return new Causes(groups, lookedAt[0] < WINDOW, false, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /** Ids that fit, newest first; {@code next} is where the search goes on, null if there is nothing older. */
    record Letters(List<Long> ids, @Nullable Long next) {}

    Letters letters(Connection tx, DeadLetterFilter filter, @Nullable Long before, int window, int limit) {
        if (filter.owner() != null
                && filter.fingerprint() != null
                && filter.eventTypes().size() == 1
                && isOfGroups(filter)) {
            return ofGroup(tx, filter, before, limit);
        }
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

    private Letters ofGroup(Connection tx, DeadLetterFilter filter, @Nullable Long before, int limit) {
        return findGroupLetters
                .on(tx)
                .set("owner", filter.owner())
                .set("fingerprint", filter.fingerprint())
                .set("event_type", filter.eventTypes().first())
                .set("sources", orNull(filter.sources()))
                .set("before", before == null ? Long.MAX_VALUE : before)
                .set("limit", limit + 1)
                .one(row -> {
                    List<Long> found = List.of((Long[]) row.getArray("found").getArray());
                    return found.size() > limit
                            ? new Letters(found.subList(0, limit), found.get(limit - 1))
                            : new Letters(found, null);
                });
    }

    private static Optional<DeadLetterGroup> groupOf(ResultSet row) throws SQLException {
        return row.getString("owner") == null ? Optional.empty() : Optional.of(group(row));
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
