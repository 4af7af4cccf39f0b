package io.postroom.deadletter;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.testkit.TestDatabase;
import java.util.UUID;

/** Runs a redrive in a process of its own and says how far it is. Arguments: URL, id of the redrive. */
final class RedriveMain {
    private RedriveMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2)) {
            Postroom.on(pool)
                    .deadLetters()
                    .redrives()
                    .run(UUID.fromString(arguments[1]), now -> System.out.println("done " + now.done()));
        }
    }
}
