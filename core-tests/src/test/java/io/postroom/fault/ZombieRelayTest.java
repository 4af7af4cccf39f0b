package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A relay that stands still past its lease, in the middle of a delivery, and goes on as if nothing had happened. */
class ZombieRelayTest {
    private static final int LANES = 4;
    private static final Duration LEASE = Duration.ofMillis(1_500);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    /** A lane as the database has it. */
    private record LaneRow(
            long position, long fence, @Nullable UUID owner) {}

    @Test
    void settlesNothingAfterItsLaneWasTakenAndSaysSo() throws Exception {
        History history = new History();
        DeliveryFile file = DeliveryFile.in(directory);
        try (TestDatabase database = TestDatabase.create();
                RelayProcess first = start(database, "first", file);
                RelayProcess second = start(database, "second", file)) {
            Deadline.await(
                    "both relays have half of the lanes",
                    PATIENCE,
                    () -> first.lanes(database).size() == 2
                            && second.lanes(database).size() == 2);
            publish(database, history, 1, 20, "Counted");
            // Each key has one message that is held while it is delivered, and more behind it.
            publish(database, history, 21, 21, RelayMain.TRAP);
            publish(database, history, 22, 30, "Counted");
            first.child().awaitLine("trapped at", PATIENCE);
            first.child().freeze();
            Map<Integer, LaneRow> before = lanes(database);
            List<Integer> frozen = first.lanes(database);
            assertThat(frozen).as("lanes of the frozen relay").hasSize(2);

            Deadline.await(
                    "the other relay has all lanes",
                    PATIENCE,
                    () -> second.lanes(database).size() == LANES);
            Deadline.await(
                    () -> "everything is delivered and settled: " + lanesOrNull(database),
                    PATIENCE,
                    () -> file.distinct() == history.acknowledgedCount() && isSettled(database));
            Map<Integer, LaneRow> taken = lanes(database);
            for (int lane : frozen) {
                assertThat(taken.get(lane).fence())
                        .isGreaterThan(before.get(lane).fence());
                assertThat(second.child().lines()).contains("telemetry: lane " + lane + " taken over");
            }
            long deliveredByZombie = file.countOf("first");

            first.child().thaw();
            first.child().awaitLine("telemetry: stale settle of lane", PATIENCE);
            first.child().awaitLine("is stale, another relay took the lane", PATIENCE);
            for (int lane : frozen) {
                first.child().awaitLine("telemetry: lane " + lane + " lost", PATIENCE);
            }
            assertThat(file.countOf("first"))
                    .as("it was in the middle of a delivery, which it finished too late")
                    .isGreaterThan(deliveredByZombie);
            lanes(database)
                    .forEach((lane, row) -> assertThat(row.position())
                            .as("position of lane %s", lane)
                            .isEqualTo(taken.get(lane).position()));

            publish(database, history, 31, 40, "Counted");
            Deadline.await("the rest is delivered", PATIENCE, () -> file.distinct() == history.acknowledgedCount());
            Deadline.await(
                    "the zombie, alive again, has its share",
                    PATIENCE,
                    () -> first.lanes(database).size() == 2);
            first.stop();
            second.stop();
            file.deliveries().forEach(history::delivered);
            assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
            assertThat(history.duplicates())
                    .as("what was on its way when it froze")
                    .isPositive();
        }
    }

    @Test
    void losesEveryLaneItHadAndSaysSoForEach() throws Exception {
        History history = new History();
        DeliveryFile file = DeliveryFile.in(directory);
        try (TestDatabase database = TestDatabase.create();
                RelayProcess first = start(database, "first", file)) {
            Deadline.await(
                    "it has all lanes", PATIENCE, () -> first.lanes(database).size() == LANES);
            first.child().freeze();
            try (RelayProcess second = start(database, "second", file)) {
                Deadline.await(
                        "the other relay has all lanes",
                        PATIENCE,
                        () -> second.lanes(database).size() == LANES);
                publish(database, history, 1, 5, "Counted");
                Deadline.await(
                        "everything is delivered", PATIENCE, () -> file.distinct() == history.acknowledgedCount());
                first.child().thaw();
                for (int lane = 0; lane < LANES; lane++) {
                    String lost = "lane " + lane + " of subscription all";
                    first.child()
                            .awaitLine(
                                    line -> line.contains(lost) && line.contains("fence 1 is stale"),
                                    lost + " and the stale fence",
                                    PATIENCE);
                    first.child().awaitLine("telemetry: lane " + lane + " lost", PATIENCE);
                }
                second.stop();
            }
            file.deliveries().forEach(history::delivered);
            assertThat(history.violations(Truth.stored(database.dataSource()))).isEmpty();
            assertThat(history.duplicates()).as("it was idle when it froze").isZero();
        }
    }

    @Test
    void movesNoPositionOfALaneWhoseNewOwnerHasNotMovedItYet() throws Exception {
        History history = new History();
        DeliveryFile file = DeliveryFile.in(directory);
        try (TestDatabase database = TestDatabase.create();
                RelayProcess zombie = start(database, "zombie", file)) {
            publish(database, history, 1, 20, "Counted");
            publish(database, history, 21, 21, RelayMain.TRAP);
            zombie.child().awaitLine("trapped at", PATIENCE);
            zombie.child().freeze();
            // A relay that takes all lanes and then does nothing for an hour.
            database.execute("update postroom.lane set owner = gen_random_uuid(), fence = fence + 1,"
                    + " leased_until = clock_timestamp() + interval '1 hour'");
            Map<Integer, LaneRow> taken = lanes(database);
            assertThat(zombie.unsettled(database, taken.keySet()))
                    .as("messages it delivered before it froze and would settle now")
                    .isPositive();
            zombie.child().thaw();
            zombie.child().awaitLine("telemetry: stale settle of lane", PATIENCE);
            for (int lane = 0; lane < LANES; lane++) {
                zombie.child().awaitLine("telemetry: lane " + lane + " lost", PATIENCE);
            }
            assertThat(lanes(database)).isEqualTo(taken);
        }
    }

    private static RelayProcess start(TestDatabase database, String name, DeliveryFile file)
            throws InterruptedException {
        return RelayProcess.start(database, name, file, LANES, LEASE, Duration.ZERO);
    }

    /** Some versions of each of eight keys. */
    private static void publish(TestDatabase database, History history, int from, int to, String eventType)
            throws SQLException {
        try (Connection tx = database.begin()) {
            List<UUID> ids = new ArrayList<>();
            for (int version = from; version <= to; version++) {
                for (int key = 0; key < 8; key++) {
                    Message message = Message.about("account", "account-" + key)
                            .event(eventType)
                            .aggregateVersion(version)
                            .payload("{}")
                            .build();
                    ids.add(database.postroom().outbox().publish(tx, message));
                }
            }
            tx.commit();
            history.acknowledged(ids);
        }
    }

    private static boolean isSettled(TestDatabase database) {
        return database.queryLong("select count(*) from postroom.lane where position <"
                        + " (select max(position) from postroom.journal)")
                == 0;
    }

    private static String lanesOrNull(TestDatabase database) {
        try {
            return lanes(database).toString();
        } catch (SQLException e) {
            return e.toString();
        }
    }

    private static Map<Integer, LaneRow> lanes(TestDatabase database) throws SQLException {
        Map<Integer, LaneRow> lanes = new TreeMap<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select lane, position, fence, owner from postroom.lane")) {
            while (row.next()) {
                lanes.put(row.getInt(1), new LaneRow(row.getLong(2), row.getLong(3), row.getObject(4, UUID.class)));
            }
        }
        return lanes;
    }
}
