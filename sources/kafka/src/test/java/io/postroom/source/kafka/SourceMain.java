package io.postroom.source.kafka;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.relay.Projection;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;

/** A source in a process of its own, to be killed. Ends with its standard input. Arguments: URL, brokers, topic. */
final class SourceMain {
    private SourceMain() {}

    public static void main(String[] arguments) throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 6)) {
            Projection slow = (tx, batch) -> {
                new Books().apply(tx, batch);
                tx.createStatement().execute("select pg_sleep(0.01)");
            };
            try (KafkaSource source = KafkaSource.builder(Postroom.on(pool))
                    .bootstrapServers(arguments[1])
                    .topics(arguments[2])
                    .consumer("books")
                    .node("child")
                    .batchMax(15)
                    .deadline(Duration.ofSeconds(5))
                    .property("session.timeout.ms", "6000")
                    .property("heartbeat.interval.ms", "500")
                    .property("max.poll.records", "60")
                    .build(slow)) {
                source.start();
                System.out.println("started");
                while (System.in.read() >= 0) {
                    // Until the test is over.
                }
            }
        }
    }
}
