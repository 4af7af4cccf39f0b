package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages that throw, hang, exhaust memory or end the process, among others that do not; a supervisor starts it again. */
class PoisonTest {
    private static final int ATTEMPTS = 3;
    private static final int GOOD_KEYS = 24;
    private static final int DEATHS_MAX = 20;
    private static final Duration PATIENCE = FaultProcess.PATIENCE;
    /** What a JVM ends with when it runs out of memory and is told to end then. */
    private static final int OUT_OF_MEMORY = 3;

    @TempDir
    Path directory;

    /** On the lanes' own threads, where the poison takes the lane with it, and on others, where it takes all that is in flight. */
    @ParameterizedTest
    @MethodSource("io.postroom.fault.FaultSettings#threadsToTry")
    void isBuriedAfterItsAttemptsAndNeverANeighbour(int threads) throws Exception {
        DeliveryFile file = DeliveryFile.at(directory.resolve(FaultMain.GOES_ON));
        try (TestDatabase database = TestDatabase.create();
                Conservation.Watch watch = new Conservation.Watch(database, FaultMain.GOES_ON, file.path(), false)) {
            Traffic traffic = new Traffic(database);
            Traffic.Batch batch = traffic.batch();
            for (int key = 0; key < GOOD_KEYS; key++) {
                batch.add("good-" + key, Kind.GOOD, Kind.GOOD, Kind.GOOD, Kind.GOOD);
            }
            batch.add("halt", Kind.GOOD, Kind.HALT, Kind.GOOD)
                    .add("exhaust", Kind.GOOD, Kind.GOOD, Kind.EXHAUST, Kind.GOOD)
                    .add("hang", Kind.GOOD, Kind.HANG, Kind.GOOD)
                    .add("never", Kind.GOOD, Kind.NEVER, Kind.GOOD)
                    .publish();
            FaultSettings settings = FaultSettings.on(database, directory)
                    .with("subscriptions", FaultMain.GOES_ON)
                    .with("retry", "linear step=10ms cap=10ms jitter=0 attempts=" + ATTEMPTS)
                    .with("deadline", Duration.ofMillis(500))
                    .with("work", Duration.ofMillis(3))
                    .with("threads", threads);
            Map<Integer, Integer> deaths = new TreeMap<>();
            long neighboursMost = 0;
            FaultProcess next = start(settings, 0);
            while (true) {
                int number =
                        deaths.values().stream().mapToInt(Integer::intValue).sum();
                assertThat(number).as("deaths by exit code: %s", deaths).isLessThan(DEATHS_MAX);
                try (FaultProcess relay = next) {
                    next = start(settings, number + 1);
                    relay.go();
                    Deadline.await(
                            () -> "it ends, or all is done: " + states(database) + relay.child(),
                            PATIENCE,
                            () -> !relay.child().isAlive()
                                    || !innocent(database).isEmpty()
                                    || isDone(database, traffic, file));
                    if (relay.child().isAlive()) {
                        assertThat(innocent(database))
                                .as("innocent messages that were buried")
                                .isEmpty();
                        relay.stop();
                        break;
                    }
                    assertThat(innocent(database))
                            .as("innocent messages that were buried")
                            .isEmpty();
                    deaths.merge(relay.child().awaitExit(PATIENCE), 1, Integer::sum);
                    neighboursMost = Math.max(neighboursMost, neighbours(database));
                    // More comes in while the process is down.
                    Traffic.Batch more = traffic.batch();
                    for (int key = 0; key < GOOD_KEYS; key++) {
                        more.add("good-" + key, Kind.GOOD);
                    }
                    more.publish();
                    FaultProcess.expireLeases(database);
                }
            }
            next.close();
            watch.stop();

            assertThat(deaths).containsOnlyKeys(1, OUT_OF_MEMORY);
            assertThat(deaths.values()).as("deaths by exit code: %s", deaths).allMatch(each -> each >= 1);
            assertThat(neighboursMost)
                    .as("innocent messages on their way at a death")
                    .isGreaterThan(1);
            assertThat(watch.wrong()).isEmpty();
            assertThat(traffic.history(false, file).violations(Truth.stored(database.dataSource())))
                    .isEmpty();
            assertThat(Traffic.letters(database, FaultMain.GOES_ON))
                    .as("who was buried")
                    .containsOnlyKeys(traffic.dead(false).toArray(UUID[]::new));
            assertThat(database.queryLong("select count(*) from postroom.dead_letter where attempts = " + ATTEMPTS))
                    .isEqualTo(4);
            assertThat(causes(database))
                    .containsEntry("HALT", "crashed crash")
                    .containsEntry("EXHAUST", "crashed crash");
        }
    }

