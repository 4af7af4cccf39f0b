package io.postroom.subscription;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.journal.Journal;
import io.postroom.postgres.Database;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions as an operator sees and changes them. Every act needs an actor and a reason, and is audited in the transaction that
 * does it: both are there, or neither. What was done already is not done twice.
 *
 * <p>Acts that move lanes wait until relays have given them back, so that nothing is sent twice. If the caller dies while it waits,
 * relays take their lanes again within seconds and nothing was changed. Safe for use by many threads.
 */
public final class Subscriptions {
    public static final int PAGE_MAX = 1_000;

    /** How long acts wait for relays to give their lanes back unless told otherwise. */
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    /** What is parked behind a held key is counted up to this, and so is what a list tells of each subscription. */
    public static final int COUNT_MAX = 10_000;

    /** What is parked behind a held key is counted no further. */
    public static final int PARKED_MAX = 100;

    /** So many deliveries are looked at for a page of those in one state. */
    static final int DELIVERY_WINDOW = 20_000;

    private final Acts acts;
    private final SubscriptionTable table;
    private final LaneChanges changes;
    private final Skipper skipper;
    private final Replayer replayer;
    private final Remover remover;
    private final Releaser releaser;
    private final LaneTable lanes;
    private final DeliveryTable deliveries;
    private final Drain drain;

    public Subscriptions(Database database, Journal journal, Audit audit) {
        this.acts = new Acts(database, journal, audit);
        this.table = acts.table();
        this.lanes = new LaneTable(database.schema());
        this.deliveries = new DeliveryTable(database.schema());
        this.drain = new Drain(acts, lanes);
        this.changes = new LaneChanges(acts, lanes);
        this.skipper = new Skipper(acts, lanes, drain);
        this.replayer = new Replayer(acts, lanes, drain);
        this.remover = new Remover(acts, lanes, deliveries);
        this.releaser = new Releaser(acts, lanes, deliveries);
    }

    public List<SubscriptionState> list() {
        return acts.database().run(table::list);
    }

    public Optional<SubscriptionState> find(String name) {
        return acts.database().run(tx -> table.find(tx, name));
    }

    /** The lanes of one subscription, or of all. */
    public List<LaneState> lanes(@Nullable String name) {
        return acts.database().run(tx -> {
            List<LaneState> lanes = table.lanes(tx, name);
            if (name != null && lanes.isEmpty()) {
                throw acts.unknown(tx, name, "list the lanes of subscription " + name);
            }
            return lanes;
        });
    }

    /** Everything about one subscription. */
    public SubscriptionDetails show(String name) {
        return acts.database().run(tx -> {
            SubscriptionState state =
                    table.find(tx, name).orElseThrow(() -> acts.unknown(tx, name, "show subscription " + name));
            return new SubscriptionDetails(
                    state,
                    table.lanes(tx, name),
                    table.relays(tx, name).stream()
                            .map(SubscriptionTable.LiveRelay::name)
                            .toList(),
                    table.countDeliveries(tx, name, COUNT_MAX),
                    table.circuits(tx, name),
                    table.copies(tx, name));
        });
    }

    /**
     * A page of the keys that wait because one of their messages was buried, in the order of their positions.
     *
     * @param after the position of the last one of the page before, or 0
     */
    public List<HeldKey> heldKeys(String name, long after, int limit) {
        String attempt = "list the held keys of subscription " + name;
        if (limit < 1 || limit > PAGE_MAX) {
            throw Acts.refused(
                    "page-invalid", attempt, "the page is " + limit + " keys, the range is 1 to " + PAGE_MAX);
        }
        return acts.database().run(tx -> {
            List<HeldKey> keys = table.heldKeys(tx, name, after, limit, PARKED_MAX);
            if (keys.isEmpty() && table.find(tx, name).isEmpty()) {
                throw acts.unknown(tx, name, attempt);
            }
            return keys;
        });
    }

    /**
     * A page of the messages that did not go through at once, in the order of their positions.
     *
     * @param state one of {@link DeliveryState#STATES}; null for all
     * @param after the position of the last one of the page before, or 0
     */
    public DeliveryState.Page deliveries(String name, @Nullable String state, long after, int limit) {
        String attempt = "list the deliveries of subscription " + name;
        if (limit < 1 || limit > PAGE_MAX) {
            throw Acts.refused(
                    "page-invalid", attempt, "the page is " + limit + " deliveries, the range is 1 to " + PAGE_MAX);
        }
        if (state != null && !DeliveryState.STATES.contains(state)) {
            throw Acts.refused(
                    "state-unknown",
                    attempt,
                    "the state is " + state + ", it is one of " + String.join(", ", DeliveryState.STATES));
        }
        return acts.database().run(tx -> {
            DeliveryTable.Found found = state != null && DeliveryState.FEW.contains(state)
                    ? deliveries.findFew(tx, name, state, after, limit)
                    : deliveries.find(tx, name, state, after, DELIVERY_WINDOW, limit);
            if (found.positions().isEmpty() && table.find(tx, name).isEmpty()) {
                throw acts.unknown(tx, name, attempt);
            }
            List<DeliveryState> read = deliveries.readAll(tx, name, found.positions());
            return new DeliveryState.Page(read, found.next());
        });
    }

