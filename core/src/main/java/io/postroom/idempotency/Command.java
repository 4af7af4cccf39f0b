package io.postroom.idempotency;

import java.sql.Connection;

/**
 * What a request asks for, as changes of this database. It must neither commit nor roll back, and do nothing elsewhere: whatever it
 * does is undone if it fails, and may be done again.
 */
@FunctionalInterface
public interface Command<E extends Exception> {
    Answer run(Connection tx) throws E;
}
