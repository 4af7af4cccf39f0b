package io.postroom.relay;

import io.postroom.journal.Batch;
import io.postroom.journal.Journal;
import io.postroom.journal.LanePosition;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lane while this relay has its lease: reads, sends, settles.
 *
 * <p>Everything happens on the lane's one thread; only {@link #renewed}, {@link #wake} and the sink's answers come from others.
 * Per key one message is on its way at a time, so a failure never lets a later message of its key pass.
 */
final class Lane {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    private final Subscription subscription;
    private final RelayTable.Held held;
    private final Journal journal;
    private final Database database;
    private final RelayTable table;
    private final Sink sink;
    private final RelaySettings settings;
    private final Telemetry telemetry;
    private final Journal.Lane share;
    private final Signal signal;
    private final String timeline;

    private final Window window;
    private final Deque<Window.Slot> ready = new ArrayDeque<>();
    private final Map<Message.Key, Deque<Window.Slot>> busyKeys = new HashMap<>();
    private final PriorityQueue<Window.Slot> waiting =
            new PriorityQueue<>(Comparator.comparingLong((Window.Slot slot) -> slot.dueNanos));
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();

    private LanePosition read;
    private long settled;
    private long settledNanos = System.nanoTime();
    private long pausedUntilNanos = System.nanoTime();
    private int unavailable;
    private int inFlight;
    private long delivered;
    private long reported;
    private volatile long trustedUntilNanos;

    Lane(
            Subscription subscription,
            RelayTable.Taken taken,
            long trustedUntilNanos,
            Sink sink,
            Surroundings surroundings) {
        this.subscription = subscription;
        this.held = new RelayTable.Held(subscription.name(), taken.lane(), taken.fence());
        this.journal = surroundings.journal();
        this.database = surroundings.database();
        this.table = surroundings.table();
        this.sink = sink;
        this.settings = surroundings.settings();
        this.telemetry = surroundings.telemetry();
        this.share = new Journal.Lane(taken.lane(), subscription.lanes(), subscription.filter());
        this.signal = new Signal();
        this.timeline = taken.timeline();
        this.window = new Window(taken.position());
        this.read = journal.locate(taken.position());
        this.settled = taken.position();
        this.trustedUntilNanos = trustedUntilNanos;
    }

    /** What all lanes of a relay share. */
    record Surroundings(
            Database database, Journal journal, RelayTable table, RelaySettings settings, Telemetry telemetry) {}

    private record Answer(Window.Slot slot, Outcome outcome) {}

    RelayTable.Held held() {
        return held;
    }

    Signal signal() {
        return signal;
    }

    /** The lease was renewed; this relay may trust it until then. */
    void renewed(long trustedUntilNanos) {
        this.trustedUntilNanos = trustedUntilNanos;
    }

    /**
     * Does everything that can be done now without waiting for the sink.
     *
     * @param reading whether new messages may be taken on; false while the lane is being given back
     * @return how many messages were accepted since the last step
     */
    long step(boolean reading) {
        long before = delivered;
        takeAnswers();
        releaseDue();
        if (reading && isTrusted() && !isPaused() && ready.isEmpty() && hasRoom()) {
            read();
        }
        sendReady();
        settleIfDue();
        return delivered - before;
    }

    /** Whether anything is still on its way to the sink. */
    boolean isInFlight() {
        return inFlight > 0;
    }

    /** How many messages the sink has not answered for. */
    int inFlight() {
        return inFlight;
    }

    /** Whether nothing is left to do: all that was stamped is accepted and settled. */
    boolean isIdle() {
        return window.messages() == 0
                && ready.isEmpty()
                && read.position() >= journal.head().position()
                && settled == window.finished();
    }

