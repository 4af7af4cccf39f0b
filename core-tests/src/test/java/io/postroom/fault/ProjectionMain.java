package io.postroom.fault;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/**
 * A relay with a projection in a process of its own, which a test kills. The projection writes each message into the table
 * {@code ledger} and adds it to its key's balance; now and then it fails after it wrote.
 *
 * <p>Arguments: URL, relay name, lanes, lease in milliseconds, the step at which to die or an empty text. Ends cleanly when told {@code stop}, and at once when its standard
 * input ends.
 */
final class ProjectionMain {
    private static final int BATCH = 50;
    private static final double FAILING = 0.05;

    /** PostgreSQL ends a transaction that does nothing for half as long again: its locks are in the way of others until then. */
    private static final Duration DEADLINE = Duration.ofSeconds(4);

    private ProjectionMain() {}

    public static void main(String[] arguments) throws IOException {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 10)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            FaultMain.Step.parse(arguments[4]).arm(database);
            Relay relay = Postroom.on(database)
                    .relay()
                    .name(arguments[1])
                    .lease(Duration.ofMillis(Long.parseLong(arguments[3])))
                    .batch(BATCH, 1_048_576)
                    .project(
                            Subscription.named("ledger")
                                    .lanes(Integer.parseInt(arguments[2]))
                                    .deadline(DEADLINE)
                                    .retry(RetryPolicy.builder()
                                            .linear(Duration.ofMillis(10))
                                            .attemptsMax(100)
                                            .build())
                                    .build(),
                            ProjectionMain::apply)
                    .build();
            relay.start();
            System.out.println("started " + relay.id());
            if (new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine() == null) {
                Runtime.getRuntime().halt(1);
            }
            relay.close();
            System.out.println("stopped");
        }
    }

    private static final ThreadLocal<Random> RANDOM = ThreadLocal.withInitial(Random::new);

    static void apply(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement entry =
                        tx.prepareStatement("insert into ledger (id, key, version, position) values (?, ?, ?, ?)");
                PreparedStatement balance = tx.prepareStatement("insert into balance (key, messages) values (?, 1)"
                        + " on conflict (key) do update set messages = balance.messages + 1")) {
            for (Envelope envelope : batch) {
                entry.setObject(1, envelope.message().id());
                entry.setString(2, envelope.message().aggregateId());
                entry.setObject(3, envelope.message().aggregateVersion());
                entry.setLong(4, envelope.position());
                entry.addBatch();
                balance.setString(1, envelope.message().aggregateId());
                balance.addBatch();
            }
            entry.executeBatch();
            balance.executeBatch();
        }
        if (RANDOM.get().nextDouble() < FAILING) {
            throw new IllegalStateException("now and then it fails");
        }
    }
}
