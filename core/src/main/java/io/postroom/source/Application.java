package io.postroom.source;

import io.postroom.PostroomException;
import io.postroom.inbox.Acceptance;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Received;
import io.postroom.journal.Filter;
import io.postroom.journal.Journal;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
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
        Semaphore transactions) {

    /** So many causes are looked at. */
    private static final int CAUSES_MAX = 16;

    /** A message as it came, and as this process reads it. */
    record Item(
            Arrival arrival, Envelope envelope, @Nullable Fault unreadable) {
        private static Item of(Arrival arrival, Journal journal) {
            Fault fault = arrival.unreadable();
            if (fault != null) {
                return new Item(arrival, arrival.envelope(), fault);
            }
            Reading reading = journal.reading(arrival.envelope().message());
            if (reading instanceof Reading.Unreadable unreadable) {
                return new Item(
                        arrival,
                        arrival.envelope(),
                        Fault.of(
                                unreadable.errorClass(),
                                unreadable.reason() + "; redrive it when this process can read it"));
            }
            Message message = ((Reading.Read) reading).message();
            return new Item(arrival, new Envelope(arrival.envelope().position(), message, 1), null);
        }
    }

    /** How a transaction ended; {@code blamed} if it was the projection that threw. */
    record Result(@Nullable Throwable thrown, boolean blamed) {
        boolean isApplied() {
            return thrown == null;
        }

        /** The database cannot be used, or not as it must be: no message is to blame. */
        boolean isTrouble() {
            return thrown != null && (!blamed || SqlState.isUnreachable(state("-")));
        }

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
    Result apply(List<Item> batch, int attempt) throws InterruptedException {
        boolean[] done = {false};
        try {
            transact(tx -> {
                List<Item> wanted = wanted(tx, batch);
                project(tx, wanted, attempt);
                done[0] = true;
            });
            return new Result(null, false);
        } catch (NotServedException e) {
            throw e;
        } catch (NotAppliedException e) {
            return new Result(e.getCause(), true);
        } catch (RuntimeException e) {
            // What fails when it is committed, such as a constraint that was deferred, was written by the projection.
            Result result = new Result(e, true);
            return done[0] && !result.isTrouble() ? result : new Result(e, false);
        }
    }

    /** Without what the subscription does not want, though it is in its topics, and what an operator has. */
    private List<Item> wanted(Connection tx, List<Item> batch) {
        Filter filter = enter(tx).filter();
        List<Item> wanted = batch.stream()
                .filter(item -> item.arrival().unreadable() != null
                        || filter.wants(item.arrival().envelope().message()))
                .toList();
        Fault unreadable = wanted.isEmpty() ? null : wanted.get(0).unreadable();
        if (unreadable != null) {
            throw new NotAppliedException(new OutcomeException(new Outcome.Rejected(unreadable)));
        }
        Set<UUID> known = table.knownLetters(
                tx,
                consumer,
                wanted.stream().map(item -> item.envelope().message().id()).toList());
        return wanted.stream()
                .filter(item -> !known.contains(item.envelope().message().id()))
                .toList();
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
                throw new NotAppliedException(new OutcomeException(
                        Outcome.rejected("message " + envelope.message().id() + " was accepted by consumer " + consumer
                                + " with another payload")));
            }
            if (answers.get(i) == Acceptance.FIRST) {
                first.add(attempt == 1 ? envelope : new Envelope(envelope.position(), envelope.message(), attempt));
            }
        }
        if (first.isEmpty()) {
            return;
        }
        try {
            BorrowedConnection.lend(tx, consumer, lent -> projection.apply(lent, first));
            Database.requireWhole(tx);
        } catch (Throwable e) {
            // Whatever it is, it came of these messages. An interrupt that a projection left behind is its own.
            Thread.interrupted();
            throw new NotAppliedException(e);
        }
    }

    /** Runs what gives a message up; returns what went wrong, if anything did. */
    @Nullable
    RuntimeException bury(Consumer<Grave> work) throws InterruptedException {
        try {
            transact(tx -> work.accept(new Grave(tx, enter(tx).ofSubscription())));
            return null;
        } catch (NotServedException e) {
            throw e;
        } catch (RuntimeException e) {
            return e;
        }
    }

    /** A transaction, and whether there is a subscription of the consumer's name. */
    record Grave(Connection tx, boolean ofSubscription) {}

    void transact(Consumer<Connection> work) throws InterruptedException {
        transactions.acquire();
        try {
            database.transactWithin(deadline.multipliedBy(2), tx -> {
                work.accept(tx);
                return true;
            });
        } finally {
            transactions.release();
        }
    }
}
