package io.postroom.server.tail;

import io.postroom.Postroom;
import io.postroom.postgres.DatabaseException;
import io.postroom.relay.Lag;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.LaneState;
import io.postroom.subscription.Subscriptions;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One run of a tail: waits for its lane, prints until it is told to end or has nothing left to do, gives the lane back. */
final class Tail {
    /** Short, so that the tail after a killed one need not wait long; see {@link #waitForLane}. */
    static final Duration LEASE = Duration.ofSeconds(3);

    /** After a kill, at most this many lines are printed again. */
    static final int BATCH_MESSAGES = 250;

    private static final long BATCH_BYTES = 1_048_576;
    private static final Duration LOOK = Duration.ofMillis(100);
    private static final Duration PIPE_LOOK = Duration.ofMillis(500);
    private static final Duration UNREADABLE_LOOK = Duration.ofSeconds(5);
    private static final int ERROR_LENGTH_MAX = 300;

    private final Terminal terminal;
    private final Postroom postroom;
    private final Subscription subscription;
    private final Subscriptions subscriptions;
    private final TailTable table;
    private long unreadableSaid;

    Tail(Terminal terminal, Postroom postroom, Subscription subscription) {
        this.terminal = terminal;
        this.postroom = postroom;
        this.subscription = subscription;
        this.subscriptions = postroom.subscriptions();
        this.table = new TailTable(postroom.database().schema());
    }

    /** Prints through the sink until the limit, the end of the output, a stop, or so long a quiet time. */
    int run(LineSink sink, long limit, @Nullable Duration untilIdle, StopSignal stop) {
        PipeWatch pipe = new PipeWatch();
        if (!waitForLane(pipe, stop)) {
            return ExitCode.OK;
        }
        int batch = (int) Math.min(limit, BATCH_MESSAGES);
        Relay relay = postroom.relay()
                .name("tail-" + ProcessHandle.current().pid())
                .deliver(subscription, sink)
                .lease(LEASE)
                .settleInterval(Duration.ZERO)
                .batch(batch, BATCH_BYTES)
                .stopGrace(LEASE)
                .build();
        // A position to begin at may be that of a message that nobody has stamped yet.
        postroom.journal().stampAll();
        try (relay) {
            relay.start();
            await(sink, relay, pipe, untilIdle, stop);
            sink.giveBack();
        }
        IOException failure = sink.failure();
        if (failure != null && Terminal.failedOutput(failure) instanceof CommandException e) {
            throw e;
        }
        if (sink.unsettled() > 0) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not remember the position of subscription " + subscription.name() + ": the last "
                            + sink.unsettled() + " of " + sink.printed()
                            + " lines will be printed again by the next run");
        }
        lookForUnreadable();
        return ExitCode.OK;
    }

    /** A message that no upcaster here can read is kept, like a relay does, for a run that can; that is not to go unnoticed. */
    private void sayUnreadable() {
        TailTable.Unreadable unreadable = postroom.database().run(tx -> table.unreadable(tx, subscription.name()));
        if (unreadable.messages() > unreadableSaid) {
            terminal.say("could not read " + unreadable.messages() + " messages of subscription " + subscription.name()
                    + ", the first at position " + unreadable.position() + ": "
                    + Quoted.text(unreadable.error(), ERROR_LENGTH_MAX)
                    + "; a later run with newer upcasters prints them");
        }
        unreadableSaid = unreadable.messages();
    }

    /**
     * Waits while another tail has the lane. Its relay is not announced meanwhile, or the lane would be taken from the one that
     * reads it. The lease of a tail that was killed runs out within {@link #LEASE}.
     *
     * @return false if the wait was ended by a stop, or because nobody reads any more
     */
    private boolean waitForLane(PipeWatch pipe, StopSignal stop) {
        boolean said = false;
        while (!stop.isRequested() && !pipe.isReaderGone()) {
            Optional<LaneState> held = subscriptions
                    .find(subscription.name())
                    .flatMap(known -> subscriptions.lanes(known.name()).stream()
                            .filter(LaneState::isHeld)
                            .findFirst());
            if (held.isEmpty()) {
                return true;
            }
            if (!said) {
                said = true;
                terminal.say("subscription " + subscription.name() + " is being read by "
                        + (held.get().ownerName() == null
                                ? "another relay"
                                : held.get().ownerName())
                        + "; waiting until it ends, or for "
                        + Durations.show(held.get().lease())
                        + " if it was killed");
            }
            stop.await(LOOK);
        }
        return false;
    }

    /** Returns when the tail should end. */
    private void await(LineSink sink, Relay relay, PipeWatch pipe, @Nullable Duration untilIdle, StopSignal stop) {
        long pipeLookNanos = System.nanoTime();
        long unreadableLookNanos = System.nanoTime();
        while (!stop.await(LOOK)) {
            if (untilIdle != null && sink.quiet().compareTo(untilIdle) >= 0 && isAllDelivered(relay)) {
                return;
            }
            if (System.nanoTime() - unreadableLookNanos > UNREADABLE_LOOK.toNanos()) {
                unreadableLookNanos = System.nanoTime();
                lookForUnreadable();
            }
            if (System.nanoTime() - pipeLookNanos > PIPE_LOOK.toNanos()) {
                pipeLookNanos = System.nanoTime();
                if (pipe.isReaderGone()) {
                    return;
                }
            }
        }
    }

    private void lookForUnreadable() {
        try {
            sayUnreadable();
        } catch (DatabaseException e) {
            // The relay says so and goes on; the next look will tell.
        }
    }

    /** Whether everything that was committed by now and may be delivered by now is printed. Scheduled messages may be left. */
    private boolean isAllDelivered(Relay relay) {
        try {
            postroom.journal().stampAll();
            return relay.lag().stream().mapToLong(Lag::messages).sum() == 0
                    && !postroom.database().run(tx -> table.hasDue(tx, subscription.name()));
        } catch (DatabaseException e) {
            // The relay says so and goes on; whether it is idle is not known.
            return false;
        }
    }
}
