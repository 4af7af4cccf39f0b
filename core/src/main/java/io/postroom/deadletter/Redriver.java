package io.postroom.deadletter;

import java.sql.Connection;
import java.util.List;
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
     * the state of their messages, until the transaction ends. It may be asked again in the transaction for some of them.
     */
    void lock(Connection tx, long[] ids);

    /** Those that cannot be redriven, with a reason that names no message: equal reasons are counted together. */
    Map<Long, String> refusals(Connection tx, long[] ids);

    /**
     * A page of open dead letters of this source that fit the filter and must be put back before some of those that were found, the first ones
     * first. They are of the keys of those, or whatever else {@link #lock} locks.
     * Found are some in the order of their ids; what was buried again has a greater id than what comes after it.
     *
     * @param found those of this source
     */
    default List<Long> earlier(Connection tx, DeadLetterFilter filter, long[] found, Stretch stretch) {
        return List.of();
    }

    /**
     * Where a step of a redrive is.
     *
     * @param after the last id that was looked at before
     * @param last the last one that is put back with this step, if it was found
     * @param upTo the last one that is meant
     * @param past the last one of the page before, none of which can go; 0 for the first page
     * @param limit how many a page has; at least as many as were found
     */
    record Stretch(long after, long last, long upTo, long past, int limit) {
        Stretch onward(long id) {
            return new Stretch(after, last, upTo, id, limit);
        }
    }

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
