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
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a lane's projection: takes batches, makes them smaller when one fails, and finds out what became of one whose commit was not
 * answered. For the lane's thread, which may be succeeded by another when it hangs in the projection.
 */
final class Applier {
    private static final Logger LOG = LoggerFactory.getLogger(Applier.class);

    /** A batch that PostgreSQL does not let through so often in a row, though it can be reached, is taken for one at fault. */
    private static final int ENDED_MAX = 4;

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

    private List<Slot> applying = List.of();
    private @Nullable Doubt doubt;
    private int ended;

    /** The connection in use, for whoever takes the lane from a thread that hangs. */
    private volatile @Nullable Connection connection;

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

    /** An attempt of which it is not known whether it was committed. */
    private record Doubt(Attempt attempt, long number, RuntimeException ended) {}

    /** The projection threw, and nothing was written. */
    static final class NotAppliedException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotAppliedException(Throwable cause) {
            super(cause);
        }
    }

    /** The first message and as many of those next to it as may go with it. */
    List<Slot> batch(Slot first, Deque<Slot> ready) {
        List<Slot> batch = new ArrayList<>();
        batch.add(first);
        if (isAlone(first)) {
            return batch;
        }
        for (Slot next = ready.peekFirst(); next != null && batch.size() < max; next = ready.peekFirst()) {
            if (isAlone(next)) {
                break;
            }
            batch.add(ready.removeFirst());
        }
        return batch;
    }

    /** What failed before, and what may hang, goes by itself. */
    private boolean isAlone(Slot slot) {
        return slot.isClaimed() && slot.attempt() > 1 || slot.past().crashes() > 0 || slot.position() <= singlyTo;
    }

    /**
     * Applies a batch and moves the lane, in one transaction.
     *
     * @throws NotAppliedException if the projection failed
     * @throws DatabaseException if PostgreSQL did; perhaps after all was committed
     */
    LaneStore.Written apply(Attempt attempt, boolean probe) {
        requirePassed(attempt);
        applying = attempt.batch();
        long number = store.nextNumber();
        // Until the opposite is known: whatever is thrown after the commit does not undo it.
        doubt = new Doubt(attempt, number, new IllegalStateException("the lane's thread ended"));
        try {
            LaneStore.Written written = store.apply(
                    attempt.record(), attempt.position(), subscription.deadline(), tx -> run(tx, attempt, probe));
            doubt = null;
            ended = 0;
            if (attempt.batch().size() >= max) {
                max = Math.min(batchMax, max * 2);
            }
            return written;
        } catch (NotAppliedException thrown) {
            NotAppliedException e = thrown.getCause() instanceof UndecidedException undecided
                    ? new NotAppliedException(undecided.reason())
                    : thrown;
            DatabaseException disturbed = disturbance(e);
            doubt = disturbed == null ? null : new Doubt(attempt, number, e);
            throw disturbed == null ? e : disturbed;
        } catch (DatabaseException e) {
            doubt = new Doubt(attempt, number, e);
            throw e;
        }
    }

    /** A message that takes effect must not be read again, so the position passes it in the same transaction. */
    private void requirePassed(Attempt attempt) {
        for (Slot slot : attempt.batch()) {
            if (store.isExact() && slot.position() > attempt.position()) {
                throw new IllegalStateException("message at position " + slot.position() + " of subscription "
                        + subscription.name() + " would take effect while its lane stays at " + attempt.position());
            }
        }
    }

    private void run(Connection tx, Attempt attempt, boolean probe) {
        Slot first = attempt.batch().get(0);
        List<Envelope> envelopes = new ArrayList<>(attempt.batch().size());
        // The deadline counts from here: waiting for a connection is not the projection's.
        long now = System.nanoTime();
        for (Slot slot : attempt.batch()) {
            envelopes.add(slot.envelope());
            slot.fly(now, probe);
        }
        @Nullable Throwable thrown = null;
        connection = tx;
        LaneSends.Hold hold = sends.hold(first);
        try {
            BorrowedConnection.lend(tx, subscription.name(), lent -> projection.apply(lent, envelopes));
            Database.requireWhole(tx);
            store.checkConstraints(tx);
        } catch (Throwable e) {
            // Whatever it is, it came of these messages: the lane would meet it again if it ended here.
            thrown = e;
        }
        // From here on this thread is not taken for one that hangs, or it is too late for it to commit.
        sends.letGo(hold);
        connection = null;
        if (thrown != null) {
            // An interrupt that a projection left behind is its own; a relay that wants its lanes to end has told them.
            Thread.interrupted();
            throw new NotAppliedException(thrown);
        }
        attempt.batch().forEach(attempt.onSuccess());
    }

    /** What PostgreSQL or others are to blame for, as far as can be seen; null if it is the messages' fault. */
    private @Nullable DatabaseException disturbance(NotAppliedException e) {
        SQLException said = sqlException(e);
        String state = said == null || said.getSQLState() == null ? null : said.getSQLState();
        return state != null && (SqlState.isUnreachable(state) || SqlState.isDisturbed(state))
                ? DatabaseException.of("apply messages to projection " + subscription.name(), said)
                : null;
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
        // Perhaps none of them hangs, and they are too many for the deadline.
        max = Math.max(1, batch.size() / 2);
        return batch.size() > 1;
    }

    /** What the lane's thread was applying when it was last seen. */
    List<Slot> applying() {
        return applying;
    }

    /** The lane was taken from a thread that hangs: it cannot commit, and must not keep its locks from those who come next. */
    void wrested() {
        doubt = null;
        Connection hanging = connection;
        if (hanging != null) {
            try {
                hanging.unwrap(BaseConnection.class).abort(Runnable::run);
            } catch (SQLException e) {
                LOG.debug("could not end the session of subscription {} that hangs", subscription.name(), e);
            }
        }
    }

    boolean isInDoubt() {
        return doubt != null;
    }

    /** Finds out what became of the batch whose end is not known. */
    Settled settle() {
        Doubt doubtful = Objects.requireNonNull(doubt, "nothing is in doubt");
        Attempt attempt = doubtful.attempt();
        Optional<LaneStore.Written> written = store.recall(attempt.record(), attempt.position(), doubtful.number());
        doubt = null;
        boolean blamed = written.isEmpty() && ++ended >= ENDED_MAX;
        ended = written.isPresent() ? 0 : ended;
        return new Settled(attempt.batch(), written, blamed ? doubtful.ended() : null);
    }

    /**
     * A batch and what was written of it, if anything was.
     *
     * @param blame what ended it too often to be chance
     */
    record Settled(
            List<Slot> batch,
            Optional<LaneStore.Written> written,
            @Nullable RuntimeException blame) {}
}
