package io.postroom.source;

import io.postroom.PostroomException;
import io.postroom.inbox.Acceptance;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Received;
import io.postroom.journal.Filter;
import io.postroom.journal.Journal;
import io.postroom.message.Envelope;
import io.postroom.message.Reading;
import io.postroom.postgres.Database;
import io.postroom.postgres.SqlState;
import io.postroom.relay.BorrowedConnection;
import io.postroom.relay.Outcome;
import io.postroom.relay.OutcomeException;
import io.postroom.relay.Projection;
import io.postroom.retry.Fault;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The transactions in which messages take effect: who serves, inbox, projection. Safe for use by many threads. */
record Application(
        Database database,
        ReceptionTable table,
        Inbox inbox,
        Journal journal,
        String consumer,
        Projection projection,
        Duration deadline,
        Semaphore transactions,
        Watch watch,
        Account account) {

    /** So many causes are looked at. */
    private static final int CAUSES_MAX = 16;

    /** The error class of a message whose id another one has. */
    static final String CONFLICT = "inbox.conflict";

    private static final Duration LOOK = Duration.ofMillis(200);

    /** A message as it came, and as this process reads it; what is to become of it if it cannot be read here. */
    record Item(
            Arrival arrival, Envelope envelope, @Nullable Outcome unreadable) {
        private static Item of(Arrival arrival, Journal journal) {
            Fault fault = arrival.unreadable();
            if (fault != null) {
                return new Item(arrival, arrival.envelope(), new Outcome.Rejected(fault));
            }
            Reading reading = journal.reading(arrival.envelope().message());
            if (reading instanceof Reading.Read read) {
                return new Item(arrival, new Envelope(arrival.envelope().position(), read.message(), 1), null);
            }
            Reading.Unreadable unreadable = (Reading.Unreadable) reading;
            // A process with the release that wrote it will get the partition; till then its key must not go on without
            // it.
            Outcome outcome = reading instanceof Reading.TooNew
                    ? new Outcome.Unavailable(Fault.of(unreadable.errorClass(), unreadable.reason()), null)
                    : new Outcome.Rejected(Fault.of(
                            unreadable.errorClass(),
                            unreadable.reason() + "; redrive it when this process can read it"));
            return new Item(arrival, arrival.envelope(), outcome);
        }
    }

    /** How a transaction ended; {@code blamed} if it was the projection that threw. */
    record Result(@Nullable Throwable thrown, boolean blamed) {
        /** Nobody wanted it any more, and nothing was done. */
        static final Result ABANDONED = new Result(null, false);

        /** Somebody else has gone on in its partition: nothing was done, and it is to be looked at anew. */
        static final Result OVERTAKEN = new Result(null, false);

        boolean isApplied() {
            return thrown == null && this != ABANDONED && this != OVERTAKEN;
        }

        /** The database cannot be used, or not as it must be, or has no room: no message is to blame. */
        boolean isTrouble() {
            String state = state("-");
            return thrown != null
                    && (!blamed
                            || SqlState.isUnreachable(state)
                            || state.startsWith("53")
                            || state.equals(SqlState.LOCK_NOT_AVAILABLE));
        }

        /** It was ended because of what others did at the same time. */
        boolean isDisturbed() {
            return thrown != null && SqlState.isDisturbed(state("-"));
        }

        private String state(String none) {
            Throwable cause = thrown;
            for (int i = 0; cause != null && i < CAUSES_MAX; i++, cause = cause.getCause()) {
                if (cause instanceof SQLException found && !(found instanceof BatchUpdateException)) {
                    return found.getSQLState() == null ? none : found.getSQLState();
                }
            }
            return none;
        }
    }

    Item read(Arrival arrival) {
        return Item.of(arrival, journal);
    }

    Optional<ReceptionTable.Server> server() {
        return database.run(tx -> table.servedBy(tx, consumer));
    }

    /** What a transaction finds that has begun. */
    record Entry(boolean ofSubscription, Filter filter) {}

    /** Begins a transaction, unless nothing may be applied now. */
    Entry enter(Connection tx) {
        ReceptionTable.Entry entry = table.enter(tx, consumer, deadline);
        if (entry.switching()) {
            throw new PostroomException(
                    "source.switching", "subscription " + consumer + " is about to be served by somebody else");
        }
        String servedBy = entry.servedBy();
        if (servedBy != null && !servedBy.equals(Reception.KAFKA)) {
            throw new NotServedException(consumer, servedBy);
        }
        if (entry.paused()) {
            throw new PostroomException("source.paused", "subscription " + consumer + " is paused");
        }
        return new Entry(servedBy != null, entry.filter());
    }

    /** Applies messages in one transaction, those that come for the first time. */
    Result apply(List<Item> batch, int attempt, Reception.Caller caller) throws InterruptedException {
        boolean[] done = {false};
        try {
            boolean begun = transact(caller, tx -> {
                project(tx, wanted(tx, batch), attempt);
                account.advance(tx, caller.mark(batch.size()));
                done[0] = true;
            });
            return begun ? new Result(null, false) : Result.ABANDONED;
        } catch (NotServedException | WentBackException e) {
            throw e;
        } catch (OvertakenException e) {
            caller.overtaken(e.next());
            return Result.OVERTAKEN;
        } catch (NotAppliedException e) {
            return new Result(e.getCause(), true);
        } catch (RuntimeException e) {
            return thrown(e, done[0]);
        }
    }

    /** What fails when it is committed, such as a constraint that was deferred, was written by the projection. */
    static Result thrown(RuntimeException e, boolean wasDone) {
        Result result = new Result(e, true);
        return wasDone && !result.isTrouble() ? result : new Result(e, false);
    }

    /** Without what the subscription does not want, though it is in its topics, and what an operator has. */
    private List<Item> wanted(Connection tx, List<Item> batch) {
        Filter filter = enter(tx).filter();
        Set<UUID> known = table.knownLetters(
                tx,
                consumer,
                batch.stream().map(item -> item.envelope().message().id()).toList());
        List<Item> wanted = batch.stream()
                .filter(item -> item.arrival().unreadable() != null
                        || filter.wants(item.arrival().envelope().message()))
                .filter(item -> !known.contains(item.envelope().message().id()))
                .toList();
        Outcome unreadable = wanted.isEmpty() ? null : wanted.get(0).unreadable();
        if (unreadable != null) {
            throw new NotAppliedException(new OutcomeException(unreadable));
        }
        return wanted;
    }

    /** Lets those that the inbox has not accepted take effect. */
    void project(Connection tx, List<Item> items, int attempt) {
        if (items.isEmpty()) {
            return;
        }
        List<Acceptance> answers = inbox.acceptAll(
                tx,
                consumer,
                items.stream()
                        .map(item -> Received.of(item.arrival().envelope().message()))
                        .toList());
        List<Envelope> first = new ArrayList<>(items.size());
        for (int i = 0; i < items.size(); i++) {
            Envelope envelope = items.get(i).envelope();
            if (answers.get(i) == Acceptance.CONFLICT) {
                throw new NotAppliedException(new OutcomeException(new Outcome.Rejected(Fault.of(
                        CONFLICT,
                        "message " + envelope.message().id() + " was accepted by consumer " + consumer
                                + " with another payload"))));
            }
            if (answers.get(i) == Acceptance.FIRST) {
                first.add(attempt == 1 ? envelope : new Envelope(envelope.position(), envelope.message(), attempt));
            }
        }
        if (first.isEmpty()) {
            return;
        }
        watch.enter(items.get(0));
        try {
            BorrowedConnection.lend(tx, consumer, lent -> projection.apply(lent, first));
            Database.requireWhole(tx);
        } catch (Throwable e) {
            // Whatever it is, it came of these messages. An interrupt that a projection left behind is its own.
            Thread.interrupted();
            throw new NotAppliedException(e);
        } finally {
            watch.leave();
        }
    }

    /** Runs what gives a message up. */
    Result bury(Consumer<Grave> work, Reception.Caller caller) throws InterruptedException {
        try {
            boolean begun = transact(caller, tx -> {
                work.accept(new Grave(tx, enter(tx).ofSubscription()));
                account.advance(tx, caller.mark(1));
            });
            return begun ? new Result(null, false) : Result.ABANDONED;
        } catch (NotServedException | WentBackException e) {
            throw e;
        } catch (OvertakenException e) {
            caller.overtaken(e.next());
            return Result.OVERTAKEN;
        } catch (RuntimeException e) {
            return new Result(e, false);
        }
    }

    /** A transaction, and whether there is a subscription of the consumer's name. */
    record Grave(Connection tx, boolean ofSubscription) {}

    /** Returns whether it was done; not if its caller wants no more before it is its turn. */
    private boolean transact(Reception.Caller caller, Consumer<Connection> work) throws InterruptedException {
        while (!transactions.tryAcquire(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
            if (!caller.goesOn()) {
                return false;
            }
        }
        try {
            if (!caller.goesOn()) {
                return false;
            }
            return database.transactWithin(deadline.multipliedBy(2), tx -> {
                work.accept(tx);
                return true;
            });
        } finally {
            transactions.release();
        }
    }
}