    /** As in an application that has a relay inside and does not end when memory runs out. */
    @ParameterizedTest
    @MethodSource("io.postroom.fault.FaultSettings#threadsToTry")
    void thatExhaustsMemoryIsBuriedByAProcessThatLivesOn(int threads) throws Exception {
        DeliveryFile file = DeliveryFile.at(directory.resolve(FaultMain.GOES_ON));
        try (TestDatabase database = TestDatabase.create()) {
            Traffic traffic = new Traffic(database);
            Traffic.Batch batch = traffic.batch();
            for (int key = 0; key < GOOD_KEYS; key++) {
                batch.add("good-" + key, Kind.GOOD, Kind.GOOD, Kind.GOOD, Kind.GOOD);
            }
            batch.add("exhaust", Kind.GOOD, Kind.EXHAUST, Kind.GOOD).publish();
            FaultSettings settings = FaultSettings.on(database, directory)
                    .with("subscriptions", FaultMain.GOES_ON)
                    .with("retry", "linear step=10ms cap=10ms jitter=0 attempts=" + ATTEMPTS)
                    .with("work", Duration.ofMillis(3))
                    .with("threads", threads)
                    .with("name", "relay");
            try (FaultProcess relay = FaultProcess.start(settings, "-Xmx64m")) {
                relay.go();
                Deadline.await(
                        () -> "all is done: " + states(database) + relay.child(),
                        PATIENCE,
                        () -> isDone(database, traffic, file));
                traffic.batch().add("good-0", Kind.GOOD).publish();
                Deadline.await(
                        () -> "it works on: " + states(database) + relay.child(),
                        PATIENCE,
                        () -> isDone(database, traffic, file));
                assertThat(relay.child().isAlive()).isTrue();
                relay.stop();
            }
            assertThat(traffic.history(false, file).violations(Truth.stored(database.dataSource())))
                    .isEmpty();
            assertThat(causes(database)).containsOnlyKeys("EXHAUST");
        }
    }

    private static FaultProcess start(FaultSettings settings, int number) {
        return FaultProcess.start(settings.with("name", "relay-" + number), "-Xmx64m", "-XX:+ExitOnOutOfMemoryError");
    }

    private static boolean isDone(TestDatabase database, Traffic traffic, DeliveryFile file) throws Exception {
        return file.distinct() == traffic.count() - traffic.dead(false).size()
                && database.queryLong("select count(*) from postroom.dead_letter")
                        == traffic.dead(false).size()
                && database.queryLong("select count(*) from postroom.delivery") == 0;
    }

    /** Innocent messages that were being sent when the process died. */
    private static long neighbours(TestDatabase database) {
        return database.queryLong("select count(*) from postroom.delivery d join postroom.outbox o on o.seq = d.seq"
                + " and o.day = d.outbox_day where d.state = 'sending' and o.event_type = 'GOOD'");
    }

    private static String states(TestDatabase database) {
        return database.queryLong("select count(*) from postroom.delivery") + " deliveries, "
                + database.queryLong("select count(*) from postroom.dead_letter") + " dead letters, ";
    }

    private static List<String> innocent(TestDatabase database) throws SQLException {
        List<String> buried = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("select aggregate_id || ' version ' || aggregate_version || ' ' || cause"
                                + " || ', ' || history from postroom.dead_letter where event_type = 'GOOD'")) {
            while (row.next()) {
                buried.add(row.getString(1));
            }
        }
        return buried;
    }

    private static Map<String, String> causes(TestDatabase database) throws SQLException {
        Map<String, String> causes = new TreeMap<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select event_type, cause || ' ' || error_class from postroom.dead_letter")) {
            while (row.next()) {
                causes.put(row.getString(1), row.getString(2));
            }
        }
        return causes;
    }
}
