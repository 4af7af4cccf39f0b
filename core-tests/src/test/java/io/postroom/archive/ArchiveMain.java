package io.postroom.archive;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;

/**
 * Archives in a process of its own, which is killed. Arguments: URL, after or committed, and at which step; or drop, and at which drop.
 */
final class ArchiveMain {
    private ArchiveMain() {}

    public static void main(String[] arguments) {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            boolean drops = arguments[1].startsWith("drop");
            String statement = Schema.POSTROOM
                    .sql(ArchiveTable.class, drops ? "drop.sql" : "step.sql")
                    .text();
            CrashPoint point = CrashPoint.kill("archive", Integer.parseInt(arguments[2]));
            if (arguments[1].endsWith("after")) {
                database.after(statement::equals, point);
            } else {
                database.committed(statement::equals, point);
            }
            Archive archive = Postroom.on(database).archive();
            if (drops) {
                archive.droppable(Duration.ofDays(7)).forEach(archive::drop);
            } else {
                archive.run(Duration.ofDays(7));
            }
        }
    }
}
