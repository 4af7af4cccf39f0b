package io.postroom.relay;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.Session;
import io.postroom.subscription.LaneChange;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lanes one relay has: takes its fair share, renews the leases, gives back what is too much.
 *
 * <p>Leases have a thread and a connection of their own, so that no slow sink and no exhausted pool can make them expire.
 */
final class Lanes {
    private static final Logger LOG = LoggerFactory.getLogger(Lanes.class);

    /** How long a lane that is asked to end may take to settle and give itself back. */
    private static final long GIVE_BACK_NANOS = 2_000_000_000L;

    private static final long WATCH_NANOS_MIN = 10_000_000L;

    /** How often to beat while an operator waits for lanes. */
    private static final long AWAITED_NANOS = 200_000_000L;

    private final UUID relayId;
    private final Map<String, Relay.Target> targets;
    private final Guests guests;
    private final Lane.Surroundings surroundings;
    private final Database database;
    private final RelayTable table;
    private final RelaySettings settings;
    private final Telemetry telemetry;
    private final LaneChange laneChange;
    private final GoneDestinations gone;
    private final Map<Place, LaneRun> running = new ConcurrentHashMap<>();
    private final Set<String> shown = new HashSet<>();
    private final Signal signal = new Signal();
    private volatile boolean stopping;
    private volatile boolean hasOthers;
    private volatile boolean released = true;
    private boolean threaded;
    private @Nullable Thread thread;
    private @Nullable Session leases;
    private @Nullable Thread changing;
    private volatile boolean awaited;
    private boolean failing;

    Lanes(UUID relayId, Map<String, Relay.Target> targets, Guests guests, Lane.Surroundings surroundings) {
        this.relayId = relayId;
        this.targets = targets;
        this.guests = guests;
        this.surroundings = surroundings;
        this.database = surroundings.database();
        this.table = surroundings.table();
        this.settings = surroundings.settings();
        this.telemetry = surroundings.telemetry();
        this.laneChange = new LaneChange(database);
        this.gone = new GoneDestinations(database, settings.name());
    }

    /** A lane of a subscription. */
    private record Place(String subscription, int lane) {}

    void start() {
        threaded = true;
        // What was taken while the relay was stepped by hand has no thread yet, and nobody else works on it now.
        running.values().forEach(LaneRun::start);
        balance();
        thread = Threads.keep("postroom-leases-" + settings.name(), this::run);
    }

    /** Wakes every lane: there is something to read. */
    void wake() {
        running.values().forEach(run -> run.lane().signal().raise());
    }

    /** Looks for deliveries in every lane: others may have changed them. */
    void look() {
        running.values().forEach(run -> {
            run.lane().look();
            run.lane().signal().raise();
        });
    }

    /** One beat: renews, takes, gives back. */
    synchronized void balance() {
        long asked = System.nanoTime();
        Connection tx = connection();
        findGuests(tx);
        table.announce(tx, relayId, settings.name(), names(), settings.lease());
        Map<Place, Long> settledBefore = new HashMap<>();
        running.forEach((place, run) -> settledBefore.put(place, run.lane().settled()));
        List<RelayTable.Held> held =
                running.values().stream().map(run -> run.lane().held()).toList();
        renew(table.renew(tx, relayId, held, settings.lease()), settledBefore, asked + settings.selfTrustNanos());
        pauseGone(tx);
        boolean isAwaited = false;
        for (RelayTable.Share share : table.shares(tx, relayId, names())) {
            isAwaited |= share.awaited();
            changeLanes(tx, share);
            int fair = share.fair();
            List<Integer> mine = lanesOf(share.subscription());
            if (fair > 0) {
                allTargets().stream()
                        .filter(target -> target.subscription().name().equals(share.subscription()))
                        .forEach(target -> gone.serving(target, mine.isEmpty()));
            }
            if (mine.size() < fair && !stopping) {
                take(tx, share.subscription(), mine, fair - mine.size());
            } else {
                mine.stream().skip(fair).forEach(lane -> drain(new Place(share.subscription(), lane)));
            }
        }
        awaited = isAwaited;
        hasOthers = table.countRelays(tx) > 1;
        if (released && hasOthers) {
            released = false;
            table.notifyOthers(tx, Listener.channel(database), Listener.LANES);
        }
        reportLag(tx);
        showCircuits(tx);
    }

    /** Another relay came, went or gave lanes back: do not wait for the next beat. */
    void balanceSoon() {
        signal.raise();
    }

    /** Whether another relay was alive at the last beat. */
    boolean hasOthers() {
        return hasOthers;
    }

