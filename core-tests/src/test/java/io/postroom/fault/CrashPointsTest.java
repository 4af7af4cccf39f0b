package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.fault.Conservation.Place;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Relays that die at every step of a delivery, one after the other, while messages of every kind are published. */
class CrashPointsTest {
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final int LANES = 3;
    private static final Duration PATIENCE = FaultProcess.PATIENCE;

    /** Every step once, each at the moment that leaves most behind. What is to be rescued must have been begun before. */
    private static final List<String> EACH_ONCE = List.of(
            "kill after keep.sql 1",
            "kill before note_attempts.sql 1",
            "kill committed claim.sql 1",
            "kill before send 30",
            "kill committed begin_sending.sql 1",
            "kill after rescue.sql 1",
            "kill committed claim_suspects.sql 1",
            "kill committed mark_alone.sql 1",
            "kill after accept.sql 1",
            "kill after bury.sql 1",
            "kill after hold.sql 1",
            "kill after park_behind.sql 1",
            "kill after promote.sql 1",
            "kill after unclaim.sql 1",
            "kill committed hide_circuit.sql 1",
            "kill committed known_beyond.sql 1",
            "kill committed record_lane.sql 1",
            "kill after send 1",
            "kill before settle.sql 1",
            "kill committed acquire.sql 1",
            "kill before release.sql 1",
            "kill committed withdraw.sql 1");

    /** Those that leave behind something else when many messages are on their way. */
    private static final List<String> PIPELINED_ONCE = List.of(
            "kill after keep.sql 1",
            "kill committed claim.sql 1",
            "kill before send 30",
            "kill committed begin_sending.sql 1",
            "kill after rescue.sql 1",
            "kill committed record_lane.sql 1",
            "kill after send 30",
            "kill before settle.sql 1",
            "kill before release.sql 1");

    /** Steps that are part of a longer transaction. */
    private static final List<String> STEPS = List.of(
            "lock_lane.sql",
            "keep.sql",
            "note_attempts.sql",
            "claim.sql",
            "claim_suspects.sql",
            "begin_sending.sql",
            "accept.sql",
            "bury.sql",
            "hold.sql",
            "park_behind.sql",
            "promote.sql",
            "record_lane.sql");

    /** Steps that a relay may take only once, or that are transactions of their own: with nothing between them and their commit. */
    private static final List<String> ONCE =
            List.of("rescue.sql", "reread.sql", "blocked_keys.sql", "known_beyond.sql", "unclaim.sql");

    private static final List<String> ALONE = List.of(
            "settle.sql",
            "acquire.sql",
            "renew.sql",
            "announce.sql",
            "show_circuit.sql",
            "hide_circuit.sql",
            "release.sql",
            "withdraw.sql");

    private static final int AWAY_MAX = 20;
    private static final long GOES_THROUGH_NANOS = 1_000_000_000L;

    @TempDir
    Path directory;

    private final List<FaultProcess> processes = new ArrayList<>();
    private TestDatabase database;
    private Traffic traffic;
    private DeliveryFile goesOn;
    private DeliveryFile holds;
    /** By subscription. */
    private final Map<String, Long> inFlight = new TreeMap<>();

    private long inFlightMost;
    private int threads;

    /** On the lanes' own threads, one message at a time, and on others, where many are on their way and answers come out of turn. */
    @ParameterizedTest
    @MethodSource("io.postroom.fault.FaultSettings#threadsToTry")
    void losesAndInventsNothingWhereverItDies(int pipelined) throws Exception {
        threads = pipelined;
        long seed = Long.getLong("postroom.seed", System.nanoTime());
        List<String> steps = steps(new Random(seed));
        goesOn = DeliveryFile.at(directory.resolve(FaultMain.GOES_ON));
        holds = DeliveryFile.at(directory.resolve(FaultMain.HOLDS));
        try (TestDatabase created = TestDatabase.create();
                Conservation.Watch watchGoesOn = watch(created, FaultMain.GOES_ON);
                Conservation.Watch watchHolds = watch(created, FaultMain.HOLDS)) {
            database = created;
            traffic = new Traffic(database);
            FaultProcess next = begin(0, steps);
            for (int round = 0; round < steps.size(); round++) {
                FaultProcess dying = next;
                next = begin(round + 1, steps);
                publish(round);
                die(dying, steps, round);
                FaultProcess.expireLeases(database);
                assertThat(watchGoesOn.wrong()).as(steps.get(round)).isEmpty();
                assertThat(watchHolds.wrong()).as(steps.get(round)).isEmpty();
            }
            publish(steps.size());
            next.go().running();
            Deadline.await("the watch sees scheduled messages", PATIENCE, () -> {
                traffic.batch().add("later", Kind.LATER).publish();
                LockSupport.parkNanos(50_000_000);
                return watchGoesOn.states().contains("scheduled")
                        && watchHolds.states().contains("scheduled");
            });
            awaitTheEnd();
            next.stop();
            watchGoesOn.stop();
            watchHolds.stop();

            String run = "seed " + seed + ", " + steps.size() + " deaths, " + traffic.count() + " messages, " + inFlight
                    + " in flight, at most " + inFlightMost + " at once, " + watchGoesOn.looks() + " looks";
            check(run, watchGoesOn, goesOn, false);
            check(run, watchHolds, holds, true);
            assertThat(watchHolds.states()).as(run).contains("held");
            assertThat(inFlight.values())
                    .as("%s: deaths hit messages on their way", run)
                    .anyMatch(each -> each > 0);
        } finally {
            processes.forEach(FaultProcess::close);
        }
    }

