package io.postroom.fault;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.message.Message;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * Writers that count up accounts under a row lock and publish each version, in as many awkward ways as an application might.
 *
 * <p>The version in a message is the truth about order: it is given under the account's row lock, so versions of one account
 * commit in their own order.
 */
final class Writers implements AutoCloseable {
    /** How a transaction misbehaves. */
    enum Style {
        /** Locks, counts, publishes, commits. */
        PLAIN(40),
        /** Publishes with the SQL function. */
        SQL(30),
        /** Has its transaction id long before it gets the row lock, so ids are in another order than versions. */
        EARLY_XID(40),
        /** Publishes in savepoints, and rolls some of them back. */
        SAVEPOINT(30),
        /** Rolls everything back after publishing. */
        ROLLBACK(30),
        /** Sleeps between publishing and commit. */
        SLEEP(8),
        /** The same, for seconds. */
        LONG(2),
        /** Publishes a batch over several accounts with one statement. */
        BATCH(20),
        /** Two-phase commit, the second phase later and on another connection; some are rolled back. */
        PREPARED(8);

        /** How often, relative to the others: those that hold locks for long are rare, or little else would happen. */
        private final int weight;

        Style(int weight) {
            this.weight = weight;
        }
    }

    private static final AtomicLong PREPARED_COUNT = new AtomicLong();

    private final DataSource dataSource;
    private final Postroom postroom;
    private final History history;
    private final int keys;
    private final long seed;
    private final List<Style> styles;
    private final List<Thread> threads = new ArrayList<>();
    private final Map<Style, AtomicLong> ended = new EnumMap<>(Style.class);
    private final AtomicLong rolledBackSavepoints = new AtomicLong();
    private final AtomicLong rolledBackPrepared = new AtomicLong();
    private final List<String> errors = new ArrayList<>();
    private final double pauseSeconds;
    private volatile boolean stopped;

    /** {@code pauseSeconds} is how long each writer rests between two transactions. */
    Writers(
            DataSource dataSource,
            Postroom postroom,
            History history,
            int keys,
            long seed,
            double pauseSeconds,
            Style... styles) {
        this.dataSource = dataSource;
        this.postroom = postroom;
        this.history = history;
        this.keys = keys;
        this.seed = seed;
        this.pauseSeconds = pauseSeconds;
        this.styles = new ArrayList<>();
        for (Style style : styles) {
            this.styles.addAll(Collections.nCopies(style.weight, style));
        }
        for (Style style : Style.values()) {
            ended.put(style, new AtomicLong());
        }
    }

