package io.postroom.relay;

import io.postroom.message.Envelope;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What a lane has handed to its sink: sends, and collects the answers. For the lane's thread, except {@link #inHand} and
 * {@link #wrest}.
 */
final class LaneSends {
    private final @Nullable Sink sink;
    private final Signal signal;
    private final Suspects suspects;
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final Deque<Flight> flights = new ArrayDeque<>();
    private final AtomicReference<@Nullable Hold> inHand = new AtomicReference<>();
    private int inFlight;
    private boolean unflushed;

    /** Without a sink the lane's thread works on messages itself, between {@link #hold} and {@link #letGo}. */
    LaneSends(@Nullable Sink sink, Signal signal, Suspects suspects) {
        this.sink = sink;
        this.signal = signal;
        this.suspects = suspects;
    }

    /** One time that the lane's thread has a message in hand. Not a record: the next time with the same message is another one. */
    static final class Hold {
        private final Slot slot;

        private Hold(Slot slot) {
            this.slot = slot;
        }

        Slot slot() {
            return slot;
        }
    }

    /** What the sink says of one flight of a message. */
    record Answer(Slot slot, int flight, Outcome outcome) {}

    private record Flight(Slot slot, int flight) {
        boolean isUp() {
            return slot.state() == Slot.State.FLYING && slot.flight() == flight;
        }
    }

    /** The lane's thread came back from the sink too late: another thread has the lane. */
    static final class SupersededException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private SupersededException() {
            super("the lane has another thread by now", null, false, false);
        }
    }

    /** Hands a message to the sink; returns the outcome if it is known at once. */
    @Nullable
    Outcome send(Slot slot, Envelope envelope, boolean probe) {
        slot.fly(System.nanoTime(), probe);
        Hold hold = hold(slot);
        CompletionStage<Outcome> stage;
        Outcome outcome = null;
        try {
            stage = Objects.requireNonNull(sink().send(envelope), "the sink returned null");
        } catch (Throwable e) {
            // Whatever it is, it came of this message: the lane would meet it again if it ended here.
            stage = Outcomes.ACCEPTED_STAGE;
            outcome = Failure.thrown(e);
        }
        if (outcome == null && stage != Outcomes.ACCEPTED_STAGE) {
            take(hold);
            return await(slot, stage);
        }
        letGo(hold);
        return outcome == null ? Outcomes.ACCEPTED : outcome;
    }

    /** The lane's thread is about to work on this message, and others, itself. */
    Hold hold(Slot slot) {
        Hold hold = new Hold(slot);
        suspects.fly();
        inHand.set(hold);
        return hold;
    }

    /** It has come back, and nobody has taken the lane from it meanwhile. */
    void letGo(Hold hold) {
        take(hold);
        suspects.land(1);
    }

    private void take(Hold hold) {
        if (!inHand.compareAndSet(hold, null)) {
            throw new SupersededException();
        }
        // An interrupt that a handler left behind is its own; a relay that wants its lanes to end has told them.
        Thread.interrupted();
    }

    private @Nullable Outcome await(Slot slot, CompletionStage<Outcome> stage) {
        int flight = slot.flight();
        inFlight++;
        unflushed = true;
        flights.addLast(new Flight(slot, flight));
        stage.whenComplete((outcome, e) -> {
            answers.add(new Answer(slot, flight, e == null ? answered(outcome) : Failure.thrown(e)));
            signal.raise();
        });
        return null;
    }

    /** The next answer, if there is one. Those that came after their deadline are left out. */
    @Nullable
    Answer poll() {
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            if (new Flight(answer.slot(), answer.flight()).isUp()) {
                landed();
                return answer;
            }
        }
        return null;
    }

    /** Messages that were given no answer in time; an answer that still comes is ignored. */
    List<Slot> expired(Duration deadline) {
        long now = System.nanoTime();
        List<Slot> expired = new ArrayList<>(0);
        for (Flight first = flights.peekFirst(); first != null; first = flights.peekFirst()) {
            if (first.isUp()) {
                if (now - first.slot().sentNanos() < deadline.toNanos()) {
                    break;
                }
                landed();
                expired.add(first.slot());
            }
            flights.removeFirst();
        }
        return expired;
    }

    /** How long until the oldest flight is over its deadline. */
    long restNanos(Duration deadline, long now) {
        Flight first = flights.peekFirst();
        return first == null ? Long.MAX_VALUE : Math.max(first.slot().sentNanos() + deadline.toNanos() - now, 0);
    }

    private void landed() {
        inFlight--;
        suspects.land(1);
    }

    /** Nobody waits for answers any more. */
    void leave() {
        suspects.land(inFlight);
        inFlight = 0;
    }

    int inFlight() {
        return inFlight;
    }

    /** Tells the sink that there is nothing more for now; returns whether it had to be told. */
    boolean flush() {
        if (!unflushed) {
            return false;
        }
        unflushed = false;
        sink().flush();
        return true;
    }

    /** The message that the lane's thread is handing over right now. For any thread. */
    @Nullable
    Hold inHand() {
        return inHand.get();
    }

    /** Takes the lane from a thread that still has this message in hand; false if it has come back. For any thread. */
    boolean wrest(Hold hold) {
        boolean wrested = inHand.compareAndSet(hold, null);
        if (wrested) {
            suspects.land(1);
        }
        return wrested;
    }

    private Sink sink() {
        return Objects.requireNonNull(sink, "there is no sink");
    }

    private static Outcome answered(@Nullable Outcome outcome) {
        return outcome == null ? Outcome.retry("the sink answered null") : outcome;
    }
}
