package io.postroom.relay;

import io.postroom.postgres.Database;
import io.postroom.postgres.Session;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears from other relays that the journal has moved, so that an idle relay need not poll often, and from operators that there is
 * something to do.
 *
 * <p>Keeps one connection of its own. Notifications are hints: polling goes on, and a pooler that swallows them costs latency,
 * nothing else.
 */
final class Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);
    private static final int WAIT_MILLIS = 500;

    /** A connection that went silent must not hold up the end of its relay. */
    private static final Duration ANSWER_WITHIN = Duration.ofSeconds(2);

    /** What relays tell each other: the journal has moved, or lanes are to be shared anew. */
    static final String JOURNAL = "journal";

    static final String LANES = "lanes";
    /** Deliveries were changed by somebody else than their lane's relay. */
    static final String DELIVERIES = "deliveries";

    private final Database database;
    private final RelaySettings settings;
    private final Consumer<String> heard;
    private final Signal signal = new Signal();
    private volatile boolean stopped;
    private @Nullable Thread thread;

    Listener(Database database, RelaySettings settings, Consumer<String> heard) {
        this.database = database;
        this.settings = settings;
        this.heard = heard;
    }

    /** The channel on which relays of a schema talk. */
    static String channel(Database database) {
        return database.schema().name() + "_journal";
    }

    void start() {
        thread = Threads.keep("postroom-listen-" + settings.name(), this::run);
    }

    /** Lets it end: at the next notification, or soon without. */
    void stop() {
        stopped = true;
        signal.raise();
    }

    void join() {
        Threads.join(thread, settings.stopGrace());
    }

    /** Ends when stopped; without a database it tries again at the next beat. */
    private void run() {
        while (!stopped) {
            listen();
            try {
                signal.await(settings.heartbeat().toNanos());
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void listen() {
        try (Session opened = database.open(ANSWER_WITHIN)) {
            Connection connection = opened.connection();
            try (Statement statement = connection.createStatement()) {
                statement.execute("listen \"" + channel(database) + '"');
            }
            PGConnection session = connection.unwrap(PGConnection.class);
            while (!stopped) {
                for (PGNotification notification : session.getNotifications(WAIT_MILLIS)) {
                    heard.accept(notification.getParameter());
                }
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute("unlisten *");
            }
        } catch (SQLException | RuntimeException | Error e) {
            LOG.debug("relay {} stopped listening; polling goes on", settings.name(), e);
        }
    }
}
