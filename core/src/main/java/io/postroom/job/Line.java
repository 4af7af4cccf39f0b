package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.Session;
import java.sql.Connection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A connection that one thread keeps, and opens again after trouble: its statements stay prepared, and no exhausted pool holds it up.
 * Single statements are transactions of their own on it.
 */
final class Line implements AutoCloseable {
    private final Database database;
    private final Duration answerWithin;
    private @Nullable Session session;

    Line(Database database, Duration answerWithin) {
        this.database = database;
        this.answerWithin = answerWithin;
    }

    Connection connection() {
        if (session == null) {
            session = database.open(answerWithin);
        }
        return session.connection();
    }

    /** To be called after trouble too: the next use opens another. */
    @Override
    public void close() {
        if (session != null) {
            session.close();
            session = null;
        }
    }
}
