package io.postroom.source.kafka;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.relay.Projection;
import io.postroom.testkit.TestDatabase;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A source in a process of its own, to be killed or frozen. When it has applied so many messages it says so and stands still in the
 * middle of its transactions, as long as somebody has the advisory lock. Ends with its standard input. Arguments: URL, brokers, topic and
 * group, messages.
 */
final class SourceMain {
    /** Whoever has it keeps such processes standing still. */
    static final long LOCK = 4711;

    private SourceMain() {}

    public static void main(String[] arguments) throws Exception {
        int limit = Integer.parseInt(arguments[3]);
        AtomicInteger applied = new AtomicInteger();
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 8)) {
            Projection standing = (tx, batch) -> {
                new Books().apply(tx, batch);
                if (applied.addAndGet(batch.size()) > limit) {
                    System.out.println("standing");
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("select pg_advisory_xact_lock_shared(" + LOCK + ")");
                    }
                }
            };
            try (KafkaSource source = KafkaSource.builder(Postroom.on(pool))
                    .bootstrapServers(arguments[1])
                    .topics(arguments[2])
                    .group(arguments[2])
                    .consumer("books")
                    .node("child")
                    .batchMax(15)
                    .property("session.timeout.ms", "3000")
                    .property("heartbeat.interval.ms", "500")
                    .property("max.poll.records", "60")
                    .build(standing)) {
                source.start();
                System.out.println("started");
                while (System.in.read() >= 0) {
                    // Until the test is over.
                }
            }
        }
    }
}
