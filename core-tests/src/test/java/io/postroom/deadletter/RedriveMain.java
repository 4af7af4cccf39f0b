package io.postroom.deadletter;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.delivery.DeliveryRedriver;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.util.UUID;

/**
 * Runs a redrive in a process of its own and says how far it is. Arguments: URL, id of the redrive, and perhaps the statement after
 * which it freezes.
 */
final class RedriveMain {
    private RedriveMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            if (arguments.length > 2) {
                String statement = Schema.POSTROOM
                        .sql(DeliveryRedriver.class, arguments[2])
                        .text();
                database.after(statement::equals, CrashPoint.freeze(arguments[2], 1));
            }
            Postroom.on(database)
                    .deadLetters()
                    .redrives()
                    .run(UUID.fromString(arguments[1]), now -> System.out.println("done " + now.done()));
        }
    }
}
