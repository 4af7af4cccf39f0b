package io.postroom.fault;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.projection.Freshness;
import io.postroom.projection.ReadModel;
import io.postroom.relay.Relay;
import io.postroom.retry.RetryPolicy;
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
 * A relay that serves the read model {@code accounts} in a process of its own, which a test kills. Now and then its projection fails
 * after it wrote.
 *
 * <p>Arguments: URL, relay name, lease in milliseconds. Ends cleanly when told {@code stop}, and at once when its standard input ends.
 */
final class ReadModelMain {
    static final String NAME = "accounts";
    static final int LANES = 3;

    private static final double FAILING = 0.03;
    private static final ThreadLocal<Random> RANDOM = ThreadLocal.withInitial(Random::new);

    private ReadModelMain() {}

    public static void main(String[] arguments) throws IOException {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 14)) {
            Postroom postroom = Postroom.on(pool);
            Relay relay = postroom.relay()
                    .name(arguments[1])
                    .lease(Duration.ofMillis(Long.parseLong(arguments[2])))
                    .batch(40, 1_048_576)
                    .serve(postroom.readModels().roster(model()))
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

    private static ReadModel model() {
        return ReadModel.named(NAME)
                .tables("""
                        create table entry (n bigint generated always as identity, id uuid primary key, key text, version bigint,
                                            position bigint);
                        create table balance (key text primary key, messages bigint, last_version bigint, changes bigint default 0);
                        create view whole as select (select coalesce(sum(messages), 0) from balance) as messages,
                                                    (select count(*) from entry) as entries;
                        """)
                .projection(ReadModelMain::apply)
                .freshness(Freshness.SECONDS)
                .ignore("entry.n", "balance.changes")
                .messages(messages -> messages.aggregateTypes("account")
                        .lanes(LANES)
                        .retry(RetryPolicy.builder()
                                .linear(Duration.ofMillis(10))
                                .attemptsMax(100)
                                .build()))
                .build();
    }

    private static void apply(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement entry =
                        tx.prepareStatement("insert into entry (id, key, version, position) values (?, ?, ?, ?)");
                PreparedStatement balance = tx.prepareStatement(
                        "insert into balance (key, messages, last_version) values (?, 1, ?) on conflict (key) do update"
                                + " set messages = balance.messages + 1, last_version = excluded.last_version,"
                                + " changes = balance.changes + 1")) {
            for (Envelope envelope : batch) {
                entry.setObject(1, envelope.message().id());
                entry.setString(2, envelope.message().aggregateId());
                entry.setObject(3, envelope.message().aggregateVersion());
                entry.setLong(4, envelope.position());
                entry.addBatch();
                balance.setString(1, envelope.message().aggregateId());
                balance.setObject(2, envelope.message().aggregateVersion());
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
