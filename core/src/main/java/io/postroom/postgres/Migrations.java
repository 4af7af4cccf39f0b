package io.postroom.postgres;

import io.postroom.PostroomException;
import io.postroom.retry.Backoff;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the schema up to date, forward only, and says where it stands.
 *
 * <p>Each migration is one transaction that also records itself: a process that dies leaves it done or not begun, and the next
 * run goes on. Any number may run at once; an advisory lock lets one work and the others find nothing left to do. A table that
 * stays locked is waited for briefly and tried again, so that applications never queue behind a migration for long.
 */
public final class Migrations {
    private static final Logger LOG = LoggerFactory.getLogger(Migrations.class);
    private static final int SERVER_VERSION_MIN = 150_000;
    private static final Patience PATIENCE =
            new Patience(Duration.ofSeconds(3), 10, new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5)));

    private final Database database;
    private final Schema schema;
    private final List<Migration> shipped;
    private final Patience patience;

    private final Sql findHistory;
    private final Sql readHistory;
    private final Sql recordChecksum;
    private final Sql findSchema;
    private final Sql inspectServer;
    private final Sql findLockers;

    /**
     * What to do about a locked table.
     *
     * @param lockTimeout how long one try waits, and so how long applications may queue behind it
     */
    record Patience(Duration lockTimeout, int triesMax, Backoff backoff) {}

    public Migrations(Database database) {
        this(database, Migration.ALL, PATIENCE);
    }

    Migrations(Database database, List<Migration> shipped, Patience patience) {
        this.database = database;
        this.schema = database.schema();
        this.shipped = shipped;
        this.patience = patience;
        findHistory = schema.sql(Migrations.class, "find_history.sql");
        readHistory = schema.sql(Migrations.class, "read_history.sql");
        recordChecksum = schema.sql(Migrations.class, "record_checksum.sql");
        findSchema = schema.sql(Migrations.class, "find_schema.sql");
        inspectServer = schema.sql(Migrations.class, "inspect_server.sql");
        findLockers = schema.sql(Migrations.class, "find_lockers.sql");
    }

    /** Applies what is missing and returns it. */
    public List<MigrationState> migrate() {
        List<Integer> applied = new ArrayList<>();
        for (Migration next = applyNext(); next != null; next = applyNext()) {
            applied.add(next.version());
        }
        return status().stream()
                .filter(state -> applied.contains(state.version()))
                .toList();
    }

    /** Every migration that is shipped or applied. */
    public List<MigrationState> status() {
        return database.run(tx -> {
            requireServer(tx, false);
            return states(history(tx));
        });
    }

    /** Throws unless the schema is exactly what this version of Postroom needs. */
    public void validate() {
        requireFit(status(), true);
    }

    /** The SQL of some migrations, for another tool or for reading. */
    public String print(int from, int to) {
        int last = last();
        if (from < 1 || to > last || from > to) {
            throw new PostroomException(
                    "schema.range-invalid",
                    "could not print migrations " + from + " to " + to + ": the range is 1 to " + last
                            + ", the first not above the last");
        }
        String steps = shipped.stream()
                .filter(migration -> migration.version() >= from && migration.version() <= to)
                .map(migration -> "begin;\n\n" + schema.fill(migration.text()).strip() + "\n\ncommit;\n")
                .collect(Collectors.joining("\n"));
        return from == 1 ? "create schema if not exists \"" + schema.name() + "\";\n\n" + steps : steps;
    }

    /** The version this Postroom brings a schema to. */
    public static int latest() {
        return Migration.ALL.get(Migration.ALL.size() - 1).version();
    }

    private int last() {
        return shipped.get(shipped.size() - 1).version();
    }

    /** Applies one migration in a transaction of its own; null if none is left. */
    private @Nullable Migration applyNext() {
        for (int tries = 1; ; tries++) {
            try {
                return database.transact(this::applyNext);
            } catch (DatabaseException e) {
                boolean locked = e.sqlState().equals(SqlState.LOCK_NOT_AVAILABLE)
                        || e.sqlState().equals(SqlState.DEADLOCK);
                if (e.sqlState().equals(SqlState.INSUFFICIENT_PRIVILEGE)) {
                    throw forbidden(e);
                }
                if (!locked) {
                    throw e;
                }
                if (tries == patience.triesMax()) {
                    throw new PostroomException(
                            "schema.locked",
                            "could not migrate schema " + schema.name() + ": its tables stayed locked through "
                                    + patience.triesMax()
                                    + " tries of " + patience.lockTimeout().toMillis() + " ms, by " + lockers()
                                    + "; end those transactions and run migrate again, it goes on where it stopped",
                            e);
                }
                LOG.info("schema {} is locked by {}; trying again", schema.name(), lockers());
                pause(patience.backoff().after(tries));
            }
        }
    }

    private PostroomException forbidden(DatabaseException e) {
        return new PostroomException(
                "schema.forbidden",
                "could not migrate schema " + schema.name()
                        + ": the role may not create or change it; run migrate as its owner, or give the output of"
                        + " postroom schema print to somebody who may",
                e);
    }

    private @Nullable Migration applyNext(Connection tx) throws SQLException {
        requireServer(tx, true);
        try (Statement statement = tx.createStatement()) {
            // Another migration may take its time; only a locked table is a reason to give up and let applications
            // pass.
            statement.execute("set local lock_timeout = '10min'");
            // A process that freezes between two statements would keep what it has locked from everybody.
            statement.execute("set local idle_in_transaction_session_timeout = '10s'");
            statement.execute(
                    "select pg_advisory_xact_lock(hashtextextended('postroom.migrate " + schema.name() + "', 0))");
            statement.execute(
                    "set local lock_timeout = '" + patience.lockTimeout().toMillis() + "ms'");
            Map<Integer, Applied> history = history(tx);
            requireFit(states(history), false);
            for (Migration migration : shipped) {
                if (!history.containsKey(migration.version())) {
                    if (!findSchema.on(tx).set("name", schema.name()).one(row -> row.getBoolean(1))) {
                        statement.execute("create schema \"" + schema.name() + '"');
                    }
                    statement.execute(schema.fill(migration.text()));
                    recordChecksum
                            .on(tx)
                            .set("version", migration.version())
                            .set("checksum", migration.checksum())
                            .update();
                    LOG.info(
                            "migrated schema {} to version {} ({})",
                            schema.name(),
                            migration.version(),
                            migration.name());
                    return migration;
                }
            }
            return null;
        }
    }

    private record Applied(String name, @Nullable String checksum, OffsetDateTime at, String by) {}

    private Map<Integer, Applied> history(Connection tx) {
        Map<Integer, Applied> history = new LinkedHashMap<>();
        boolean there = findHistory
                .on(tx)
                .set("table", '"' + schema.name() + "\".migration")
                .one(row -> row.getBoolean(1));
        if (there) {
            readHistory
                    .on(tx)
                    .list(row -> history.put(
                            row.getInt("version"),
                            new Applied(
                                    row.getString("name"),
                                    row.getString("checksum"),
                                    row.getObject("applied_at", OffsetDateTime.class),
                                    row.getString("applied_by"))));
        }
        return history;
    }

    private List<MigrationState> states(Map<Integer, Applied> history) {
        List<MigrationState> states = new ArrayList<>();
        for (Migration migration : shipped) {
            Applied applied = history.get(migration.version());
            if (applied == null) {
                states.add(new MigrationState(
                        migration.version(), migration.name(), MigrationState.Word.PENDING, null, null));
            } else {
                // Null: another tool ran the file and keeps a checksum of its own.
                boolean same = applied.checksum() == null || applied.checksum().equals(migration.checksum());
                states.add(new MigrationState(
                        migration.version(),
                        migration.name(),
                        same ? MigrationState.Word.APPLIED : MigrationState.Word.CHANGED,
                        applied.at().toInstant(),
                        applied.by()));
            }
        }
        history.forEach((version, applied) -> {
            if (version > last()) {
                states.add(new MigrationState(
                        version,
                        applied.name(),
                        MigrationState.Word.NEWER,
                        applied.at().toInstant(),
                        applied.by()));
            }
        });
        return states;
    }

    private void requireFit(List<MigrationState> states, boolean complete) {
        for (MigrationState state : states) {
            switch (state.state()) {
                case NEWER ->
                    throw new PostroomException(
                            "schema.newer",
                            "could not use schema " + schema.name() + ": it has version " + state.version() + " ("
                                    + state.name() + "), this Postroom knows up to " + last()
                                    + "; use a newer Postroom");
                case CHANGED ->
                    throw new PostroomException(
                            "schema.changed",
                            "could not use schema " + schema.name() + ": version " + state.version() + " ("
                                    + state.name()
                                    + ") was applied from another file than the one shipped; compare it with postroom schema print");
                case PENDING -> {
                    if (complete) {
                        boolean empty =
                                states.stream().noneMatch(other -> other.state() == MigrationState.Word.APPLIED);
                        throw new PostroomException(
                                empty ? "schema.missing" : "schema.older",
                                "could not use schema " + schema.name() + ": "
                                        + (empty
                                                ? "it is not there"
                                                : "version " + state.version() + " (" + state.name() + ") is missing")
                                        + ", this Postroom needs version " + last()
                                        + "; run postroom schema migrate");
                    }
                }
                case APPLIED -> {}
            }
        }
    }

    private void requireServer(Connection tx, boolean writable) {
        inspectServer.on(tx).one(row -> {
            int version = row.getInt("version");
            if (version < SERVER_VERSION_MIN) {
                throw new PostroomException(
                        "postgres.too-old",
                        "could not use PostgreSQL " + version / 10_000
                                + ": Postroom needs 15 or newer; upgrade the server");
            }
            String encoding = row.getString("encoding");
            if (!encoding.equals("UTF8")) {
                throw new PostroomException(
                        "postgres.encoding",
                        "could not use the database: its encoding is " + encoding
                                + ", which cannot hold every payload; create a database with encoding UTF8");
            }
            if (writable && (row.getBoolean("standby") || row.getBoolean("read_only"))) {
                throw new PostroomException(
                        "postgres.read-only",
                        "could not migrate schema " + schema.name()
                                + ": the server is a standby or read-only; connect to the primary");
            }
            return true;
        });
    }

    private String lockers() {
        List<String> found = database.run(tx -> findLockers
                .on(tx)
                .set("schema", schema.name())
                .list(row -> "pid " + row.getInt("pid")
                        + (row.getString(2).isEmpty() ? "" : " (" + row.getString(2) + ")")));
        return found.isEmpty() ? "nobody by now" : String.join(", ", found);
    }

    private static void pause(Duration wait) {
        try {
            Thread.sleep(wait.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PostroomException(
                    "schema.interrupted", "could not migrate: interrupted while waiting for a lock; run it again", e);
        }
    }
}
