package io.postroom.relay;

import io.postroom.inbox.Acceptance;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Received;
import io.postroom.message.Envelope;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;

/** Passes on what an inbox has not accepted before. Safe for use by many threads if the projection is. */
record InboxProjection(Projection projection, Inbox inbox, String consumer) implements Projection {
    @Override
    public boolean isBehindInbox() {
        return true;
    }

    @Override
    public void apply(Connection tx, List<Envelope> batch) throws Exception {
        List<Acceptance> answers = inbox.acceptAll(
                tx,
                consumer,
                batch.stream().map(envelope -> Received.of(envelope.message())).toList());
        List<Envelope> first = new ArrayList<>(batch.size());
        for (int i = 0; i < batch.size(); i++) {
            if (answers.get(i) == Acceptance.CONFLICT) {
                throw new OutcomeException(
                        Outcome.rejected("message " + batch.get(i).message().id() + " was accepted by consumer "
                                + consumer
                                + " with another payload: one of the two is not what it says it is; find out which, correct by hand"
                                + " what is wrong, and discard this one"));
            }
            if (answers.get(i) == Acceptance.FIRST) {
                first.add(batch.get(i));
            }
        }
        if (!first.isEmpty()) {
            projection.apply(tx, first);
        }
    }
}
