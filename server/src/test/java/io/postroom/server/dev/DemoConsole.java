package io.postroom.server.dev;

import io.postroom.message.Upcasters;
import io.postroom.postgres.Schema;
import io.postroom.server.metrics.Metrics;
import io.postroom.server.serve.Console;
import io.postroom.server.web.WebSettings;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The console of the demo, with the page that breaks it, and nobody who would. */
public final class DemoConsole {
    private DemoConsole() {}

    public static Console start(TestDatabase database) throws SQLException {
        try (Connection tx = database.begin()) {
            new DemoTable().create(tx);
            tx.commit();
        }
        return Console.start(
                database.dataSource(),
                Schema.POSTROOM,
                Upcasters.NONE,
                WebSettings.local(0),
                new Metrics(Schema.POSTROOM),
                List.of(new FaultPages(database.postroom().database())),
                List.of("demo", "console"),
                List.of());
    }
}
