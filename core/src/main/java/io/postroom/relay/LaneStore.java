package io.postroom.relay;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.retry.Decision;
import io.postroom.retry.Fault;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a lane writes, always under its fence: each transaction first locks the lane's row and ends if it is another relay's by now.
 * For the lane's thread; {@link #settled} may be read by others.
 */
final class LaneStore {
    private static final Logger LOG = LoggerFactory.getLogger(LaneStore.class);

    private final Subscription subscription;
    private final RelayTable.Held held;
    private final String timeline;
    private final UUID relayId;
    private final String node;
    private final Duration patience;
    private final Database database;
    private final RelayTable lanes;
    private final DeliveryTable deliveries;
    private final Telemetry telemetry;
    private final boolean exact;
    private volatile long settled;
    /** Positions whose writing was tried since then and not answered: the lane may be at any of them. */
    private final Set<Long> attempted = new HashSet<>();

    private long marked;
    private long markedNanos = System.nanoTime() - RelaySettings.MARK_INTERVAL.toNanos();
    private long recorded;
    private List<Long> former = List.of();
    private long resumeAt;
    private @Nullable Sealed sealed;

    /** {@code exact}: whether messages take effect in the transactions that move the lane, and must not do so twice. */
    LaneStore(Subscription subscription, RelayTable.Taken taken, Lane.Surroundings surroundings, boolean exact) {
        this.subscription = subscription;
        this.exact = exact;
        this.held = new RelayTable.Held(subscription.name(), taken.lane(), taken.fence());
        this.timeline = taken.timeline();
        this.relayId = surroundings.relayId();
        this.node = surroundings.settings().name();
        this.patience = surroundings.settings().heartbeat();
        this.database = surroundings.database();
        this.lanes = surroundings.table();
        this.deliveries = surroundings.deliveries();
        this.telemetry = surroundings.telemetry();
        this.settled = taken.position();
        this.marked = taken.position();
    }

    /** What the lane finds when it begins. */
    record Begun(RelayTable.Plan plan, List<Integer> blocked, List<Long> known) {}

    /** What was written: which of the record's keys are still blocked, and how many messages were released. */
    record Written(LaneRecord record, List<Integer> stillBlocked, int promoted) {}

    /** A record on its way to the database. If its commit is not answered it is written again, and not twice. */
    private record Sealed(LaneRecord record, long position, long number) {}

    RelayTable.Held held() {
        return held;
    }

    String timeline() {
        return timeline;
    }

    /** Whether a message takes effect in the transaction that moves the lane past it, and must not do so twice. */
    boolean isExact() {
        return exact;
    }

    /** The position last known to be written. */
    long settled() {
        return settled;
    }

    /** Takes up what an earlier relay left: attempts that ended with it, messages it could not read. */
    Begun begin() {
        return database.transactPromptly(tx -> {
            long position = lock(tx).position();
            RelayTable.Plan plan = lanes.plan(tx, held).orElseThrow(() -> lost(position));
            recorded = plan.recorded();
            former = plan.formerPositions();
            // A lane that was moved back goes on there.
            resumeAt = Objects.requireNonNullElse(plan.resumeAt(), 0L);
            Set<Integer> keys = new HashSet<>(deliveries.reread(tx, held));
            rescue(tx, keys);
            if (subscription.order() == Order.KEY && !keys.isEmpty()) {
                deliveries.parkBehind(tx, held.subscription(), keys);
                deliveries.promote(tx, held.subscription(), keys);
            }
            List<Integer> blocked = subscription.order() == Order.KEY ? deliveries.blockedKeys(tx, held) : List.of();
            return new Begun(plan, blocked, deliveries.knownBeyond(tx, held, position, plan));
        });
    }

    private void rescue(Connection tx, Set<Integer> keys) {
        LaneRecord record = new LaneRecord();
        for (DeliveryTable.Rescued each : deliveries.rescue(tx, held)) {
            Slot.Id id = each.row().id();
            Slot.Past past = each.row().past();
            Fault fault = Fault.of(
                    "crash", "relay " + each.node() + " ended, or lost its lane, during attempt " + past.attempts());
            keys.add(id.keyHash());
            record.tried.add(
                    new LaneRecord.Tried(id.position(), past.attempts(), each.took(), each.node(), "crashed", fault));
            // Alone, else it may have been another one that ended the process.
            boolean over = each.alone()
                    && subscription.retry().decide(fault, past.attempts(), null) instanceof Decision.GiveUp;
            if (over) {
                record.buried.add(new LaneRecord.Buried(id, LaneRecord.Cause.CRASHED, past.attempts(), fault));
            }
        }
        write(tx, record);
    }

