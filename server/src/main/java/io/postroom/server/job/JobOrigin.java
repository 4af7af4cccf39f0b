package io.postroom.server.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.Sql;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Where jobs come from: a few letters that no other schema has, and that stay over a restart, and over a restored dump if the database
 * keeps its name. Ids of jobs count from one in every schema; an endpoint that serves two of them must not take one's job for the other's.
 * Safe for use by many threads.
 */
public final class JobOrigin {
    private final Database database;
    private final Sql readOrigin;
    private volatile @Nullable String letters;

    /** Reads nothing yet. */
    public JobOrigin(Database database) {
        this.database = database;
        readOrigin = database.schema().sql(JobOrigin.class, "read_origin.sql");
    }

    /** A name for the job that is its own everywhere: {@code job-3f2a9c1b7d4e-42}. */
    String idOf(long job) {
        String known = letters;
        if (known == null) {
            known = Objects.requireNonNull(database.run(tx -> readOrigin.on(tx).one(row -> row.getString("letters"))));
            letters = known;
        }
        return "job-" + known + "-" + job;
    }
}
