package io.postroom.relay;

import io.postroom.journal.Batch;
import io.postroom.journal.Journal;
import io.postroom.journal.JournalGoneBackException;
import io.postroom.journal.LanePosition;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lane while this relay has its lease: reads, sends, settles.
 *
 * <p>Everything happens on the lane's one thread; only {@link #renewed}, {@link #signal} and the sink's answers come from others.
 */
final class Lane {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    /** How often a lane settles that only passed messages which are not its own. */
    private static final Duration PASSING_INTERVAL = Duration.ofSeconds(1);

    private final Subscription subscription;
    private final RelayTable.Held held;
    private final String timeline;
    private final long takenAt;
    private final Sink sink;
    private final Journal.Lane share;
    private final UUID relayId;
    private final Journal journal;
    private final Database database;
    private final RelayTable table;
    private final RelaySettings settings;
    private final Telemetry telemetry;
    private final Signal signal = new Signal();

    private final Window window;
    private final KeyOrder order;
    private final Deque<Window.Slot> ready = new ArrayDeque<>();
    private final PriorityQueue<Window.Slot> waiting = new PriorityQueue<>(Window.Slot::compareDue);
    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();

    private @Nullable LanePosition read;
    private volatile long settled;
    private long attempted;
    private long settledNanos = System.nanoTime();
    private long pausedUntilNanos = System.nanoTime();
    private int unavailable;
    private int inFlight;
    private boolean unflushed;
    private long sentTo;
    private long delivered;
    private long deliveredAtSettle;
    private long reported;
    private volatile long trustedUntilNanos;

    Lane(Relay.Target target, RelayTable.Taken taken, long trustedUntilNanos, Surroundings surroundings) {
        this.subscription = target.subscription();
        this.held = new RelayTable.Held(subscription.name(), taken.lane(), taken.fence());
        this.timeline = taken.timeline();
        this.sink = target.sink();
        this.share = new Journal.Lane(taken.lane(), subscription.lanes(), subscription.filter());
        this.relayId = surroundings.relayId();
        this.journal = surroundings.journal();
        this.database = surroundings.database();
        this.table = surroundings.table();
        this.settings = surroundings.settings();
        this.telemetry = surroundings.telemetry();
        this.window = new Window(taken.position());
        this.order = new KeyOrder(subscription.order());
        this.takenAt = taken.position();
        this.settled = taken.position();
        this.attempted = taken.position();
        this.trustedUntilNanos = trustedUntilNanos;
    }

    /** What all lanes of a relay share. */
    record Surroundings(
            UUID relayId,
            Database database,
            Journal journal,
            RelayTable table,
            RelaySettings settings,
            Telemetry telemetry) {}

    private record Answer(Window.Slot slot, Outcome outcome) {}

    RelayTable.Held held() {
        return held;
    }

    Signal signal() {
        return signal;
    }

    /** The position last known to be written. */
    long settled() {
        return settled;
    }

    /**
     * Takes note of a renewal and says whether the lane is still what it was.
     *
     * @param settledBefore what {@link #settled} was before the renewal was asked for
     */
    boolean renewed(RelayTable.Renewed renewed, long settledBefore, long trustedUntilNanos) {
        boolean same = renewed.held().equals(held)
                && renewed.timeline().equals(timeline)
                && renewed.position() >= settledBefore;
        if (same) {
            this.trustedUntilNanos = trustedUntilNanos;
        }
        return same;
    }

    /**
     * Does everything that can be done now without waiting for the sink.
     *
     * @param draining whether the lane is being given back: then the sink gets only what lies before messages it has already
     * @return how many messages were accepted since the last step
     */
    long step(boolean draining) {
        long before = delivered;
        LanePosition from = read == null ? journal.locate(settled) : read;
        read = from;
        // Of a lane just taken another relay may know more than this one has heard; what it has read itself was there.
        if (from.position() > takenAt && journal.endsBefore(from)) {
            throw new LostLeaseException(held, window.finished());
        }
        takeAnswers();
        if (draining) {
            closeGaps();
        } else {
            releaseDue();
            if (maySend() && ready.isEmpty() && hasRoom()) {
                read(from);
            }
            sendReady();
        }
        flush();
        settleIfDue();
        return delivered - before;
    }