    /** Counts attempts among the deliveries that would else be counted nowhere: the position can pass them, and a crash is noticed. */
    void note(List<Slot> slots) {
        // Before it is tried: if the answer is lost, they may have rows or not.
        slots.forEach(Slot::noting);
        database.transactPromptly(tx -> {
            lock(tx);
            deliveries.beginSending(tx, held, node, slots);
            return true;
        });
        slots.forEach(Slot::noted);
    }

    /** How long until a delivery is due, if there is one at all. */
    Optional<Duration> nextDue() {
        return database.run(tx -> deliveries.nextDue(tx, held));
    }

    /**
     * Begins attempts of what is due, and of some suspects if that is allowed. None beyond what the lane has read: its delivery would be
     * gone when it is done, and whoever comes next would read it again. For the same reason, where messages are to take effect once,
     * none beyond the lane's position.
     */
    List<DeliveryTable.Row> claim(int limit, long bytesMax, boolean suspect, long readTo) {
        return database.transactPromptly(tx -> {
            long position = lock(tx).position();
            DeliveryTable.Reach reach = exact
                    ? new DeliveryTable.Reach(position, List.of(), position)
                    : new DeliveryTable.Reach(Math.max(readTo, resumeAt), former, Long.MAX_VALUE);
            List<DeliveryTable.Row> rows = new ArrayList<>(deliveries.claim(tx, held, node, reach, limit, bytesMax));
            if (suspect) {
                rows.addAll(deliveries.claimSuspects(tx, held, node, reach));
            }
            return rows;
        });
    }

    /** Notes that nothing else is on its way while this delivery is: only then may it be given up if the relay ends. */
    void markAlone(Slot slot) {
        database.transactPromptly(tx -> {
            lock(tx);
            deliveries.markAlone(tx, held.subscription(), slot.position());
            return true;
        });
    }

    /** Takes back claims that this lane does not know of, because their answer was lost: no such attempt is made. */
    void unclaim(Set<Long> inHand) {
        database.transactPromptly(tx -> {
            lock(tx);
            Set<Integer> keys = deliveries.unclaim(tx, held, inHand);
            if (subscription.order() == Order.KEY && !keys.isEmpty()) {
                deliveries.parkBehind(tx, held.subscription(), keys);
            }
            return true;
        });
    }

    /** Writes a position, and nothing else. */
    void settle(long position) {
        if (position == settled) {
            return;
        }
        RelayTable.Settlement settlement = attempt(position);
        if (!database.run(tx -> lanes.settle(tx, relayId, held, settlement))) {
            throw lost(position);
        }
        written(position);
    }

    /** Remembered before it is tried: if the answer is lost, the lane may be there, or where it was before. */
    private RelayTable.Settlement attempt(long position) {
        RelayTable.Settlement settlement = new RelayTable.Settlement(position, perhapsAt(), timeline);
        attempted.add(position);
        return settlement;
    }

    /** Wherever the lane may be by now. */
    private Set<Long> perhapsAt() {
        Set<Long> positions = new HashSet<>(attempted);
        positions.add(settled);
        return positions;
    }

    private void written(long position) {
        settled = position;
        attempted.clear();
        telemetry.settled(held.subscription(), held.lane(), position);
        mark();
    }

    /** Lets operators know when; not each time, which would cost as much as settling. */
    private void mark() {
        if (settled > marked && System.nanoTime() - markedNanos >= RelaySettings.MARK_INTERVAL.toNanos()) {
            markNow();
        }
    }