    /** How long the lane's thread may sleep if nobody wakes it. */
    long restNanos() {
        long now = System.nanoTime();
        long rest = settings.heartbeat().toNanos();
        long held = Math.max(
                pausedUntilNanos - now, isTrusted() ? 0 : settings.pollMax().toNanos());
        if (!waiting.isEmpty()) {
            rest = Math.min(rest, Math.max(waiting.peek().dueNanos - now, held));
        }
        if (!ready.isEmpty()) {
            rest = Math.min(rest, held);
        }
        if (window.finished() > settled) {
            rest = Math.min(rest, settledNanos + settings.settleInterval().toNanos() - now);
        }
        boolean more = read.position() < journal.head().position() && hasRoom() && !isPaused() && isTrusted();
        return more ? 0 : Math.max(rest, 0);
    }

    /** Writes the finished prefix, however recently the last one was written. */
    void settle() {
        long position = window.finished();
        if (position > settled) {
            boolean mine = database.run(tx -> table.settle(tx, held, new RelayTable.Settled(position, timeline)));
            if (!mine) {
                telemetry.staleSettle(held.subscription(), held.lane());
                throw new LostLeaseException(held, position);
            }
            settled = position;
            telemetry.settled(held.subscription(), held.lane(), position);
        }
        settledNanos = System.nanoTime();
    }

    /** Settles what is finished and gives the lane back. */
    void release() {
        settle();
        database.run(tx -> table.release(tx, held));
    }

    private void read() {
        int room = Math.min(settings.batchMessages(), RelaySettings.WINDOW_MESSAGES_MAX - window.messages());
        Batch batch = journal.read(share, read, room, settings.batchBytes());
        long now = System.nanoTime();
        for (Batch.Item item : batch.items()) {
            Window.Slot slot = window.add(item.envelope(), item.bytes());
            if (item.early().isZero()) {
                ready.addLast(slot);
            } else {
                // A scheduled message holds up nothing, not even its own key.
                slot.dueNanos = now + item.early().toNanos();
                waiting.add(slot);
            }
        }
        read = batch.next();
        window.readTo(read.position());
    }

    private void sendReady() {
        boolean sent = false;
        while (!ready.isEmpty() && isTrusted() && !isPaused()) {
            Window.Slot slot = ready.removeFirst();
            if (mayGo(slot)) {
                send(slot);
                sent = true;
                // A sink that says at once that it is unavailable is not given the rest of the batch.
                if (!answers.isEmpty()) {
                    takeAnswers();
                }
            }
        }
        if (sent) {
            sink.flush();
            takeAnswers();
        }
        reportDelivered();
    }

    /** False if an earlier message of its key is not accepted yet; then it waits behind that one. */
    private boolean mayGo(Window.Slot slot) {
        if (subscription.order() == Order.NONE || busyKeys.isEmpty()) {
            return true;
        }
        Deque<Window.Slot> behind = busyKeys.get(slot.envelope().message().key());
        if (behind == null) {
            return true;
        }
        behind.addLast(slot);
        return false;
    }

    private void send(Window.Slot slot) {
        Envelope envelope = slot.envelope();
        CompletionStage<Outcome> stage;
        try {
            stage = Objects.requireNonNull(sink.send(envelope), "the sink returned null");
        } catch (Throwable e) {
            // Whatever it is, it came of this message: the lane would meet it again if it ended here. An interrupt that
            // a
            // handler left behind is its own; a relay that wants its lanes to end has told them.
            Thread.interrupted();
            failed(slot, thrown(e));
            return;
        }
        if (stage == Outcomes.ACCEPTED_STAGE) {
            accepted(slot);
            if (!busyKeys.isEmpty()) {
                freeKey(envelope.message().key());
            }
            return;
        }
        holdKey(envelope);
        inFlight++;
        stage.whenComplete((outcome, e) -> {
            answers.add(new Answer(slot, e == null ? answered(outcome) : thrown(e)));
            signal.raise();
        });
    }