    /** How many messages the sink has not answered for. */
    int inFlight() {
        return inFlight;
    }

    /** How long the lane's thread may sleep if nobody wakes it. */
    long restNanos() {
        long now = System.nanoTime();
        long rest = settings.heartbeat().toNanos();
        long barred = Math.max(
                pausedUntilNanos - now, isTrusted() ? 0 : settings.pollMax().toNanos());
        if (!waiting.isEmpty()) {
            rest = Math.min(rest, Math.max(waiting.peek().waitNanos(), barred));
        }
        if (!ready.isEmpty()) {
            rest = Math.min(rest, barred);
        }
        if (window.finished() > settled) {
            rest = Math.min(rest, settledNanos + settleIntervalNanos() - now);
        }
        boolean more = read == null || read.position() < journal.head().position() && hasRoom() && maySend();
        return more ? 0 : Math.max(rest, 0);
    }

    /** Writes the finished prefix, however recently the last one was written. */
    void settle() {
        long position = window.finished();
        if (position > settled) {
            RelayTable.Settlement settlement = new RelayTable.Settlement(position, settled, attempted, timeline);
            // Remembered before it is tried: if the answer is lost, the lane may be at either.
            attempted = position;
            if (!database.run(tx -> table.settle(tx, relayId, held, settlement))) {
                telemetry.staleSettle(held.subscription(), held.lane());
                throw new LostLeaseException(held, position);
            }
            settled = position;
            telemetry.settled(held.subscription(), held.lane(), position);
        }
        settledNanos = System.nanoTime();
        deliveredAtSettle = delivered;
    }

    /** Settles what is finished and gives the lane back. */
    void release() {
        settle();
        if (!database.run(tx -> table.release(tx, relayId, held))) {
            throw new LostLeaseException(held, settled);
        }
    }

    private void read(LanePosition from) {
        int room = Math.min(settings.batchMessages(), RelaySettings.WINDOW_MESSAGES_MAX - window.messages());
        Batch batch = readJournal(from, room);
        for (Batch.Item item : batch.items()) {
            Window.Slot slot = window.add(item.envelope(), item.bytes());
            if (item.early().isZero()) {
                ready.addLast(slot);
            } else {
                // A scheduled message holds up nothing, not even its own key.
                slot.waitFor(item.early());
                waiting.add(slot);
            }
        }
        read = batch.next();
        window.readTo(batch.next().position());
    }

    private Batch readJournal(LanePosition from, int room) {
        try {
            return journal.read(share, from, room, settings.batchBytes());
        } catch (JournalGoneBackException e) {
            LOG.warn(e.getMessage());
            throw new LostLeaseException(held, window.finished());
        }
    }

    private void sendReady() {
        while (!ready.isEmpty() && maySend()) {
            Window.Slot slot = ready.removeFirst();
            if (order.mayGo(slot)) {
                send(slot);
                // A sink that says at once that it is unavailable is not given the rest of the batch.
                takeAnswers();
                // A slow handler works through a batch for long: what it has done is to be settled meanwhile.
                settleIfDue();
                if (signal.isStopping()) {
                    return;
                }
            }
        }
    }

    /**
     * Sends what others of the lane have overtaken, because its key was held. Only a finished prefix can be settled: without
     * this the next owner would deliver again all that came through after it.
     */
    private void closeGaps() {
        Deque<Window.Slot> later = new ArrayDeque<>();
        while (!ready.isEmpty() && maySend()) {
            Window.Slot slot = ready.removeFirst();
            if (slot.envelope().position() > sentTo) {
                later.addLast(slot);
            } else if (order.mayGo(slot)) {
                send(slot);
                takeAnswers();
            }
        }
        ready.addAll(later);
    }

    private void flush() {
        if (unflushed) {
            unflushed = false;
            sink.flush();
            takeAnswers();
        }
        reportDelivered();
    }