    /** What was settled stays so whatever becomes of this: whoever settles must hear of that, not of a mark that operators miss. */
    private void markNow() {
        markedNanos = System.nanoTime();
        marked = settled;
        try {
            database.run(tx -> lanes.markSettled(tx, held, settled, node));
        } catch (DatabaseException e) {
            LOG.debug(
                    "could not mark when lane {} of subscription {} was settled to {}",
                    held.lane(),
                    held.subscription(),
                    settled,
                    e);
        }
    }

    /** Whether a record still waits to be written. */
    boolean isRecording() {
        return sealed != null;
    }

    /** Takes a record; {@link #write()} writes it. */
    void seal(LaneRecord record, long position) {
        sealed = new Sealed(record, position, recorded + 1);
    }

    /** Writes the sealed record and its position. */
    Written write() {
        Sealed writing = Objects.requireNonNull(sealed, "nothing was sealed");
        // Remembered before it is tried: if the answer is lost, the lane may be there.
        attempted.add(writing.position());
        Written written = database.transactPromptly(tx -> {
            RelayTable.Locked lane = lock(tx);
            int promoted = 0;
            // The commit of the last try may have come through without an answer.
            if (lane.recorded() < writing.number()) {
                write(tx, writing.record());
                promoted = arrange(tx, writing.record().keys);
                lanes.record(tx, held, writing.position(), writing.number());
            }
            return new Written(writing.record(), stillBlocked(tx, writing.record().keys), promoted);
        });
        recorded = writing.number();
        sealed = null;
        written(writing.position());
        return written;
    }

    /** Something to do in the transaction that moves the lane. */
    @FunctionalInterface
    interface Work {
        void run(Connection tx);
    }

    /** The number that the next record or apply will have. */
    long nextNumber() {
        return recorded + 1;
    }

    /** Checks what the work has put off to the commit. */
    void checkConstraints(Connection tx) {
        lanes.checkConstraints(tx);
    }

    /**
     * Does work, writes a record and moves the lane, in one transaction. The lane's row is locked at the end only: the work may take
     * its time, and the lease must be renewed meanwhile. If PostgreSQL fails, {@link #recall} tells whether it was committed.
     */
    Written apply(LaneRecord record, long position, Duration deadline, Work work) {
        long number = nextNumber();
        boolean triedBefore = attempted.contains(position);
        RelayTable.Settlement settlement = attempt(position);
        Written written;
        try {
            written = apply(record, number, settlement, deadline, work);
        } catch (Applier.NotAppliedException e) {
            // Surely rolled back: a projection that fails for long must not make this grow.
            if (!triedBefore) {
                attempted.remove(position);
            }
            throw e;
        }
        applied(position, number);
        return written;
    }

    private Written apply(
            LaneRecord record, long number, RelayTable.Settlement settlement, Duration deadline, Work work) {
        // Whoever watches for hung threads looks four times in the time of a deadline, and comes first.
        Duration idle = deadline.multipliedBy(3).dividedBy(2).plus(patience);
        long position = settlement.position();
        return database.transactWithin(deadline.plus(patience), tx -> {
            RelayTable.Entered entered = lanes.enter(tx, relayId, held, timeline, deadline, idle)
                    .filter(lane -> lane.recorded() == number - 1)
                    .orElseThrow(() -> lost(position));
            work.run(tx);
            database.answerPromptly(tx);
            int promoted = 0;
            if (!record.isEmpty()) {
                lock(tx);
                write(tx, record);
                promoted = arrange(tx, record.keys);
            }
            if (!lanes.advance(tx, relayId, held, settlement, entered, patience)) {
                requireBegun(tx, entered);
                throw lost(position);
            }
            return new Written(record, stillBlocked(tx, record.keys), promoted);
        });
    }

    /** Whoever ended the transaction has committed, or undone, the half of it. */
    private void requireBegun(Connection tx, RelayTable.Entered entered) {
        lanes.enter(tx, relayId, held, timeline, patience, patience)
                .filter(now -> !now.began().equals(entered.began()))
                .ifPresent(now -> {
                    throw new Applier.NotAppliedException(
                            new IllegalStateException(
                                    "the projection ended the transaction it was"
                                            + " given; what it wrote up to then may take effect twice. Return to commit, throw to roll back"));
                });
    }

    private void applied(long position, long number) {
        recorded = number;
        written(position);
    }

