package io.postroom.postgres;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** One migration as it stands in a database. */
public record MigrationState(
        int version,
        String name,
        Word state,
        @Nullable Instant appliedAt,
        @Nullable String appliedBy) {

    /** Where a migration stands. */
    public enum Word {
        /** In the database, as shipped. */
        APPLIED,
        /** Shipped, not in the database yet. */
        PENDING,
        /** In the database, but from a file that is not the one shipped. */
        CHANGED,
        /** In the database, unknown to this version of Postroom. */
        NEWER
    }
}
