package io.postroom.subscription;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Does something to lanes while no relay has them: asks for them, waits until they are given back, acts. */
final class Drain {
    /** A request ends by itself after this time, unless it is repeated. */
    static final Duration ASK = Duration.ofSeconds(10);

    private static final long ASK_AGAIN_NANOS = ASK.toNanos() / 4;
    private static final long LOOK_AGAIN_MILLIS = 50;

    private static final int SHOWN_MAX = 5;

    private final Acts acts;
    private final Database database;
    private final SubscriptionTable subscriptions;
    private final LaneTable lanes;

    Drain(Acts acts, LaneTable lanes) {
        this.acts = acts;
        this.database = acts.database();
        this.subscriptions = acts.table();
        this.lanes = lanes;
    }

    /** An act in a transaction of its own; empty if it found that some relay has a lane. */
    interface Work<T> {
        Optional<T> run(Connection tx);
    }

    /**
     * Runs work once no relay has a lane of the subscription.
     *
     * @param attempt for the error if that takes too long: {@code replay subscription billing}
     */
    <T> T whileFree(String name, String attempt, Duration patience, Work<T> work) {
        return whileFree(List.of(name), attempt, patience, work);
    }

    /** The same for several subscriptions at once. */
    <T> T whileFree(List<String> names, String attempt, Duration patience, Work<T> work) {
        long began = System.nanoTime();
        long asked = 0;
        boolean isAsked = false;
        try {
            while (true) {
                List<LaneTable.Leased> leased = database.run(tx -> names.stream()
                        .flatMap(name -> lanes.leased(tx, name).stream())
                        .toList());
                Optional<T> done = leased.isEmpty() ? acts.transact(work::run) : Optional.empty();
                if (done.isPresent()) {
                    return done.get();
                }
                long now = System.nanoTime();
                if (now - began > patience.toNanos()) {
                    throw stillLeased(attempt, patience, leased);
                }
                if (!isAsked || now - asked > ASK_AGAIN_NANOS) {
                    ask(names);
                    asked = now;
                    isAsked = true;
                }
                pause(attempt);
            }
        } finally {
            if (isAsked) {
                end(names);
            }
        }
    }

    private void ask(List<String> names) {
        database.transact(tx -> {
            names.forEach(name -> subscriptions.askToDrain(tx, name, ASK));
            subscriptions.wake(tx);
            return true;
        });
    }

    private void end(List<String> names) {
        try {
            database.transact(tx -> {
                names.forEach(name -> subscriptions.endDrain(tx, name));
                subscriptions.wake(tx);
                return true;
            });
        } catch (DatabaseException e) {
            // It ends by itself, and what the work said is more important.
        }
    }

    private static PostroomException stillLeased(String attempt, Duration patience, List<LaneTable.Leased> leased) {
        String which = leased.stream()
                .limit(SHOWN_MAX)
                .map(lane -> "lane " + lane.lane() + " is with relay " + lane.relay())
                .collect(Collectors.joining(", "));
        return new PostroomException(
                "subscription.lanes-busy",
                "could not " + attempt + ": after " + patience.toSeconds() + " s "
                        + (which.isEmpty() ? "its lanes are still taken again" : which)
                        + "; nothing was changed; wait longer, or stop that relay");
    }

    private static void pause(String attempt) {
        try {
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PostroomException(
                    "subscription.interrupted", "could not " + attempt + ": interrupted; nothing was changed");
        }
    }
}
