package io.postroom.relay;

import io.postroom.message.Envelope;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs a lane's projection: takes batches, makes them smaller when one fails, and finds out what became of one whose commit was not
 * answered. For the lane's thread, which may be succeeded by another when it hangs in the projection.
 */
final class Applier {
    /** What PostgreSQL ends so often in a row, because of what others do at the same time, is taken for the messages' fault. */
    private static final int DISTURBED_MAX = 5;

    /** So many causes are looked at. */
    private static final int CAUSES_MAX = 16;

    private final Projection projection;
    private final Subscription subscription;
    private final LaneStore store;
    private final LaneSends sends;
    private final int batchMax;
    private int max;
    /** Up to this position messages go one by one: one of them hangs. */
    private long singlyTo;

    private int disturbed;
    private List<Slot> applying = List.of();
    private @Nullable Attempt doubtful;

    Applier(Projection projection, Subscription subscription, LaneStore store, LaneSends sends, int batchMax) {
        this.projection = projection;
        this.subscription = subscription;
        this.store = store;
        this.sends = sends;
        this.batchMax = batchMax;
        this.max = batchMax;
    }

    /**
     * Messages to apply, with what is written in their transaction: everything else that is to be recorded, and the position.
     *
     * @param onSuccess adds to the record what is to be written of a message that took effect
     */
    record Attempt(List<Slot> batch, LaneRecord record, long position, Consumer<Slot> onSuccess) {}

    /** The projection threw, and nothing was written. */
    static final class NotAppliedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotAppliedException(Throwable cause) {
            super(cause);
        }
    }

    /** The first message and as many of those after it as may go with it. */
    List<Slot> batch(Slot first, Deque<Slot> ready, Predicate<Slot> mayGo) {
        List<Slot> batch = new ArrayList<>();
        batch.add(first);
        if (isAlone(first)) {
            return batch;
        }
        for (Slot next = ready.peekFirst(); next != null && batch.size() < max; next = ready.peekFirst()) {
            if (isAlone(next)) {
                break;
            }
            ready.removeFirst();
            if (mayGo.test(next)) {
                batch.add(next);
            }
        }
        return batch;
    }

    /** What failed before, and what may hang, goes by itself. */
    private boolean isAlone(Slot slot) {
        return slot.isClaimed() || slot.position() <= singlyTo;
    }

    /**
     * Applies a batch and moves the lane, in one transaction.
     *
     * @throws NotAppliedException if the projection failed
     * @throws DatabaseException if PostgreSQL did; perhaps after all was committed
     */
    LaneStore.Written apply(Attempt attempt, boolean probe) {
        List<Envelope> envelopes = new ArrayList<>(attempt.batch().size());
        long now = System.nanoTime();
        for (Slot slot : attempt.batch()) {
            envelopes.add(slot.envelope());
            slot.fly(now, probe);
        }
        applying = attempt.batch();
        doubtful = attempt;
        try {
            LaneStore.Written written = store.apply(
                    attempt.record(), attempt.position(), subscription.deadline(), tx -> run(tx, attempt, envelopes));
            doubtful = null;
            disturbed = 0;
            max = Math.min(batchMax, max * 2);
            return written;
        } catch (NotAppliedException e) {
            RuntimeException ended = ended(e);
            // What PostgreSQL ended is not in doubt either, but it goes again when the lane has waited a little.
            doubtful = ended == e ? null : attempt;
            throw ended;
        }
    }

    private void run(Connection tx, Attempt attempt, List<Envelope> envelopes) {
        Slot first = attempt.batch().get(0);
        @Nullable Throwable thrown = null;
        sends.hold(first);
        try {
            BorrowedConnection.lend(tx, subscription.name(), lent -> projection.apply(lent, envelopes));
            Database.requireWhole(tx);
        } catch (Throwable e) {
            // Whatever it is, it came of these messages: the lane would meet it again if it ended here.
            thrown = e;
        }
        // From here on this thread is not taken for one that hangs, or it is too late for it to commit.
        sends.letGo(first);
        if (thrown != null) {
            // An interrupt that a projection left behind is its own; a relay that wants its lanes to end has told them.
            Thread.interrupted();
            throw new NotAppliedException(thrown);
        }
        attempt.batch().forEach(attempt.onSuccess());
    }

    /** Tells what the messages are to blame for from what PostgreSQL or others are. */
    private RuntimeException ended(NotAppliedException e) {
        SQLException said = sqlException(e);
        String state = said == null || said.getSQLState() == null ? null : said.getSQLState();
        if (state == null
                || !SqlState.isUnreachable(state) && !(SqlState.isDisturbed(state) && ++disturbed < DISTURBED_MAX)) {
            return e;
        }
        return DatabaseException.of("apply messages to projection " + subscription.name(), said);
    }

    private static @Nullable SQLException sqlException(Throwable thrown) {
        Throwable cause = thrown;
        for (int i = 0; cause != null && i < CAUSES_MAX; i++, cause = cause.getCause()) {
            // What a batch says of itself quotes the values of its rows.
            if (cause instanceof SQLException found && !(found instanceof BatchUpdateException)) {
                return found;
            }
        }
        return null;
    }

    /** The batch failed as a whole: smaller ones will tell which message it was. Returns whether it can be smaller. */
    boolean split(List<Slot> batch) {
        max = Math.max(1, batch.size() / 2);
        return batch.size() > 1;
    }

    /** The batch hangs: each of its messages goes by itself. Returns whether there was more than one. */
    boolean single(List<Slot> batch) {
        singlyTo = Math.max(singlyTo, batch.get(batch.size() - 1).position());
        return batch.size() > 1;
    }

    /** What the lane's thread was applying when it was last seen. */
    List<Slot> applying() {
        return applying;
    }

    /** Nothing is in doubt any more about what was being applied when the thread hung: it cannot commit. */
    void wrested() {
        doubtful = null;
    }

    boolean isInDoubt() {
        return doubtful != null;
    }

    /** Finds out what became of the batch whose end is not known. */
    Settled settle() {
        Attempt attempt = doubtful;
        if (attempt == null) {
            throw new IllegalStateException("nothing is in doubt");
        }
        Optional<LaneStore.Written> written = store.recall(attempt.record());
        doubtful = null;
        written.ifPresent(ignored -> store.applied(attempt.position()));
        return new Settled(attempt.batch(), written);
    }

    /** A batch and what was written of it, if anything was. */
    record Settled(List<Slot> batch, Optional<LaneStore.Written> written) {}
}
