package io.postroom.server.dev;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.relay.Relay;
import java.time.Duration;

/** A process of its own that takes its share of the demo's lanes, to be killed. */
final class SecondRelay {
    static final String NAME = "dev-2";

    private static final int CONNECTIONS = 8;

    private SecondRelay() {}

    /** The database's address is the only argument. Ends when it is killed. */
    public static void main(String[] arguments) throws InterruptedException {
        // Whoever was to kill it may be killed first.
        ProcessHandle.current()
                .parent()
                .ifPresent(
                        dev -> dev.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(arguments[0]);
        config.setMaximumPoolSize(CONNECTIONS);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Postroom postroom = Postroom.on(pool);
            try (Faults faults = Faults.watch(postroom.database());
                    Relay relay = DemoRelay.build(postroom, NAME, Duration.ofSeconds(1), faults)) {
                relay.start();
                Thread.currentThread().join();
            }
        }
    }
}
