package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.relay.Relay;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.testkit.TestDatabase;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Relays that die at the steps with which they end what an operator asked for. */
class OperatorCrashTest {
    private static final int LANES = 1;
    private static final int KEYS = 6;

    @TempDir
    Path directory;

    private final List<FaultProcess> processes = new ArrayList<>();
    private TestDatabase database;
    private Traffic traffic;
    private DeliveryFile file;
    private int lanes = LANES;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        traffic = new Traffic(database);
        file = DeliveryFile.at(directory.resolve(FaultMain.GOES_ON));
    }

    @AfterEach
    void drop() {
        processes.forEach(FaultProcess::close);
        database.close();
    }

    @Test
    void aRedrivenMessageIsBuriedAgainOnceWhereverItsRelayDies() throws Exception {
        publish(Kind.GOOD, Kind.NEVER, Kind.GOOD);
        live();
        Redrives redrives = database.postroom().deadLetters().redrives();
        int rounds = 0;
        for (String moment : List.of("before", "after", "committed")) {
            redrives.request(RedriveRequest.redrive(DeadLetterFilter.ofOwner(FaultMain.GOES_ON))
                    .actor("operator")
                    .reason("perhaps now")
                    .build());
            redrives.stepAll();
            die("kill " + moment + " bury_again.sql 1");
            live();
            rounds++;
            assertThat(count("dead_letter where resolution is null"))
                    .as("%s: each has one open dead letter", moment)
                    .isEqualTo(KEYS);
            assertThat(count("dead_letter where resolution = 'redriven'"))
                    .as("%s: each was redriven once in each round", moment)
                    .isEqualTo((long) rounds * KEYS);
        }
        assertThat(file.distinct()).isEqualTo(2 * KEYS);
    }

    @Test
    void aReplayEndsWhereTheLaneWasWhereverItsRelayDies() throws Exception {
        publish(Kind.GOOD, Kind.GOOD, Kind.GOOD);
        live();
        for (String moment : List.of("before", "after", "committed")) {
            int before = file.deliveries().size();
            database.postroom()
                    .subscriptions()
                    .replay(
                            new ReplayRequest(FaultMain.GOES_ON, Point.beginning(), null, null),
                            new Act("operator", "once more"),
                            FaultProcess.PATIENCE);
            List<Long> replayed = List.copyOf(published());
            publish(Kind.GOOD);
            die("kill " + moment + " end_replay.sql 1");
            live();
            List<Long> sent = file.deliveries().stream()
                    .skip(before)
                    .map(History.Delivery::position)
                    .toList();
            assertThat(sent)
                    .as("%s: what was replayed, and what is new", moment)
                    .containsAll(published());
            assertThat(sent.stream().filter(position -> !replayed.contains(position)))
                    .as("%s: what is new comes once", moment)
                    .doesNotHaveDuplicates();
        }
    }

    /** One transaction in several steps: the number, the lanes that go, those that stay or come, the deliveries. */
    @Test
    void aChangeOfLanesIsMadeOnceWhereverItsRelayDies() throws Exception {
        Act act = new Act("operator", "more or fewer");
        publish(Kind.GOOD);
        live();
        List<String> steps = List.of(
                "kill before change_count.sql 1",
                "kill after change_count.sql 1",
                "kill after close_lanes.sql 1",
                "kill after level_lanes.sql 1",
                "kill after move_deliveries.sql 1",
                "kill committed move_deliveries.sql 1");
        for (String step : steps) {
            lanes = lanes == LANES ? 5 : LANES + 1 + steps.indexOf(step) % 2;
            FaultProcess relay = start(step);
            relay.go().running();
            // Each fails once, so that there are deliveries to be moved.
            publish(Kind.GOOD, Kind.ONCE, Kind.GOOD);
            Deadline.await(
                    () -> step + ": it delivers: " + relay.child(),
                    FaultProcess.PATIENCE,
                    () -> file.countOf(relay.name()) > 0);
            database.postroom().subscriptions().changeLanes(FaultMain.GOES_ON, lanes, act);
            awaitDeath(relay, step);
            live();
            assertThat(count("lane")).as(step).isEqualTo(lanes);
            assertThat(count("subscription where lanes = " + lanes + " and lanes_wanted is null"))
                    .as(step)
                    .isEqualTo(1);
        }
        History history = traffic.history(false, file);
        assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
        assertThat(history.duplicates())
                .as("whoever changes the lanes has settled and given back its own")
                .isZero();
    }

    /** A relay that does all there is to do, and stops. */
    private void live() throws Exception {
        try (Relay relay = FaultMain.relay(settings(""), database.dataSource())) {
            relay.start();
            Deadline.await(
                    "all is done",
                    FaultProcess.PATIENCE,
                    () -> count("lane where replay_to is null and position = " + traffic.count()) == lanes
                            && count("delivery") == 0);
        }
    }

    private void die(String step) throws Exception {
        FaultProcess relay = start(step);
        relay.go();
        awaitDeath(relay, step);
    }

    private void awaitDeath(FaultProcess relay, String step) throws Exception {
        Deadline.await(
                () -> step + ": it dies: " + relay.child(),
                FaultProcess.PATIENCE,
                () -> !relay.child().isAlive());
        relay.assertDiedAtItsStep();
        FaultProcess.expireLeases(database);
    }

    private FaultProcess start(String step) {
        FaultProcess process = FaultProcess.start(settings(step));
        processes.add(process);
        return process;
    }

    private FaultSettings settings(String step) {
        return FaultSettings.on(database, directory)
                .with("name", step.isEmpty() ? "survivor" : "relay-" + processes.size())
                .with("subscriptions", FaultMain.GOES_ON)
                .with("lanes", LANES)
                .with("retry", "linear step=10ms cap=10ms jitter=0 attempts=3")
                .with("step", step);
    }

    private void publish(Kind... kinds) throws SQLException {
        Traffic.Batch batch = traffic.batch();
        for (int key = 0; key < KEYS; key++) {
            batch.add("key-" + key, kinds);
        }
        batch.publish();
    }

    private List<Long> published() throws SQLException {
        database.postroom().journal().stampAll();
        return Truth.stored(database.dataSource()).stream()
                .map(History.Stored::position)
                .toList();
    }

    private long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }
}