    /** Lets relays finish what is on its way and give the lanes back; nothing is delivered until it is resumed. */
    public Paused pause(String name, Act act) {
        String attempt = "pause subscription " + name;
        acts.check(act, attempt);
        return acts.transact(tx -> {
            SubscriptionTable.Locked subscription = acts.lock(tx, name, attempt);
            Pause pause = subscription.pause();
            boolean already = pause != null;
            if (pause == null) {
                Instant at = table.pause(tx, name, act);
                pause = new Pause(at, act.actor(), act.reason());
                acts.record(tx, act, "pause", name, Map.of());
                table.wake(tx);
            }
            // Leases are renewed at a third of them: what is left is more than twice the time to the next beat.
            Duration within = table.relays(tx, name).stream()
                    .map(SubscriptionTable.LiveRelay::lease)
                    .max(Comparator.naturalOrder())
                    .orElse(Duration.ZERO)
                    .dividedBy(2);
            int leased =
                    table.find(tx, name).map(SubscriptionState::lanesLeased).orElse(0);
            return new Paused(pause, already, leased, within);
        });
    }

    /** Ends a pause; returns the pause that was, or nothing if there was none. */
    public Optional<Pause> resume(String name, Act act) {
        String attempt = "resume subscription " + name;
        acts.check(act, attempt);
        return acts.transact(tx -> {
            Pause pause = acts.lock(tx, name, attempt).pause();
            if (pause != null) {
                table.resume(tx, name);
                acts.record(
                        tx, act, "resume", name, Map.of("pausedAt", pause.at().toString(), "pausedBy", pause.by()));
                table.wake(tx);
            }
            return Optional.ofNullable(pause);
        });
    }

    /**
     * Asks for another number of lanes, 1 to 256. The change is made at once if no relay has a lane, else by a relay as soon as all are
     * given back. Nothing is lost, repeated or put out of order by it. The present number takes an earlier request back.
     */
    public LaneCount changeLanes(String name, int lanes, Act act) {
        return changes.change(name, lanes, act);
    }

    /** Makes a change of lanes that was asked for, if no relay has a lane now; says how it stands. */
    public LaneCount finishLanes(String name) {
        return changes.finish(name);
    }

    /** What {@link #skip} would do now. */
    public SkipPlan planSkip(String name, Point to) {
        return skipper.plan(name, to);
    }

    /** Lets every lane that is before a point go on from there; what lies before is never delivered. */
    public SkipPlan skip(String name, Point to, Act act, Duration patience) {
        return skipper.skip(name, to, act, patience);
    }

    /** Gives up a message that waits among the deliveries: it becomes a dead letter that is discarded, and its key goes on. */
    public SkippedMessage skipMessage(String name, UUID messageId, Act act) {
        return releaser.skip(name, messageId, act);
    }

    /** The same by its position, for a message of which nothing is left but that. */
    public SkippedMessage skipMessage(String name, long position, Act act) {
        return releaser.skip(name, position, act);
    }

    /** Lets a key go on that a dead letter holds. The dead letter stays open. */
    public ReleasedKey release(String name, long deadLetter, Act act) {
        return releaser.release(name, deadLetter, act);
    }

    /** What {@link #replay} would do now. */
    public ReplayPlan planReplay(ReplayRequest request) {
        return replayer.plan(request);
    }

    /** Delivers messages once more to the same subscription, with their ids and a header; then it goes on where it was. */
    public ReplayPlan replay(ReplayRequest request, Act act, Duration patience) {
        return replayer.replay(request, act, patience);
    }

    /** What {@link #replayCopy} would do now. */
    public ReplayPlan planReplayCopy(ReplayRequest request, String copy) {
        return replayer.planCopy(request, copy);
    }

    /**
     * Delivers messages once more to the destination of a subscription, beside it: under another name, with lanes, deliveries and dead
     * letters of its own. Relays that serve the subscription serve the copy too. It ends by itself.
     */
    public ReplayPlan replayCopy(ReplayRequest request, String copy, Act act) {
        return replayer.copy(request, copy, act);
    }

    /** What {@link #remove} would take away now. */
    public RemovalPlan planRemoval(String name) {
        return remover.plan(name);
    }

    /**
     * Removes a subscription that nobody serves: no relay has a lane, and it is paused, or its relays are stopped, or it is a copy that
     * is done.
     *
     * @param withDeliveries whether its deliveries and open dead letters are discarded; else it must have none. They stay as dead
     *     letters.
     * @throws PostroomException if it is served, has copies, or is not empty
     */
    public RemovalPlan remove(String name, boolean withDeliveries, Act act) {
        return remover.remove(name, withDeliveries, act);
    }

    /**
     * Runs work, each time in a transaction of its own, until it finds that no relay has a lane of some subscriptions; relays are asked
     * to give them back meanwhile. For what is built on subscriptions: the work calls {@link #lockFree} and answers with nothing if that
     * says no.
     *
     * @param attempt for the error if it takes too long: {@code retire generation 2 of read model sales}
     */
    public <T> T whileFree(
            List<String> names, String attempt, Duration patience, Function<Connection, Optional<T>> work) {
        return drain.whileFree(names, attempt, patience, work::apply);
    }

    /** Locks a subscription for the rest of the transaction: acts of operators come one after the other. */
    public void lock(Connection tx, String name) {
        acts.lock(tx, name, "lock subscription " + name);
    }

    /** Locks subscriptions and their lanes for the rest of the transaction; says whether no relay has one of the lanes. */
    public boolean lockFree(Connection tx, List<String> names) {
        List<String> inOrder = names.stream().sorted().toList();
        inOrder.forEach(name -> acts.lock(tx, name, "lock subscription " + name));
        return inOrder.stream().flatMap(name -> lanes.lock(tx, name).stream()).noneMatch(LaneTable.Locked::leased);
    }

    /** Takes a subscription away with all that waits in it, in the caller's transaction, which has {@link #lockFree locked} it. */
    public void discard(Connection tx, String name, Act act) {
        remover.discard(tx, name, act);
    }
}