    /** Delivers all that is due on the caller's thread; returns how many messages were accepted. */
    long deliverAll() {
        long accepted = 0;
        for (Map.Entry<Place, LaneRun> entry : running.entrySet()) {
            try {
                accepted += entry.getValue().deliverAll();
            } catch (LostLeaseException e) {
                LOG.warn(e.getMessage());
                entry.getValue().lane().leave();
                running.remove(entry.getKey());
                telemetry.laneReleased(
                        entry.getKey().subscription(), entry.getKey().lane(), true);
            }
        }
        return accepted;
    }

    /** Lanes finish and are given back first; the heartbeat goes last, so that nobody takes them meanwhile. */
    void stop() {
        beginToStop();
        running.values().forEach(LaneRun::drain);
        // Lanes keep the grace themselves; whoever is not done soon after it hangs in a handler and is interrupted.
        long deadline = System.nanoTime() + settings.stopGrace().toNanos() + GIVE_BACK_NANOS;
        running.values().forEach(run -> run.join(deadline));
        running.values().forEach(LaneRun::interrupt);
        long last = System.nanoTime() + GIVE_BACK_NANOS;
        running.values().forEach(run -> run.join(last));
        signal.raise();
        Threads.join(thread, settings.stopGrace());
        Threads.join(changing, settings.stopGrace());
        closeConnection();
    }

    /** Waits for a beat that is under way: it may still be taking lanes. */
    private synchronized void beginToStop() {
        stopping = true;
    }

