package io.postroom.projection;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.function.Predicate;

/**
 * One act on the read model of the tests in a process of its own, which dies at a statement. Arguments: URL, act, the moment (before,
 * after, committed) and the statement's file.
 */
final class ActMain {
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private ActMain() {}

    public static void main(String[] arguments) {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 4)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            Class<?> owner = arguments[3].equals("ask.sql") ? GenerationTable.class : ReadModelTable.class;
            Predicate<String> which = Schema.POSTROOM.sql(owner, arguments[3]).text()::equals;
            CrashPoint point = CrashPoint.kill(arguments[3], 1);
            switch (arguments[2]) {
                case "before" -> database.before(which, point);
                case "after" -> database.after(which, point);
                default -> database.committed(which, point);
            }
            act(Postroom.on(database).readModels(), arguments[1]);
            System.out.println("done");
        }
    }

    static void act(ReadModels models, String act) {
        Act by = new Act("operator", "that dies");
        switch (act) {
            case "rebuild" -> models.rebuild("sales", Point.beginning(), by);
            case "swap" -> models.swap("sales", 2, true, by);
            case "rollback" -> models.rollback("sales", true, by);
            case "retire" -> models.retire("sales", 2, by, PATIENCE);
            default -> models.compare("sales", 2, 5, PATIENCE);
        }
    }
}