    /** Each step once; in a long run then each at every moment, at several times, in any order. */
    private List<String> steps(Random random) {
        List<String> steps = new ArrayList<>(threads == 0 || LONG ? EACH_ONCE : PIPELINED_ONCE);
        if (LONG) {
            List<String> more = new ArrayList<>();
            for (String moment : List.of("before", "after", "committed")) {
                for (int time = 1; time <= 3; time++) {
                    for (String step : STEPS) {
                        // Taken once for each lane that was left unclean: perhaps there is only one.
                        int reached = step.equals("begin_sending.sql") ? 1 : time;
                        more.add("kill " + moment + " " + step + " " + reached);
                    }
                }
                ONCE.forEach(step -> more.add("kill " + moment + " " + step + " 1"));
                if (moment.equals("after")) {
                    more.addAll(List.of(
                            "kill before send 7", "kill after send 7", "kill before send 61", "kill after send 61"));
                } else {
                    ALONE.forEach(step -> more.add("kill " + moment + " " + step + " 1"));
                }
            }
            Collections.shuffle(more, random);
            for (String step : more) {
                if (step.contains("begin_sending.sql")) {
                    // Taken only after a relay that died while it was sending: the one before may have given all back.
                    steps.add("kill before send 7");
                }
                steps.add(step);
            }
        }
        return steps;
    }

    private FaultProcess begin(int round, List<String> steps) {
        FaultSettings settings = FaultSettings.on(database, directory)
                .with("name", "relay-" + round)
                .with("lanes", LANES)
                .with("threads", threads)
                .with("settle", isExact(round) ? Duration.ZERO : Duration.ofMillis(100))
                .with("retry", "linear step=10ms cap=10ms jitter=0 attempts=10")
                .with("step", round < steps.size() ? steps.get(round) : "");
        FaultProcess process = FaultProcess.start(settings);
        processes.add(process);
        return process;
    }

    /** A relay that settles after each message, and sends one at a time, has at most one per lane in flight; every other round is like this. */
    private boolean isExact(int round) {
        return threads == 0 && round % 2 == 1;
    }

    private void publish(int round) throws SQLException {
        Traffic.Batch batch = traffic.batch();
        for (int key = 0; key < 8; key++) {
            batch.add("good-" + key, Kind.GOOD, Kind.GOOD);
        }
        for (int key = 0; key < 2; key++) {
            batch.add("once-" + round + "-" + key, Kind.GOOD, Kind.ONCE, Kind.ONCE, Kind.GOOD);
        }
        batch.add("never-" + round, Kind.GOOD, Kind.NEVER, Kind.GOOD, Kind.GOOD)
                .add("rejected-" + round, Kind.GOOD, Kind.REJECTED, Kind.GOOD)
                .add("later-" + round, Kind.GOOD, Kind.LATER, Kind.GOOD)
                .publish();
    }

