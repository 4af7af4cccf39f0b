package io.postroom.relay;

import io.postroom.journal.Batch;
import io.postroom.journal.Journal;
import io.postroom.journal.JournalGoneBackException;
import io.postroom.message.Envelope;
import io.postroom.message.Reading;
import io.postroom.postgres.Database;
import io.postroom.retry.Fault;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lane while this relay has its lease: reads messages, claims deliveries that are due, sends, settles.
 *
 * <p>Everything happens on the lane's one thread, which may be succeeded by another when it hangs in a sink; only {@link #renewed},
 * {@link #signal}, {@link #sending} and the sink's answers come from others.
 */
final class Lane {
    /** How often a lane settles that only passed messages which are not its own. */
    private static final Duration PASSING_INTERVAL = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);

    private final Subscription subscription;
    private final RelaySettings settings;
    private final Signal signal = new Signal();

    private final LaneStore store;
    private final LaneReader reader;
    private final LaneClaims claims;
    private final LaneSends sends;
    /** If the messages go to a projection. */
    private final @Nullable Applier applier;

    private final LaneProbes probes;
    private final LaneSettler settler;
    private final LaneQueue queue;
    private final LaneTally tally;
    private final FailedAttempt.Surroundings failing;

    /** They must be noted among the deliveries before they are sent. */
    private final List<Slot> toNote = new ArrayList<>();

    private final Window window;
    private long settledNanos = System.nanoTime();
    private long sentTo;
    private volatile long trustedUntilNanos;

    Lane(Relay.Target target, RelayTable.Taken taken, long trustedUntilNanos, Surroundings surroundings) {
        this.subscription = target.subscription();
        this.settings = surroundings.settings();
        Projection projection = target.receiver().projection();
        boolean exact = projection != null && !(projection instanceof InboxProjection);
        this.store = new LaneStore(subscription, taken, surroundings, exact);
        this.reader = new LaneReader(subscription, taken, surroundings, store);
        this.claims = new LaneClaims(surroundings, store);
        this.sends = new LaneSends(target.receiver().sink(), signal, surroundings.suspects());
        this.applier = projection == null
                ? null
                : new Applier(projection, subscription, store, sends, settings.batchMessages());
        this.window = new Window(taken.position());
        this.queue = new LaneQueue(subscription.order());
        this.settler = new LaneSettler(subscription, settings.name(), store, claims, window, queue);
        this.probes = new LaneProbes(target.circuit());
        this.tally = new LaneTally(target, surroundings.telemetry());
        this.failing = new FailedAttempt.Surroundings(target, queue, probes, settler, tally, surroundings.telemetry());
        this.trustedUntilNanos = trustedUntilNanos;
    }

    /** What all lanes of a relay share. */
    record Surroundings(
            UUID relayId,
            Database database,
            Journal journal,
            RelayTable table,
            DeliveryTable deliveries,
            RelaySettings settings,
            Telemetry telemetry,
            Suspects suspects) {}

    RelayTable.Held held() {
        return store.held();
    }

    Signal signal() {
        return signal;
    }

    /** The position last known to be written. */
    long settled() {
        return store.settled();
    }

    Duration deadline() {
        return subscription.deadline();
    }

    /** The message that the lane's thread has handed to the sink without coming back yet, and since when. */
    LaneSends sending() {
        return sends;
    }

    /** Another thread takes the lane's place, because the one before hangs in the sink with this message. */
    void succeed(Slot hung) {
        if (applier == null) {
            failed(hung, Failure.hung(deadline()));
            return;
        }
        applier.wrested();
        List<Slot> batch = applier.applying();
        if (applier.single(batch)) {
            takeBack(batch);
        } else {
            failed(hung, Failure.hung(deadline()));
        }
    }

    /**
     * Takes note of a renewal and says whether the lane is still what it was.
     *
     * @param settledBefore what {@link #settled} was before the renewal was asked for
     */
    boolean renewed(RelayTable.Renewed renewed, long settledBefore, long trustedUntilNanos) {
        boolean same = renewed.held().equals(store.held())
                && renewed.timeline().equals(store.timeline())
                && renewed.position() >= settledBefore;
        if (same) {
            this.trustedUntilNanos = trustedUntilNanos;
        }
        return same;
    }

    /** Others may have changed deliveries of this lane. */
    void look() {
        claims.look();
    }

    /**
     * Does everything that can be done now without waiting for the sink.
     *
     * @param draining whether the lane is being given back: then the sink gets only what lies before messages it has already
     * @return how many messages were accepted since the last step
     */
    long step(boolean draining) {
        long before = tally.accepted();
        if (!reader.hasBegun()) {
            settler.block(reader.begin());
        }
        if (reader.isAhead()) {
            throw store.lost(window.finished());
        }
        settleDoubt();
        takeAnswers();
        sends.expired(deadline()).forEach(slot -> failed(slot, Failure.hung(deadline())));
        if (draining) {
            closeGaps();
        } else {
            claim();
            if (!queue.hasReady() && hasRoom() && maySend()) {
                read();
            }
            sendReady();
        }
        if (sends.flush()) {
            takeAnswers();
        }
        tally.reportAccepted();
        tally.reportAnswered();
        settleIfDue();
        return tally.accepted() - before;
    }

    /** How many messages the sink has not answered for. */
    int inFlight() {
        return sends.inFlight();
    }

    /** Whether messages that others have overtaken are still to be sent: perhaps the lease was not renewed in time a moment ago. */
    boolean hasGaps() {
        return !probes.isOut() && queue.hasReadyUpTo(sentTo);
    }

    /** Whether a message that is to be sent alone waits for others to come through. */
    boolean awaitsQuiet() {
        return queue.hasReady() && !claims.allowSending();
    }

    /** How long the lane's thread may sleep if nobody wakes it. */
    long restNanos() {
        if (!reader.hasBegun()) {
            return 0;
        }
        long now = System.nanoTime();
        long rest = Math.min(settings.heartbeatNanos(), sends.restNanos(deadline(), now));
        // While a probe is on its way nothing else may go; its answer wakes the lanes.
        if (!probes.isAwaited()) {
            long next = claims.restNanos(now);
            if (!queue.isEmpty()) {
                next = 0;
            } else if (hasMore()) {
                next = Math.min(next, reader.restNanos(now));
            }
            rest = Math.min(rest, Math.max(next, barredNanos()));
        }
        if (settler.hasToRecord() && isIdle()) {
            return 0;
        }
        if (settler.hasToRecord() || settler.hasFinished()) {
            rest = Math.min(rest, settledNanos + settleIntervalNanos() - now);
        }
        return Math.max(rest, 0);
    }

    /** How long until it is worth trying whether something may be sent. */
    private long barredNanos() {
        if (!isTrusted()) {
            return settings.pollMax().toNanos();
        }
        return claims.allowSending() ? probes.waitNanos() : RelaySettings.QUIET_PAUSE.toNanos();
    }

    /** Writes what is finished, however recently the last time was. */
    void settle() {
        settleDoubt();
        settler.settle();
        moved();
    }

    /** All that is finished is written. */
    private void moved() {
        settledNanos = System.nanoTime();
        tally.settled();
        reader.endReplay().ifPresent(window::moveTo);
    }

    /** Hands back what has not been sent, settles what is finished and gives the lane back. */
    void release() {
        settleDoubt();
        queue.takeAll().stream().filter(Slot::isRecorded).forEach(settler::handBack);
        settle();
        store.release();
    }

    /** The lane is no longer ours: let others have what is shared with them. */
    void leave() {
        probes.leave();
        claims.leave();
        sends.leave();
    }

    private void read() {
        LaneReader.Portion portion = readJournal();
        if (portion == LaneReader.Portion.NONE) {
            return;
        }
        List<Slot> sendable = new ArrayList<>(portion.items().size());
        portion.items().forEach(item -> take(item, sendable));
        window.readTo(portion.to());
        claims.readOn();
        if (portion.careful()) {
            sendable.forEach(Slot::sentBefore);
            toNote.addAll(sendable);
        }
        queue.add(sendable);
        if (sendable.isEmpty()) {
            probes.foundNoneToRead();
        }
    }

    private LaneReader.Portion readJournal() {
        try {
            return reader.read(RelaySettings.WINDOW_MESSAGES_MAX - window.messages());
        } catch (JournalGoneBackException e) {
            LOG.warn(e.getMessage());
            throw store.lost(window.finished());
        }
    }

    private void take(Batch.Item item, List<Slot> sendable) {
        Slot.Id id = new Slot.Id(item.position(), item.keyHash(), item.place(), item.bytes(), null);
        Slot slot = Slot.read(id, reader.marked(item.message()));
        window.add(slot);
        Reading.Unreadable unreadable = item.unreadable();
        if (unreadable != null) {
            settler.putAside(slot, Fault.of(unreadable.errorClass(), unreadable.reason()));
        } else if (!item.early().isZero()) {
            settler.schedule(slot, item.early(), item.message().availableAt());
        } else if (settler.isBlocked(slot)) {
            settler.park(slot);
        } else {
            sendable.add(slot);
        }
    }

    private void claim() {
        boolean probing = probes.isOut();
        boolean othersFirst = probing && !probes.isDueNext(queue, isReadable());
        if (othersFirst || !claims.isToLook() || !maySend() || !claims.isDue()) {
            return;
        }
        if (settler.hasToRecord()) {
            // What went through must not be among the suspects if the next one ends the process.
            settle();
        }
        // A probe needs one message, not many that would wait with it.
        List<Slot> due = new ArrayList<>();
        claims.claim(
                probing ? 1 : RelaySettings.CLAIM_MAX,
                window.readTo(),
                (slot, claimed) -> takeClaimed(slot, claimed, due));
        queue.addDue(due);
    }

    /** Returns whether it is to be sent. */
    private boolean takeClaimed(Slot slot, DeliveryReader.Claimed claimed, List<Slot> due) {
        if (claimed.unreadable() != null) {
            settler.putAside(slot, claimed.unreadable());
            return false;
        }
        boolean scheduled = claimed.row().scheduled();
        if (scheduled && settler.isBlocked(slot)) {
            settler.park(slot);
            return false;
        }
        if (!scheduled) {
            settler.block(slot);
        }
        due.add(slot);
        return true;
    }

    private void sendReady() {
        long began = System.nanoTime();
        noteFirst();
        sendLone();
        while (!queue.isEmpty() && maySend()) {
            Slot slot = queue.next(probes.isUnsentNext());
            if (slot != null) {
                send(slot);
                // A sink that says at once that it is unavailable is not given the rest of the batch.
                takeAnswers();
                // A slow handler works through a batch for long: what it has done is to be settled meanwhile.
                settleIfDue();
                if (signal.isStopping() || isTimeToLook(began)) {
                    return;
                }
            }
        }
    }

    /** A slow handler works through a batch for long: what has become due meanwhile is not to wait for all of it. */
    private boolean isTimeToLook(long beganNanos) {
        return claims.isToLook() && System.nanoTime() - beganNanos >= RelaySettings.LOOK_UP.toNanos();
    }

    /** The message that is to be sent alone goes before all others, as soon as nothing is on its way. */
    private void sendLone() {
        Slot lone = claims.lone();
        if (lone != null && maySend()) {
            claims.markLone();
            if (queue.take(lone)) {
                send(lone);
                takeAnswers();
                settleIfDue();
            }
        }
    }

    /** Nothing is sent before it is noted, where that is asked for. */
    private void noteFirst() {
        if (!toNote.isEmpty()) {
            settler.note(toNote);
            toNote.clear();
        }
    }

    /**
     * Sends what others of the lane have overtaken, because its key was held. Only a finished prefix can be settled: without
     * this the next owner would deliver again all that came through after it.
     */
    private void closeGaps() {
        noteFirst();
        List<Slot> later = new ArrayList<>();
        while (queue.hasReady() && maySend()) {
            Slot slot = queue.nextUpTo(sentTo, later);
            if (slot != null) {
                send(slot);
                takeAnswers();
            }
        }
        queue.add(later);
    }

    private void send(Slot slot) {
        Envelope envelope = slot.envelope();
        boolean probe = probes.send();
        if (applier != null) {
            apply(applier, probe ? List.of(slot) : queue.takeBatch(applier, slot), probe);
            return;
        }
        if (slot.position() <= window.readTo()) {
            sentTo = Math.max(sentTo, slot.position());
        }
        Outcome outcome = sends.send(slot, envelope, probe);
        if (outcome == null) {
            queue.hold(slot);
        } else if (outcome == Outcomes.ACCEPTED) {
            accepted(slot);
        } else {
            failed(slot, Failure.of(outcome));
        }
    }

    private void apply(Applier applier, List<Slot> batch, boolean probe) {
        writeBefore(batch);
        try {
            applied(batch, applier.apply(settler.attempt(batch), probe));
        } catch (Applier.NotAppliedException e) {
            notApplied(applier, batch, Failure.of(Failure.thrown(Objects.requireNonNull(e.getCause(), "cause"))));
        }
    }

    /** What was to be written earlier must be, or the batch, which has left its queue, would be in none. */
    private void writeBefore(List<Slot> batch) {
        try {
            settler.writeSealed();
        } catch (RuntimeException | Error e) {
            takeBack(batch);
            throw e;
        }
    }

    private void notApplied(Applier applier, List<Slot> batch, Failure failure) {
        if (failure.isUnavailable()) {
            // Not the fault of any of them: the first speaks for all.
            takeBack(batch.subList(1, batch.size()));
            failed(batch.get(0), failure);
        } else if (applier.split(batch)) {
            takeBack(batch);
        } else {
            failed(batch.get(0), failure);
        }
    }

    /** The batch took effect, and the lane has moved. */
    private void applied(List<Slot> batch, LaneStore.Written written) {
        batch.forEach(tally::accepted);
        settler.applied(batch, written);
        moved();
    }

    /** Nothing of the batch took effect: it goes again. If it was a probe, nobody has answered it, and another may go. */
    private void takeBack(List<Slot> batch) {
        probes.leave();
        batch.forEach(Slot::land);
        queue.addFirst(batch);
    }

    /** Before anything else is written it must be known what became of the last batch. */
    private void settleDoubt() {
        if (applier == null || !applier.isInDoubt()) {
            return;
        }
        Applier.Settled settled = applier.settle();
        if (settled.written().isPresent()) {
            applied(settled.batch(), settled.written().get());
        } else if (settled.blame() == null) {
            takeBack(settled.batch());
        } else {
            notApplied(applier, settled.batch(), Failure.ended(settled.blame()));
        }
    }

    private void takeAnswers() {
        for (LaneSends.Answer answer = sends.poll(); answer != null; answer = sends.poll()) {
            if (answer.outcome() instanceof Outcome.Accepted) {
                accepted(answer.slot());
            } else {
                failed(answer.slot(), Failure.of(answer.outcome()));
            }
        }
    }

    private void accepted(Slot slot) {
        tally.accepted(slot);
        settler.accepted(slot);
    }

    private void failed(Slot slot, Failure failure) {
        new FailedAttempt(failing, slot, failure).settle();
    }

    private boolean hasRoom() {
        return window.messages() < RelaySettings.WINDOW_MESSAGES_MAX
                && window.bytes() < settings.batchBytes() * RelaySettings.WINDOW_BATCHES;
    }

    private boolean maySend() {
        return isTrusted() && claims.allowSending() && probes.allowSending();
    }

    private boolean isTrusted() {
        return trustedUntilNanos - System.nanoTime() > 0;
    }

    /** Nothing to do but to wait: then what is to be written is written at once. */
    private boolean isIdle() {
        return !queue.hasReady() && sends.inFlight() == 0 && !(hasMore() && maySend());
    }

    private boolean hasMore() {
        return reader.hasMore() && hasRoom();
    }

    private boolean isReadable() {
        return hasMore() && reader.restNanos(System.nanoTime()) <= 0;
    }

    private void settleIfDue() {
        boolean waiting = settler.hasToRecord() && isIdle() || settler.endsSuspect();
        if (waiting || System.nanoTime() - settledNanos >= settleIntervalNanos()) {
            settle();
        }
    }

    private long settleIntervalNanos() {
        boolean passing = tally.isSettled() && !settler.hasToRecord();
        Duration interval = settings.settleInterval();
        return (passing && interval.compareTo(PASSING_INTERVAL) < 0 ? PASSING_INTERVAL : interval).toNanos();
    }
}
