package io.postroom.source.kafka;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.source.ServedBy;
import io.postroom.subscription.Act;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;

/** Moves a subscription in a process of its own that dies at a step. Arguments: URL, brokers, topic, target, step. */
final class MoveMain {
    private MoveMain() {}

    public static void main(String[] arguments) {
        String own = arguments[2];
        String step = arguments[4];
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 4)) {
            CrashingDataSource database = at(step, new CrashingDataSource(pool), CrashPoint.kill(step));
            KafkaMove.builder(Postroom.on(database))
                    .bootstrapServers(arguments[1])
                    .topics(List.of(own))
                    .group(own)
                    .feed("feed")
                    .hold(Duration.ofSeconds(1))
                    .build()
                    .run(
                            "books",
                            ServedBy.valueOf(arguments[3]),
                            new Act("child", "to be killed"),
                            Duration.ofSeconds(120),
                            System.out::println);
        }
    }

    /** Lets a move reach the point at a step. */
    static CrashingDataSource at(String step, CrashingDataSource database, CrashPoint point) {
        switch (step) {
            case "noted" ->
                database.committed(sql -> sql.startsWith("insert into \"postroom\".subscription_move"), point);
            case "waiting" -> database.committed(sql -> sql.contains("as redriven"), point);
            case "announced" -> database.committed(sql -> sql.contains("set switching_until"), point);
            case "ending" -> database.after(sql -> sql.contains("outcome = ?"), point);
            case "switched" -> database.committed(sql -> sql.contains("set served_by"), point);
            default -> throw new IllegalArgumentException(step);
        }
        return database;
    }
}