    private void die(FaultProcess dying, List<String> steps, int round) throws Exception {
        String step = steps.get(round);
        boolean atTheEnd = step.contains("release.sql") || step.contains("withdraw.sql");
        if (step.equals("kill after rescue.sql 1") && round < EACH_ONCE.size()) {
            assertThat(database.queryLong("select count(*) from postroom.delivery where state = 'sending'"))
                    .as("there is something to rescue")
                    .isPositive();
        }
        dying.go();
        if (atTheEnd) {
            dying.running();
            Deadline.await(
                    () -> step + ": it delivers: " + dying.child(),
                    PATIENCE,
                    () -> goesOn.countOf(dying.name()) > 0 && holds.countOf(dying.name()) > 0);
            dying.child().say("stop");
        }
        AtomicInteger away = new AtomicInteger();
        List<String> before = steps.subList(Math.max(0, round - 3), round);
        Deadline.await(() -> step + ", after " + before + ": it dies: " + dying.child(), PATIENCE, () -> {
            // Some steps come only when there is something new.
            traffic.batch().add("good-" + round % 8, Kind.GOOD).publish();
            // Each keeps its destination away for a while: if a process takes long to start, there must not be hundreds
            // of them.
            if (step.contains("circuit.sql") && away.incrementAndGet() <= AWAY_MAX) {
                traffic.batch().add("away-" + round, Kind.AWAY).publish();
            }
            LockSupport.parkNanos(50_000_000);
            return !dying.child().isAlive();
        });
        dying.assertDiedAtItsStep();
        for (DeliveryFile file : List.of(goesOn, holds)) {
            String subscription = file.path().getFileName().toString();
            Map<Long, Place> unrecorded = Conservation.unrecorded(database, subscription, dying.name(), file);
            inFlight.merge(subscription, (long) unrecorded.size(), Long::sum);
            inFlightMost = Math.max(inFlightMost, unrecorded.size());
            if (isExact(round)) {
                assertThat(unrecorded)
                        .as(
                                "%s: delivered to %s and not recorded, one for each lane at most; %s",
                                step, subscription, known(subscription, unrecorded.keySet()))
                        .hasSizeLessThanOrEqualTo(LANES);
            }
        }
    }

    /** What the database has about messages: how far their lanes are, and their deliveries. */
    private List<String> known(String subscription, Set<Long> positions) throws SQLException {
        List<String> known = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement("""
                        select format('%s in lane %s, which is at %s, delivery: %s', j.position, l.lane, l.position, coalesce(d::text, 'none'))
                        from postroom.journal as j
                        join postroom.subscription as s on s.name = ?
                        join postroom.lane as l on l.subscription = s.name and l.lane = j.key_hash % s.lanes
                        left join postroom.delivery as d on d.subscription = s.name and d.position = j.position
                        where j.position = any (?) order by j.position""")) {
            statement.setString(1, subscription);
            statement.setArray(2, connection.createArrayOf("bigint", positions.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    known.add(row.getString(1));
                }
            }
        }
        return known;
    }

    /**
     * Now and then something goes through: many messages that fail for ever, with nothing else to deliver, are not told from an outage
     * and would wait for that.
     */
    private void awaitTheEnd() {
        AtomicLong published = new AtomicLong(System.nanoTime());
        Deadline.await(
                () -> "everything has ended: " + goesOn() + ", "
                        + processes.get(processes.size() - 1).child(),
                PATIENCE,
                () -> {
                    if (System.nanoTime() - published.get() > GOES_THROUGH_NANOS) {
                        traffic.batch().add("good-0", Kind.GOOD).publish();
                        published.set(System.nanoTime());
                    }
                    return hasEnded();
                });
    }

    private boolean hasEnded() throws IOException {
        return database.queryLong("select count(*) from postroom.delivery where state not in ('held', 'parked')"
                                + " or subscription = '" + FaultMain.GOES_ON + "'")
                        == 0
                && goesOn.distinct()
                        >= traffic.count() - traffic.withheld(false).size()
                && holds.distinct() >= traffic.count() - traffic.withheld(true).size();
    }

    private String goesOn() {
        return database.queryLong("select count(*) from postroom.delivery") + " deliveries left";
    }

    private void check(String run, Conservation.Watch watch, DeliveryFile file, boolean holding) throws Exception {
        History history = traffic.history(holding, file);
        assertThat(watch.wrong()).as(run).isEmpty();
        assertThat(watch.seen())
                .as("%s: places that the watch has seen", run)
                .containsAll(EnumSet.complementOf(EnumSet.of(Place.DISCARDED)));
        assertThat(watch.states()).as(run).contains("scheduled", "waiting", "parked", "sending");
        assertThat(history.violations(Truth.stored(database.dataSource())))
                .as(run)
                .isEmpty();
        String subscription = holding ? FaultMain.HOLDS : FaultMain.GOES_ON;
        assertThat((long) history.duplicates()).as(run).isLessThanOrEqualTo(inFlight.get(subscription));
        Map<UUID, Integer> letters = Traffic.letters(database, subscription);
        assertThat(letters.keySet()).as(run).isEqualTo(traffic.dead(holding));
        assertThat(letters.values()).as("%s: each once", run).containsOnly(1);
    }

    private Conservation.Watch watch(TestDatabase created, String subscription) {
        return new Conservation.Watch(created, subscription, directory.resolve(subscription), false);
    }
}
