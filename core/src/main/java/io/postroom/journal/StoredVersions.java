package io.postroom.journal;

import io.postroom.PostroomException;
import io.postroom.message.StoredVersion;
import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.time.LocalDate;
import java.util.List;

/**
 * Which versions of which event types are stored, to be compared with {@link io.postroom.message.Upcasters} before a release is
 * deployed.
 *
 * <p>It counts every message of the outbox and of its archive, those that were delivered too, since they may be replayed, and every open
 * dead letter. The cost is one pass over both, without locks that others wait for; on a large one it takes minutes, and an hour at most.
 */
public final class StoredVersions {
    /** More pairs of event type and version than this are a mistake of whoever names events. */
    public static final int ROWS_MAX = 100_000;

    private StoredVersions() {}

    /** Every stored version, by event type and version. */
    public static List<StoredVersion> list(Database database) {
        Sql versions = database.schema().sql(StoredVersions.class, "stored_versions.sql");
        // In a transaction, which may take longer than a single statement.
        List<StoredVersion> rows = database.transact(tx -> versions.on(tx)
                .set("limit", ROWS_MAX + 1)
                .list(row -> new StoredVersion(
                        row.getString("event_type"),
                        row.getInt("event_version"),
                        row.getLong("messages"),
                        row.getLong("dead_letters"),
                        row.getObject("oldest_day", LocalDate.class),
                        row.getObject("newest_day", LocalDate.class))));
        if (rows.size() > ROWS_MAX) {
            throw new PostroomException(
                    "stored-versions.too-many",
                    "could not list the stored versions: there are more than " + ROWS_MAX
                            + " pairs of event type and version; an event type is a name for a kind of event, not for one event");
        }
        return List.copyOf(rows);
    }
}
