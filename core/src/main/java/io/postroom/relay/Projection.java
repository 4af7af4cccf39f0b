package io.postroom.relay;

import io.postroom.inbox.Inbox;
import io.postroom.message.Envelope;
import java.sql.Connection;
import java.util.List;

/**
 * Code of the application that writes what messages mean into this database, in the transaction that also moves its lane: each
 * message takes effect exactly once, whatever dies and whoever takes over.
 *
 * <p>It gets messages in batches, in order per key. Returning means that all of them are applied; what it wrote is committed then,
 * together with the lane's position. Throwing means that nothing is: the batch is rolled back and tried again in smaller ones, down to
 * the message at fault, which is retried or buried as the subscription says while the others go on.
 *
 * <p>The transaction is the relay's: a projection must not end it, and cannot through {@code tx}. Effects outside of it (calls, files,
 * memory) are not undone by a rollback and may happen again. One object serves all lanes of its subscription, each on a thread of its
 * own, so it must be safe for use by many threads.
 */
@FunctionalInterface
public interface Projection {

    /** Applies messages, all of them or none. */
    void apply(Connection tx, List<Envelope> batch) throws Exception;

    /**
     * This projection behind an inbox: what the consumer has accepted already does not reach it again, wherever it came from. So it can
     * be replayed, within what the inbox remembers, and its messages may come from a broker as well as from the journal. A message that
     * comes again with another payload is rejected.
     */
    default Projection behind(Inbox inbox, String consumer) {
        return new InboxProjection(this, inbox, consumer);
    }

    /** Whether an inbox keeps messages that come again from taking effect again. */
    default boolean isBehindInbox() {
        return false;
    }
}
