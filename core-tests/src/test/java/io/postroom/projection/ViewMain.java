package io.postroom.projection;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.testkit.TestDatabase;

/** Refreshes the materialized views that are due in a process of its own. Argument: URL. */
final class ViewMain {
    private ViewMain() {}

    public static void main(String[] arguments) {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2)) {
            Postroom.on(pool).materializedViews().refreshDue();
            System.out.println("done");
        }
    }
}