    private void takeAnswers() {
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            inFlight--;
            if (answer.outcome() instanceof Outcome.Accepted) {
                Message.Key key = answer.slot().envelope().message().key();
                accepted(answer.slot());
                freeKey(key);
            } else {
                failed(answer.slot(), answer.outcome());
            }
        }
        reportDelivered();
    }

    private void accepted(Window.Slot slot) {
        window.accepted(slot);
        delivered++;
        unavailable = 0;
    }

    private void failed(Window.Slot slot, Outcome outcome) {
        Envelope envelope = slot.envelope();
        Failure failure = Failure.of(outcome);
        Duration wait = failure.after() == null ? settings.backoff().after(envelope.attempt()) : failure.after();
        if (failure.isOfTheSink()) {
            wait = pause(failure);
        }
        LOG.warn(
                "could not deliver message {} at position {} to subscription {}, attempt {}: {}; trying again in {} ms",
                envelope.message().id(),
                envelope.position(),
                subscription.name(),
                envelope.attempt(),
                failure.reason(),
                wait.toMillis());
        telemetry.failed(subscription.name(), envelope.message().eventType(), failure.word());
        holdKey(envelope);
        slot.tryAgain(System.nanoTime() + wait.toNanos());
        waiting.add(slot);
    }

    /** How long the sink is left alone. Messages that find it unavailable during one pause are one failure, not many. */
    private Duration pause(Failure failure) {
        long now = System.nanoTime();
        if (!isPaused()) {
            Duration wait = settings.backoff().after(++unavailable);
            pausedUntilNanos = now + (failure.after() == null ? wait : failure.after()).toNanos();
        }
        return Duration.ofNanos(Math.max(pausedUntilNanos - now, 0));
    }

    private void holdKey(Envelope envelope) {
        if (subscription.order() == Order.KEY) {
            busyKeys.computeIfAbsent(envelope.message().key(), ignored -> new ArrayDeque<>(0));
        }
    }

    /** The key's message was accepted: the next one of the key may go. */
    private void freeKey(Message.Key key) {
        if (subscription.order() == Order.NONE) {
            return;
        }
        Deque<Window.Slot> behind = busyKeys.remove(key);
        if (behind == null || behind.isEmpty()) {
            return;
        }
        // The first of them goes ahead of everything, the others find the key busy again and line up behind it.
        while (!behind.isEmpty()) {
            ready.addFirst(behind.removeLast());
        }
    }

    private void releaseDue() {
        long now = System.nanoTime();
        while (!waiting.isEmpty() && waiting.peek().dueNanos - now <= 0 && isTrusted() && !isPaused()) {
            Window.Slot slot = waiting.remove();
            if (slot.envelope().attempt() == 1) {
                ready.addLast(slot);
            } else {
                send(slot);
                takeAnswers();
            }
        }
    }

    private boolean hasRoom() {
        return window.messages() < RelaySettings.WINDOW_MESSAGES_MAX
                && window.bytes() < settings.batchBytes() * RelaySettings.WINDOW_BATCHES;
    }

    private boolean isTrusted() {
        return trustedUntilNanos - System.nanoTime() > 0;
    }

    private boolean isPaused() {
        return pausedUntilNanos - System.nanoTime() > 0;
    }

    private void settleIfDue() {
        if (System.nanoTime() - settledNanos >= settings.settleInterval().toNanos()) {
            settle();
        }
    }

    private void reportDelivered() {
        if (delivered > reported) {
            telemetry.delivered(subscription.name(), delivered - reported);
            reported = delivered;
        }
    }

    private static Outcome answered(@Nullable Outcome outcome) {
        return outcome == null ? Outcome.retry("the sink answered null") : outcome;
    }

    private static Outcome thrown(Throwable e) {
        Throwable cause = e instanceof java.util.concurrent.CompletionException || e instanceof Handler.HandlerException
                ? e.getCause() == null ? e : e.getCause()
                : e;
        return Outcome.retry(Failure.text(cause));
    }
}