    /** What was written by an {@link #apply} with this number whose end is not known, if it was committed. */
    Optional<Written> recall(LaneRecord record, long position, long number) {
        Optional<Written> written = database.transactPromptly(tx -> {
            boolean committed = lock(tx).recorded() >= number;
            // How many were released is not known: it is looked for.
            return committed ? Optional.of(new Written(record, stillBlocked(tx, record.keys), 1)) : Optional.empty();
        });
        written.ifPresent(ignored -> applied(position, number));
        return written;
    }

    /** The replay is over: the lane goes on where it was before. */
    void endReplay(long resumeAt) {
        database.transactPromptly(tx -> {
            lock(tx);
            return lanes.endReplay(tx, held);
        });
        settled = resumeAt;
        attempted.clear();
    }

    /** Gives the lane back. */
    void release() {
        if (settled > marked) {
            markNow();
        }
        if (!database.run(tx -> lanes.release(tx, relayId, held))) {
            throw new LostLeaseException(held, settled);
        }
    }

    LostLeaseException lost(long position) {
        telemetry.staleSettle(held.subscription(), held.lane());
        return new LostLeaseException(held, position);
    }

    private RelayTable.Locked lock(Connection tx) {
        RelayTable.Locked lane =
                lanes.lock(tx, relayId, held, timeline, patience).orElseThrow(() -> lost(Collections.max(perhapsAt())));
        if (!perhapsAt().contains(lane.position())) {
            throw lost(Collections.max(perhapsAt()));
        }
        return lane;
    }

    private void write(Connection tx, LaneRecord record) {
        if (!record.accepted.isEmpty()) {
            deliveries.accept(tx, held.subscription(), record.accepted);
        }
        if (!record.tried.isEmpty()) {
            deliveries.noteAttempts(tx, held.subscription(), record.tried);
        }
        if (!record.kept.isEmpty()) {
            deliveries.keep(tx, held, record.kept);
        }
        if (!record.buried.isEmpty()) {
            bury(tx, record.buried);
        }
    }

    private void bury(Connection tx, List<LaneRecord.Buried> buried) {
        List<LaneRecord.Buried> again =
                buried.stream().filter(each -> each.id().deadLetter() != null).toList();
        List<LaneRecord.Buried> first =
                buried.stream().filter(each -> each.id().deadLetter() == null).toList();
        Map<Long, Long> letters = new HashMap<>();
        if (!first.isEmpty()) {
            letters.putAll(deliveries.bury(tx, held.subscription(), node, first));
        }
        if (!again.isEmpty()) {
            letters.putAll(deliveries.buryAgain(tx, held.subscription(), node, again));
        }
        List<LaneRecord.Buried> found = buried.stream()
                .filter(each -> letters.containsKey(each.id().position()))
                .toList();
        if (found.size() < buried.size()) {
            // Its outbox partition was dropped meanwhile: there is nothing left to bury, but it is not to vanish
            // silently.
            deliveries.keep(tx, held, gone(buried, letters.keySet()));
        }
        if (subscription.onBurial() == OnBurial.HOLD) {
            deliveries.hold(tx, held, found, letters);
        } else {
            deliveries.accept(
                    tx,
                    held.subscription(),
                    found.stream().map(each -> each.id().position()).toList());
        }
    }

    private static List<LaneRecord.Kept> gone(List<LaneRecord.Buried> buried, Set<Long> found) {
        return buried.stream()
                .filter(each -> !found.contains(each.id().position()))
                .map(each -> new LaneRecord.Kept(
                        each.id(), LaneRecord.State.UNREADABLE, Duration.ZERO, each.attempts(), DeliveryReader.GONE))
                .toList();
    }

    private int arrange(Connection tx, Set<Integer> keys) {
        if (subscription.order() != Order.KEY || keys.isEmpty()) {
            return 0;
        }
        deliveries.parkBehind(tx, held.subscription(), keys);
        return deliveries.promote(tx, held.subscription(), keys);
    }

    private List<Integer> stillBlocked(Connection tx, Set<Integer> keys) {
        return subscription.order() != Order.KEY || keys.isEmpty()
                ? List.of()
                : deliveries.stillBlocked(tx, held.subscription(), keys);
    }
}