    /** Makes the table of accounts. */
    static void createAccounts(DataSource dataSource, int keys) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("create table account (id text not null primary key, version bigint not null)");
            statement.execute(
                    "insert into account select 'account-' || n, 0 from generate_series(0, " + (keys - 1) + ") as n");
        }
    }

    Writers start(int writers) {
        for (int i = 0; i < writers; i++) {
            Random random = new Random(seed * 31 + i);
            Thread thread = new Thread(() -> write(random), "writer-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
        return this;
    }

    /** Lets every writer finish its transaction. */
    void stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(30_000);
            if (thread.isAlive()) {
                throw new AssertionError(thread.getName() + " did not end");
            }
        }
    }

    /** How many transactions of a style ended as they were meant to. */
    long ended(Style style) {
        return ended.get(style).get();
    }

    long rolledBackSavepoints() {
        return rolledBackSavepoints.get();
    }

    long rolledBackPrepared() {
        return rolledBackPrepared.get();
    }

    /** What went wrong, in the words of the exceptions; transactions that failed because of it count as failed or unknown. */
    List<String> errors() {
        synchronized (errors) {
            return List.copyOf(errors);
        }
    }

    /** Ends when stopped; an error ends one transaction only. */
    private void write(Random random) {
        while (!stopped) {
            Style style = styles.get(random.nextInt(styles.size()));
            Attempt attempt = new Attempt(style, random);
            try {
                attempt.run();
                ended.get(style).incrementAndGet();
            } catch (SQLException | PostroomException e) {
                synchronized (errors) {
                    errors.add(style + ": " + e.getMessage());
                }
            }
            history.acknowledged(attempt.acknowledged);
            history.unknown(attempt.unknown);
            history.failed(attempt.failed);
        }
    }

    /** One transaction and what became of its messages. */
    private final class Attempt {
        private final Style style;
        private final Random random;
        private final List<UUID> acknowledged = new ArrayList<>();
        private final List<UUID> unknown = new ArrayList<>();
        private final List<UUID> failed = new ArrayList<>();
        private final List<UUID> published = new ArrayList<>();
        private boolean committing;

        private Attempt(Style style, Random random) {
            this.style = style;
            this.random = random;
        }

        private void run() throws SQLException {
            try (Connection tx = dataSource.getConnection()) {
                tx.setAutoCommit(false);
                try {
                    write(tx);
                    finish(tx);
                } catch (SQLException | RuntimeException e) {
                    (committing ? unknown : failed).addAll(published);
                    published.clear();
                    rollBackQuietly(tx);
                    throw e;
                } finally {
                    tx.setAutoCommit(true);
                }
                sleep(tx, pauseSeconds * 2 * random.nextDouble());
            }
        }

        private void write(Connection tx) throws SQLException {
            if (style == Style.EARLY_XID) {
                execute(tx, "select pg_current_xact_id()");
                sleep(tx, 0.01 * random.nextDouble());
            }
            if (style == Style.BATCH) {
                publishBatch(tx);
                return;
            }
            String key = key();
            publish(tx, key);
            if (style == Style.SAVEPOINT) {
                for (int i = 0; i < 3; i++) {
                    publishInSavepoint(tx, key);
                }
            }
            if (style == Style.SLEEP) {
                sleep(tx, 0.1 * random.nextDouble());
            } else if (style == Style.LONG) {
                sleep(tx, 1.5 + random.nextDouble());
            }
        }

        private void finish(Connection tx) throws SQLException {
            if (style == Style.ROLLBACK) {
                tx.rollback();
                failed.addAll(published);
            } else if (style == Style.PREPARED) {
                finishPrepared(tx);
            } else {
                committing = true;
                tx.commit();
                acknowledged.addAll(published);
            }
        }

        private void finishPrepared(Connection tx) throws SQLException {
            String name = "'writer-" + PREPARED_COUNT.incrementAndGet() + "'";
            execute(tx, "prepare transaction " + name);
            boolean commit = random.nextInt(3) > 0;
            try (Connection other = dataSource.getConnection()) {
                sleep(other, 0.1 * random.nextDouble());
                committing = commit;
                execute(other, (commit ? "commit prepared " : "rollback prepared ") + name);
            }
            (commit ? acknowledged : failed).addAll(published);
            if (!commit) {
                rolledBackPrepared.incrementAndGet();
            }
        }

        private void publish(Connection tx, String key) throws SQLException {
            Message message = message(key, next(tx, key));
            published.add(message.id());
            if (style == Style.SQL || style == Style.SAVEPOINT && random.nextBoolean()) {
                publishWithSql(tx, message);
            } else {
                postroom.outbox().publish(tx, message);
            }
        }

        private void publishInSavepoint(Connection tx, String key) throws SQLException {
            var savepoint = tx.setSavepoint();
            int before = published.size();
            publish(tx, key);
            if (random.nextBoolean()) {
                tx.rollback(savepoint);
                failed.add(published.remove(before));
                rolledBackSavepoints.incrementAndGet();
            } else {
                tx.releaseSavepoint(savepoint);
            }
        }

        private void publishBatch(Connection tx) throws SQLException {
            // Locks are taken in the order of the names, as everybody does who has been in a deadlock before.
            TreeSet<String> chosen = new TreeSet<>(List.of(key(), key(), key()));
            List<Message> messages = new ArrayList<>();
            for (String key : chosen) {
                for (int i = 0; i < 3; i++) {
                    messages.add(message(key, next(tx, key)));
                }
            }
            messages.forEach(message -> published.add(message.id()));
            postroom.outbox().publishAll(tx, messages);
        }

        /** A few accounts get half of the writes, so that transactions do wait for each other. Long ones stay among themselves. */
        private String key() {
            int quarter = Math.max(1, keys / 4);
            int number = style == Style.LONG
                    ? random.nextInt(quarter)
                    : quarter + random.nextInt(Math.max(1, random.nextBoolean() ? keys - quarter : keys / 8));
            return "account-" + number % keys;
        }
    }

    private static void rollBackQuietly(Connection tx) {
        try {
            tx.rollback();
        } catch (SQLException e) {
            // The connection is gone, and the transaction with it.
        }
    }

    private static Message message(String key, long version) {
        return Message.about("account", key)
                .event("VersionCounted")
                .aggregateVersion(version)
                .payload("{\"version\":" + version + "}")
                .build();
    }

    private static void publishWithSql(Connection tx, Message message) throws SQLException {
        try (PreparedStatement statement = tx.prepareStatement(
                "select postroom.publish(aggregate_type => ?, aggregate_id => ?, event_type => ?, payload => ?::json,"
                        + " aggregate_version => ?, id => ?)")) {
            statement.setString(1, message.aggregateType());
            statement.setString(2, message.aggregateId());
            statement.setString(3, message.eventType());
            statement.setString(4, message.payload());
            statement.setObject(5, message.aggregateVersion());
            statement.setObject(6, message.id());
            statement.execute();
        }
    }

    private static long next(Connection tx, String key) throws SQLException {
        try (PreparedStatement statement =
                tx.prepareStatement("update account set version = version + 1 where id = ? returning version")) {
            statement.setString(1, key);
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getLong(1);
            }
        }
    }

    private static void sleep(Connection connection, double seconds) throws SQLException {
        if (seconds > 0) {
            execute(connection, "select pg_sleep(" + seconds + ")");
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() {
        stopped = true;
    }
}
