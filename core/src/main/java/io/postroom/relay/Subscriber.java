package io.postroom.relay;

import io.postroom.PostroomException;
import io.postroom.journal.Head;
import io.postroom.journal.Journal;
import io.postroom.postgres.Schema;
import java.sql.Connection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes subscriptions with their lanes, and brings existing ones up to date. Safe for use by many threads. */
public final class Subscriber {
    private static final Logger LOG = LoggerFactory.getLogger(Subscriber.class);

    private final Journal journal;
    private final RelayTable table;

    public Subscriber(Schema schema, Journal journal) {
        this.journal = journal;
        this.table = new RelayTable(schema);
    }

    /** The position after which a subscription begins if it is new. */
    public long beginning(Subscription subscription) {
        long position = subscription.start().position(journal);
        if (position > journal.refreshHead().position()) {
            // Perhaps the message at that position is committed, and only not stamped yet.
            journal.stampAll();
        }
        Head head = journal.refreshHead();
        if (position > head.position()) {
            throw new PostroomException(
                    "subscription.start-beyond-end",
                    "could not make subscription " + subscription.name() + ": it is to begin after position " + position
                            + ", the journal ends at " + head.position() + "; begin there or earlier");
        }
        return position;
    }

    /**
     * Makes a subscription for a projection in the caller's transaction, or says what a release has changed of it. Returns whether it is
     * new.
     */
    public boolean subscribe(Connection tx, Subscription subscription, Projection projection, long position) {
        return subscribe(tx, subscription, new Relay.Receiver(null, projection), position);
    }

    /** Says so if a new subscription does not get everything from where it begins: days that it needs were dropped. */
    public void warnIfMessagesAreGone(Subscription subscription, long position) {
        long keptAfter = journal.keptAfter();
        if (position < keptAfter) {
            LOG.warn(
                    "subscription {} begins after position {}, but messages up to position {} are gone with the days that were dropped;"
                            + " it gets those after them",
                    subscription.name(),
                    position,
                    keptAfter);
        }
    }

    boolean subscribe(Connection tx, Subscription subscription, Relay.Receiver receiver, long position) {
        RelayTable.Stored stored = table.subscribe(tx, subscription, receiver, position);
        // Rolls back: a relay that is refused changes nothing.
        requireSame(stored, subscription);
        return table.openLanes(tx, subscription.name(), stored.lanes(), position) > 0;
    }

    private static void requireSame(RelayTable.Stored stored, Subscription subscription) {
        if (!stored.ordering().equals(subscription.order().word())) {
            throw new PostroomException(
                    "subscription.differs",
                    "could not serve subscription " + subscription.name() + ": it was made with order "
                            + stored.ordering() + ", this relay says order "
                            + subscription.order().word() + "; use the former, or another name");
        }
        if (stored.lanes() != subscription.lanes()) {
            LOG.info(
                    "subscription {} has {} lanes; the {} this relay says are for when it is first made",
                    subscription.name(),
                    stored.lanes(),
                    subscription.lanes());
        }
    }
}