    private void send(Window.Slot slot) {
        Envelope envelope = slot.envelope();
        sentTo = Math.max(sentTo, envelope.position());
        CompletionStage<Outcome> stage;
        try {
            stage = Objects.requireNonNull(sink.send(envelope), "the sink returned null");
        } catch (Throwable e) {
            // Whatever it is, it came of this message: the lane would meet it again if it ended here.
            // An interrupt that a handler left behind is its own; a relay that wants its lanes to end has told them.
            Thread.interrupted();
            failed(slot, thrown(e));
            return;
        }
        if (stage == Outcomes.ACCEPTED_STAGE) {
            accepted(slot, envelope);
            return;
        }
        order.hold(envelope.message().key());
        inFlight++;
        unflushed = true;
        stage.whenComplete((outcome, e) -> {
            answers.add(new Answer(slot, e == null ? answered(outcome) : thrown(e)));
            signal.raise();
        });
    }

    private void takeAnswers() {
        for (Answer answer = answers.poll(); answer != null; answer = answers.poll()) {
            inFlight--;
            if (answer.outcome() instanceof Outcome.Accepted) {
                accepted(answer.slot(), answer.slot().envelope());
            } else {
                failed(answer.slot(), answer.outcome());
            }
        }
    }

    private void accepted(Window.Slot slot, Envelope envelope) {
        window.accepted(slot);
        delivered++;
        unavailable = 0;
        if (order.isHolding()) {
            order.free(envelope.message().key(), ready);
        }
    }

    private void failed(Window.Slot slot, Outcome outcome) {
        Message message = slot.envelope().message();
        Failure failure = Failure.of(outcome);
        boolean known = failure.isOfTheSink() && unavailable > 0;
        Duration wait = failure.isOfTheSink()
                ? pause(failure)
                : failure.after() == null
                        ? settings.backoff().after(slot.envelope().attempt())
                        : failure.after();
        // In an outage every message would say the same: the first one speaks for all.
        LOG.atLevel(known ? org.slf4j.event.Level.DEBUG : org.slf4j.event.Level.WARN)
                .log(
                        "could not deliver message {} at position {} to subscription {}, attempt {}: {}; trying again in {} ms",
                        message.id(),
                        slot.envelope().position(),
                        subscription.name(),
                        slot.envelope().attempt(),
                        failure.reason(),
                        wait.toMillis());
        telemetry.failed(subscription.name(), message.eventType(), failure.word());
        order.hold(message.key());
        slot.tryAgain();
        slot.waitFor(wait);
        waiting.add(slot);
    }

    /** How long the sink is left alone. Messages that find it unavailable during one pause are one failure, not many. */
    private Duration pause(Failure failure) {
        if (!isPaused()) {
            Duration wait = failure.after() == null ? settings.backoff().after(unavailable + 1) : failure.after();
            Duration bounded = wait.compareTo(RelaySettings.PAUSE_MAX) > 0 ? RelaySettings.PAUSE_MAX : wait;
            unavailable++;
            pausedUntilNanos = System.nanoTime() + bounded.toNanos();
        }
        return Duration.ofNanos(Math.max(pausedUntilNanos - System.nanoTime(), 0));
    }

    private void releaseDue() {
        while (!waiting.isEmpty() && waiting.peek().waitNanos() <= 0 && maySend()) {
            Window.Slot slot = waiting.remove();
            if (!slot.isDue()) {
                waiting.add(slot);
            } else if (slot.envelope().attempt() == 1) {
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

    private boolean maySend() {
        return isTrusted() && !isPaused();
    }

    private boolean isTrusted() {
        return trustedUntilNanos - System.nanoTime() > 0;
    }

    private boolean isPaused() {
        return pausedUntilNanos - System.nanoTime() > 0;
    }

    private void settleIfDue() {
        if (System.nanoTime() - settledNanos >= settleIntervalNanos()) {
            settle();
        }
    }

    private long settleIntervalNanos() {
        boolean passing = delivered == deliveredAtSettle;
        Duration interval = settings.settleInterval();
        return (passing && interval.compareTo(PASSING_INTERVAL) < 0 ? PASSING_INTERVAL : interval).toNanos();
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
        boolean wrapped = e instanceof CompletionException || e instanceof Handler.HandlerException;
        Throwable cause = wrapped && e.getCause() != null ? e.getCause() : e;
        return Outcome.retry(Failure.text(cause));
    }
}
