package io.postroom.fault;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.CrashPoint;
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
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * A relay with a projection in a process of its own, which a test kills. The projection writes each message into the table
 * {@code ledger} and adds it to its key's balance; now and then it fails after it wrote.
 *
 * <p>Arguments: URL, relay name, lanes, lease in milliseconds, the consumer whose inbox the projection is behind or an empty text, and the
 * steps at which something happens: a thread stands still for good ({@code hold}) or until the process is told {@code go} ({@code wait}).
 * Begins when it is told {@code begin}, ends cleanly when told {@code stop}, and at once when its standard input ends.
 */
final class ProjectionMain {
    private static final int BATCH = 50;
    private static final double FAILING = 0.05;

    /** PostgreSQL ends a transaction that does nothing for half as long again: its locks are in the way of others until then. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** For one that stands still in order to be killed. */
    private static final Duration HELD_DEADLINE = Duration.ofMinutes(2);

    private static final CountDownLatch GO = new CountDownLatch(1);

    private ProjectionMain() {}

    public static void main(String[] arguments) throws IOException {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 16)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            List<FaultMain.Step> steps =
                    Stream.of(arguments).skip(5).map(FaultMain.Step::parse).toList();
            steps.forEach(step -> arm(step, database));
            boolean held = steps.stream().anyMatch(step -> step.act().equals("hold"));
            Postroom postroom = Postroom.on(database);
            Projection ledger = ProjectionMain::apply;
            Relay relay = postroom.relay()
                    .name(arguments[1])
                    .lease(Duration.ofMillis(Long.parseLong(arguments[3])))
                    .batch(BATCH, 1_048_576)
                    .project(
                            Subscription.named("ledger")
                                    .lanes(Integer.parseInt(arguments[2]))
                                    .deadline(held ? HELD_DEADLINE : DEADLINE)
                                    .retry(RetryPolicy.builder()
                                            .linear(Duration.ofMillis(10))
                                            .attemptsMax(100)
                                            .build())
                                    .build(),
                            arguments[4].isEmpty() ? ledger : ledger.behind(postroom.inbox(), arguments[4]))
                    .build();
            BufferedReader told = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            told.readLine();
            relay.start();
            System.out.println("started " + relay.id());
            awaitStop(told);
            relay.close();
            System.out.println("stopped");
        }
    }

    private static void arm(FaultMain.Step step, CrashingDataSource database) {
        if (step.act().equals("wait")) {
            step.arm(database, CrashPoint.act(step.text(), step.time(), () -> {
                System.out.println(CrashPoint.lineOf(step.text()));
                awaitGo();
            }));
        } else {
            step.arm(database);
        }
    }

    /** Deaf to interrupts, as a process is that was frozen. */
    private static void awaitGo() {
        while (true) {
            try {
                GO.await();
                return;
            } catch (InterruptedException e) {
                // Not yet.
            }
        }
    }

    private static void awaitStop(BufferedReader told) throws IOException {
        for (String word = told.readLine(); !"stop".equals(word); word = told.readLine()) {
            if (word == null) {
                Runtime.getRuntime().halt(1);
            }
            GO.countDown();
        }
    }

    private static final ThreadLocal<Random> RANDOM = ThreadLocal.withInitial(Random::new);

    static void apply(Connection tx, List<Envelope> batch) throws SQLException {
        write(tx, batch);
        if (RANDOM.get().nextDouble() < FAILING) {
            throw new IllegalStateException("now and then it fails");
        }
    }

    static void write(Connection tx, List<Envelope> batch) throws SQLException {
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
    }
}
