package io.postroom.relay;

import java.sql.Connection;
import java.util.List;

/**
 * Projections that come and go while a relay runs; it asks at each beat which there are. What is no longer among them is no longer
 * taken; whoever removes one waits until its lanes are given back.
 *
 * <p>Called by one relay, on one thread at a time.
 */
public interface Roster {

    /** Makes what is missing, so that it can be served. Before the relay takes a lane for the first time; throws if it cannot. */
    void open();

    /** What to serve until the next beat. On the beat's connection: it reads, and answers at once. */
    List<Entry> entries(Connection tx);

    /**
     * A subscription that is applied by a projection.
     *
     * @param last its lanes go no further than this position. It may go back only while no relay has a lane, and not behind any
     */
    record Entry(Subscription subscription, Projection projection, long last) {}
}
