package io.postroom.fault;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** A {@link RelayMain} as a test sees it. */
final class RelayProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final ChildJvm child;
    private final String name;
    private final UUID id;
    private final DeliveryFile file;

    private RelayProcess(ChildJvm child, String name, UUID id, DeliveryFile file) {
        this.child = child;
        this.name = name;
        this.id = id;
        this.file = file;
    }

    /** Starts a relay of the subscription {@code all} and waits until it runs. */
    static RelayProcess start(
            TestDatabase database, String name, DeliveryFile file, int lanes, Duration lease, Duration perMessage)
            throws InterruptedException {
        return begin(database, name, file, lanes, lease, perMessage).running();
    }

    /** A process that may not be ready yet. */
    interface Starting {
        RelayProcess running() throws InterruptedException;
    }

    static Starting begin(
            TestDatabase database, String name, DeliveryFile file, int lanes, Duration lease, Duration perMessage) {
        ChildJvm child = ChildJvm.start(
                RelayMain.class,
                List.of("-Xmx96m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=info"),
                database.url(),
                name,
                file.path().toString(),
                Integer.toString(lanes),
                Long.toString(lease.toMillis()),
                Long.toString(perMessage.toNanos() / 1_000));
        return () -> {
            String line = child.awaitLine(text -> text.startsWith("started "), "its start", PATIENCE);
            return new RelayProcess(child, name, UUID.fromString(line.substring("started ".length())), file);
        };
    }

    String name() {
        return name;
    }

    ChildJvm child() {
        return child;
    }

    UUID id() {
        return id;
    }

    /** Which lanes it has at this moment. */
    List<Integer> lanes(TestDatabase database) throws SQLException {
        List<Integer> lanes = new ArrayList<>();
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("select lane from postroom.lane where owner = ? order by lane")) {
            statement.setObject(1, id);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    lanes.add(row.getInt(1));
                }
            }
        }
        return lanes;
    }

    /** How many messages it delivered and did not settle. To be asked when it is dead and nobody has taken its lanes yet. */
    long unsettled(TestDatabase database) throws SQLException, IOException {
        return unsettled(database, lanes(database));
    }

    /** How many messages it delivered beyond the settled positions of some lanes, or while they were noted as being sent. */
    long unsettled(TestDatabase database, Collection<Integer> lanes) throws SQLException, IOException {
        Set<Long> delivered = new HashSet<>();
        for (History.Delivery one : file.deliveries()) {
            if (one.relay().equals(name)) {
                delivered.add(one.position());
            }
        }
        long count = 0;
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "select j.position from postroom.lane l join postroom.subscription s on s.name = l.subscription"
                                + " join postroom.journal j on j.key_hash % s.lanes = l.lane and j.position > l.position"
                                + " where l.lane = any (?)"
                                + " union select position from postroom.delivery where state = 'sending' and lane = any (?)")) {
            statement.setArray(1, connection.createArrayOf("int4", lanes.toArray()));
            statement.setArray(2, connection.createArrayOf("int4", lanes.toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    if (delivered.contains(row.getLong(1))) {
                        count++;
                    }
                }
            }
        }
        return count;
    }

    void stop() throws InterruptedException {
        child.say("stop");
        child.awaitLine("stopped", PATIENCE);
        child.awaitExit(PATIENCE);
    }

    @Override
    public void close() {
        child.close();
    }
}