    /** Ends when the relay stops; trouble with the database makes it try again, sooner than the next beat. */
    private void run() {
        long beatAt = System.nanoTime() + beatNanos();
        while (!stopping || !running.isEmpty()) {
            try {
                boolean asked = signal.await(Math.min(beatAt - System.nanoTime(), watchNanos()));
                if (stopping && running.isEmpty()) {
                    return;
                }
                // Deadlines may be much shorter than beats, and to watch costs the database nothing.
                running.values().forEach(LaneRun::watch);
                if (!asked && beatAt - System.nanoTime() > 0) {
                    continue;
                }
                balance();
                if (failing) {
                    failing = false;
                    LOG.info("relay {} renews its leases again", settings.name());
                }
                beatAt = System.nanoTime() + beatNanos();
            } catch (RuntimeException | Error e) {
                // Not only the database: a pool or a telemetry may throw what it likes, and there may be no memory for
                // a moment because
                // of somebody else. Leases must go on.
                closeConnection();
                if (!failing) {
                    failing = true;
                    LOG.warn("relay {} cannot renew its leases: {}", settings.name(), e.getMessage(), unexpected(e));
                }
                beatAt = System.nanoTime() + beatNanos();
                if (stopping) {
                    return;
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private long beatNanos() {
        long beat = settings.heartbeat().toNanos();
        return failing ? beat / 4 : awaited ? Math.min(beat, AWAITED_NANOS) : beat;
    }

    /** A quarter of the shortest deadline: whoever hangs is found soon after it. */
    private long watchNanos() {
        return Math.max(
                allTargets().stream()
                                .mapToLong(target ->
                                        target.subscription().deadline().toNanos())
                                .min()
                                .orElse(Long.MAX_VALUE)
                        / 4,
                WATCH_NANOS_MIN);
    }

    /** Lanes that were not renewed, or are not where this relay left them, are no longer ours. */
    private void renew(List<RelayTable.Renewed> renewed, Map<Place, Long> settledBefore, long trustedUntilNanos) {
        Map<Place, RelayTable.Renewed> answers = new HashMap<>();
        renewed.forEach(answer -> answers.put(
                new Place(answer.held().subscription(), answer.held().lane()), answer));
        settledBefore.forEach((place, settled) -> {
            LaneRun run = running.get(place);
            RelayTable.Renewed answer = answers.get(place);
            if (run == null || answer != null && run.lane().renewed(answer, settled, trustedUntilNanos)) {
                return;
            }
            run.abandon();
            if (!threaded) {
                run.lane().leave();
                ended(place, true);
            }
        });
    }

    private void take(Connection tx, String subscription, List<Integer> held, int wanted) {
        Relay.Target target = targets.get(subscription);
        Guests.Served guest = target == null ? guests.served(subscription) : null;
        if (target == null && guest == null) {
            return;
        }
        long asked = System.nanoTime();
        List<RelayTable.Taken> all = table.acquire(tx, subscription, relayId, held, wanted, settings.lease());
        if (guest != null && !all.isEmpty()) {
            // Whoever says how far it goes does so while no lane is taken: what was asked before may be out of date.
            findGuests(tx);
        }
        for (RelayTable.Taken taken : all) {
            Place place = new Place(subscription, taken.lane());
            Lane lane = new Lane(
                    guest == null ? target : guest.target(),
                    taken,
                    asked + settings.selfTrustNanos(),
                    guest == null ? surroundings : guest.surroundings());
            LaneRun run = new LaneRun(lane, settings, lost -> ended(place, lost));
            running.put(place, run);
            telemetry.laneAcquired(subscription, taken.lane(), taken.takeover());
            LOG.info(
                    "relay {} has lane {} of subscription {} from position {}, fence {}{}",
                    settings.name(),
                    taken.lane(),
                    subscription,
                    taken.position(),
                    taken.fence(),
                    taken.takeover() ? ", taken over" : "");
            if (threaded) {
                run.start();
            }
        }
    }

    /** All that this relay serves. */
    Set<String> names() {
        Set<String> names = new LinkedHashSet<>(targets.keySet());
        names.addAll(guests.names());
        return names;
    }

    private List<Relay.Target> allTargets() {
        List<Relay.Target> all = new ArrayList<>(targets.values());
        guests.all().forEach(guest -> all.add(guest.target()));
        return all;
    }

    private void findGuests(Connection tx) {
        if (guests.find(tx)) {
            wake();
        }
    }

    /** An operator wants another number of lanes, and all of them are free: whichever relay finds that first makes the change. */
    private void changeLanes(Connection tx, RelayTable.Share share) {
        String name = share.subscription();
        if (share.former()) {
            laneChange.forgetFormer(tx, name);
        }
        if (!share.due() || changing != null && changing.isAlive()) {
            return;
        }
        if (threaded) {
            // Not on this thread: it may take its time where there are many deliveries, and leases must go on.
            changing = Threads.start("postroom-change-" + name, () -> changeLanes(name));
        } else {
            changeLanes(name);
        }
    }

    private void changeLanes(String name) {
        try {
            if (laneChange.make(name)) {
                LOG.info("relay {} changed the number of lanes of subscription {}", settings.name(), name);
            }
        } catch (DatabaseException e) {
            LOG.warn(
                    "relay {} could not change the number of lanes of subscription {}: {}; it is tried again",
                    settings.name(),
                    name,
                    e.getMessage());
        }
        signal.raise();
    }

    private void drain(Place place) {
        LaneRun run = running.get(place);
        if (run != null) {
            run.drain();
            if (!threaded) {
                run.finish();
            }
        }
    }

    private void ended(Place place, boolean lost) {
        running.remove(place);
        released = true;
        signal.raise();
        telemetry.laneReleased(place.subscription(), place.lane(), lost);
    }

    /** A stack trace only for what nobody foresaw. */
    private static @Nullable Throwable unexpected(Throwable e) {
        return e instanceof DatabaseException ? null : e;
    }

    /** Before lanes are shared: what is paused here is given back in the same beat. */
    private void pauseGone(Connection tx) {
        for (Relay.Target target : allTargets()) {
            if (!lanesOf(target.subscription().name()).isEmpty() && gone.pause(tx, target)) {
                table.notifyOthers(tx, Listener.channel(database), Listener.LANES);
            }
        }
    }

    private List<Integer> lanesOf(String subscription) {
        return running.keySet().stream()
                .filter(place -> place.subscription().equals(subscription))
                .map(Place::lane)
                .sorted()
                .toList();
    }

    private void reportLag(Connection tx) {
        for (Lag lag : table.lag(tx, names())) {
            telemetry.lag(lag.subscription(), lag.messages(), lag.age());
        }
    }

    /** Lets everybody see which destinations take nothing. */
    private void showCircuits(Connection tx) {
        for (Relay.Target target : allTargets()) {
            String name = target.subscription().name();
            Optional<Circuit.View> open = target.circuit().view();
            if (open.isPresent()) {
                table.showCircuit(tx, name, relayId, open.get());
                telemetry.circuit(name, true);
                shown.add(name);
            } else if (shown.remove(name)) {
                table.hideCircuit(tx, name, relayId);
                telemetry.circuit(name, false);
            }
        }
    }

    private Connection connection() {
        if (leases == null) {
            // A lost answer must not hold the heartbeat longer than a beat.
            leases = database.open(
                    Duration.ofMillis(Math.max(1_000, settings.heartbeat().toMillis())));
        }
        return leases.connection();
    }

    private synchronized void closeConnection() {
        if (leases != null) {
            leases.close();
            leases = null;
        }
    }
}
