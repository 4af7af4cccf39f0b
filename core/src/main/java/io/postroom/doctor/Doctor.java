package io.postroom.doctor;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Migrations;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.subscription.Subscriptions;
import java.sql.Connection;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * Looks whether a database is fit for Postroom, and says what is not, with evidence and the SQL that mends it.
 *
 * <p>Changes nothing; a process that dies meanwhile leaves nothing behind. Works with the rights of the role {@code reader} and less:
 * what it may not see it tells. Safe for use by many threads.
 */
public final class Doctor {
    /** The largest pool that can be asked about. */
    public static final int POOL_MAX = 10_000;

    private static final List<Check> ROLE_CHECKS =
            List.of(Check.ROLES, Check.PRIVILEGED_LOGIN, Check.GRANTS_MISSING, Check.GRANTS_EXCESS, Check.OWNER);
    private static final List<Check> VACUUM_CHECKS =
            List.of(Check.AUTOVACUUM, Check.AUTOVACUUM_TABLE, Check.AUTOVACUUM_LAZY, Check.DEAD_ROWS, Check.WRAPAROUND);
    private static final List<Check> SUBSCRIPTION_CHECKS = List.of(Check.UNSERVED, Check.CIRCUIT_OPEN);
    private static final List<Check> OBJECT_CHECKS =
            List.of(Check.INVALID_INDEX, Check.SEQUENCES, Check.CONNECTIONS, Check.POOLS, Check.SUSPECTS);
    private static final List<Check> PARTITION_CHECKS = List.of(Check.PARTITIONS_AHEAD, Check.DEFAULT_PARTITION);

    private final Database database;
    private final Schema schema;
    private final Migrations migrations;
    private final Subscriptions subscriptions;
    private final Clock clock;
    private final Limits limits;
    private final Sql readServer;

    /** How long transactions may be open, and stand still. */
    record Limits(Duration transactionMax, Duration idleMax) {
        static final Limits USUAL = new Limits(HolderChecks.TRANSACTION_MAX, HolderChecks.IDLE_MAX);
    }

    public Doctor(Database database, Migrations migrations, Subscriptions subscriptions) {
        this(database, migrations, subscriptions, Clock.systemUTC(), Limits.USUAL);
    }

    Doctor(Database database, Migrations migrations, Subscriptions subscriptions, Clock clock, Limits limits) {
        this.database = database;
        this.schema = database.schema();
        this.migrations = migrations;
        this.subscriptions = subscriptions;
        this.clock = clock;
        this.limits = limits;
        readServer = schema.sql(Server.class, "read_server.sql");
    }

    /** Looks at everything, with the usual names of the roles. */
    public Examination examine() {
        return examine(Grants.of(schema), 0);
    }

    /**
     * The same where roles have other names.
     *
     * @param pool how many connections the pool of one relay has; 0 if that is not known
     */
    public Examination examine(Grants roles, int pool) {
        if (pool < 0 || pool > POOL_MAX) {
            throw new PostroomException(
                    "doctor.pool-invalid", "could not examine: a pool of " + pool + ", the range is 0 to " + POOL_MAX);
        }
        Server server = database.run(tx -> Server.read(tx, readServer));
        Notes notes = new Notes(roles.reader(), server.login().name());
        boolean hasSchema = hasSchema(server, notes);
        if (hasSchema) {
            DeliveryChecks deliveries = new DeliveryChecks(schema, notes);
            notes.look(SUBSCRIPTION_CHECKS, () -> deliveries.subscriptions(subscriptions.list()));
        }
        SessionChecks sessions = new SessionChecks(schema, database, clock, notes);
        sessions.pooler();
        look(notes, List.of(Check.CLOCK), sessions::clock);
        examineServer(server, notes);
        if (hasSchema) {
            examineSchema(server, roles, pool, notes);
        }
        return notes.examination();
    }

    /** Each by itself: what is refused, or takes too long, must not take the others with it where all would be one transaction. */
    private void look(Notes notes, List<Check> checks, Consumer<Connection> look) {
        notes.look(
                checks,
                () -> database.run(tx -> {
                    look.accept(tx);
                    return checks;
                }));
    }

    private boolean hasSchema(Server server, Notes notes) {
        boolean[] found = {false};
        if (server.version() / 10_000 >= ServerChecks.VERSION_MIN
                && server.encoding().equals("UTF8")) {
            notes.look(
                    List.of(Check.SCHEMA_BEHIND, Check.SCHEMA_AHEAD, Check.SCHEMA_CHANGED),
                    () -> found[0] = new SchemaChecks(schema, migrations, notes).look());
        }
        if (!found[0]) {
            for (List<Check> checks :
                    List.of(PARTITION_CHECKS, ROLE_CHECKS, VACUUM_CHECKS, SUBSCRIPTION_CHECKS, OBJECT_CHECKS)) {
                checks.forEach(
                        check -> notes.unchecked(check, "schema " + schema.name() + " is not there to be seen", ""));
            }
        }
        return found[0];
    }

    private void examineServer(Server server, Notes notes) {
        look(
                notes,
                List.of(Check.FSYNC, Check.SYNCHRONOUS_COMMIT),
                new ServerChecks(new Server.Settings(schema), server, notes)::look);
        HolderChecks holders =
                new HolderChecks(schema, server.login(), notes, limits.transactionMax(), limits.idleMax());
        look(notes, List.of(Check.OLD_TRANSACTION, Check.IDLE_TRANSACTION), holders::sessions);
        look(notes, List.of(Check.PREPARED_TRANSACTION), holders::prepared);
        look(notes, List.of(Check.REPLICATION_SLOT), holders::slots);
        PolicyChecks policies = new PolicyChecks(schema, notes);
        look(notes, List.of(Check.POLICIES_OFF, Check.POLICIES_BYPASSED), policies::tables);
        look(notes, List.of(Check.POLICIES_VIEW), policies::views);
        look(notes, List.of(Check.PRIVILEGED_SESSION), policies::sessions);
    }

    private void examineSchema(Server server, Grants roles, int pool, Notes notes) {
        look(notes, PARTITION_CHECKS, new PartitionChecks(schema, notes)::look);
        look(notes, List.of(Check.ARCHIVE_STUCK), new ArchiveChecks(schema, notes)::look);
        look(notes, VACUUM_CHECKS, new VacuumChecks(schema, new Server.Settings(schema), notes)::look);
        look(notes, ROLE_CHECKS, new RoleChecks(schema, roles, notes)::look);
        ObjectChecks objects = new ObjectChecks(schema, server.login(), notes);
        look(notes, List.of(Check.INVALID_INDEX), objects::indexes);
        look(notes, List.of(Check.SEQUENCES), objects::sequences);
        ConnectionChecks connections = new ConnectionChecks(schema, notes);
        look(notes, List.of(Check.CONNECTIONS, Check.POOLS), tx -> connections.look(tx, pool));
        look(notes, List.of(Check.SUSPECTS), new DeliveryChecks(schema, notes)::suspects);
    }
}
