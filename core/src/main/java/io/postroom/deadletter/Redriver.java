package io.postroom.deadletter;

import java.sql.Connection;
import java.util.Map;
import java.util.UUID;

/**
 * Knows how the dead letters of one source are put back on their way. Owners register one; everything it does happens in the
 * transaction of a step.
 *
 * <p>Safe for use by many threads.
 */
public interface Redriver {

    /** Whose dead letters these are: the column {@code source}. */
    String source();

    /**
     * Locks what must stand still while the dead letters are resolved, always in the same order. Nobody else resolves them, or changes
     * the state of their messages, until the transaction ends.
     */
    void lock(Connection tx, long[] ids);

    /** Those that cannot be redriven, with a reason that names no message: equal reasons are counted together. */
    Map<Long, String> refusals(Connection tx, long[] ids);

    /** Puts messages back on their way. Their dead letters were just resolved and may carry a changed payload. */
    void redrive(Connection tx, long[] ids);

    /** Lets go of whatever waited for messages that will not come. */
    void discard(Connection tx, long[] ids);

    /** How many messages that a redrive has put back are still on their way. */
    long underway(Connection tx, UUID redrive);

    /**
     * Keys of open dead letters whose later messages were delivered meanwhile. Takes the connection's planner settings as its own.
     *
     * @param entriesMax how far back from its end the journal is searched for them
     */
    OrderConflicts conflicts(Connection tx, DeadLetterFilter filter, long entriesMax);

    /** Tells whoever delivers that there is something to do. A hint, after the commit. */
    void wake(Connection tx);
}
