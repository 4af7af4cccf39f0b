package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A relay that stands still in the middle of a transaction, with a lane's row locked. */
class FrozenRelayTest {
    private static final int LANES = 2;
    private static final Duration LEASE = Duration.ofMillis(1_500);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    static Stream<String> steps() {
        List<String> some = List.of("claim.sql", "record_lane.sql");
        List<String> all = List.of(
                "lock_lane.sql",
                "rescue.sql",
                "claim.sql",
                "accept.sql",
                "keep.sql",
                "bury.sql",
                "promote.sql",
                "record_lane.sql");
        return (Boolean.getBoolean("postroom.long") ? all : some).stream();
    }

    @ParameterizedTest
    @MethodSource("steps")
    void doesNotKeepOthersFromTakingItsLanes(String statement) throws Exception {
        String step = "freeze after " + statement + " 1";
        DeliveryFile goesOn = DeliveryFile.at(directory.resolve(FaultMain.GOES_ON));
        DeliveryFile holds = DeliveryFile.at(directory.resolve(FaultMain.HOLDS));
        try (TestDatabase database = TestDatabase.create();
                Conservation.Watch watchGoesOn =
                        new Conservation.Watch(database, FaultMain.GOES_ON, goesOn.path(), false);
                Conservation.Watch watchHolds =
                        new Conservation.Watch(database, FaultMain.HOLDS, holds.path(), false)) {
            FaultSettings settings =
                    FaultSettings.on(database, directory).with("lanes", LANES).with("lease", LEASE);
            Traffic traffic = new Traffic(database);
            publish(traffic);
            try (FaultProcess first =
                            FaultProcess.start(settings.with("name", "first").with("step", step));
                    FaultProcess second = FaultProcess.start(settings.with("name", "second"))) {
                first.go().child().awaitLine(CrashPoint.lineOf(step), PATIENCE);
                Deadline.await(
                        "it stands still, with a lane locked", PATIENCE, () -> locked(database) > 0 && isStill(first));
                second.go();
                Deadline.await(
                        () -> "the other relay has all lanes: " + second.child(),
                        PATIENCE,
                        () -> database.queryLong("select count(*) from postroom.lane l join postroom.relay r"
                                        + " on r.id = l.owner and r.name = 'second'")
                                == 2 * LANES);
                publish(traffic);
                awaitDelivered(database, traffic, goesOn, holds);
                long fences = fences(database);
                first.child().thaw();
                for (int lane = 0; lane < LANES; lane++) {
                    first.child().awaitLine("lane " + lane + " of subscription " + FaultMain.GOES_ON, PATIENCE);
                }
                first.child().awaitLine("is stale, another relay took the lane", PATIENCE);
                publish(traffic);
                awaitDelivered(database, traffic, goesOn, holds);
                assertThat(fences(database)).isGreaterThanOrEqualTo(fences);
                first.stop();
                second.stop();
            }
            watchGoesOn.stop();
            watchHolds.stop();
            assertThat(watchGoesOn.wrong()).isEmpty();
            assertThat(watchHolds.wrong()).isEmpty();
            assertThat(traffic.history(false, goesOn).violations(Truth.stored(database.dataSource())))
                    .isEmpty();
            assertThat(traffic.history(true, holds).violations(Truth.stored(database.dataSource())))
                    .isEmpty();
            assertThat(Traffic.letters(database, FaultMain.GOES_ON).values()).containsOnly(1);
        }
    }

    private static void publish(Traffic traffic) throws Exception {
        Traffic.Batch batch = traffic.batch();
        for (int key = 0; key < 6; key++) {
            batch.add("good-" + key, Kind.GOOD, Kind.GOOD, Kind.ONCE, Kind.GOOD);
        }
        batch.add("rejected-" + traffic.count(), Kind.GOOD, Kind.REJECTED, Kind.GOOD)
                .publish();
    }

    private static void awaitDelivered(
            TestDatabase database, Traffic traffic, DeliveryFile goesOn, DeliveryFile holds) {
        Deadline.await(
                () -> "all is delivered, " + database.queryLong("select count(*) from postroom.delivery") + " are left",
                PATIENCE,
                () -> goesOn.distinct()
                                == traffic.count() - traffic.withheld(false).size()
                        && holds.distinct()
                                == traffic.count() - traffic.withheld(true).size()
                        && database.queryLong(
                                        "select count(*) from postroom.delivery where state not in ('held', 'parked')")
                                == 0);
    }

    private static long locked(TestDatabase database) {
        return 2 * LANES
                - database.queryLong(
                        "with free as (select from postroom.lane for update skip locked) select count(*) from free");
    }

    /** Nothing of it runs on the server, and its transaction is open. */
    private static boolean isStill(FaultProcess process) throws Exception {
        Process ps = new ProcessBuilder(
                        "ps",
                        "-o",
                        "state=",
                        "-p",
                        Long.toString(process.child().pid()))
                .start();
        return new String(ps.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII)
                .startsWith("T");
    }

    private static long fences(TestDatabase database) {
        return database.queryLong("select sum(fence) from postroom.lane");
    }
}
