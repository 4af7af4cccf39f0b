package io.postroom;

import io.postroom.advice.Advisor;
import io.postroom.archive.Archive;
import io.postroom.archive.Retention;
import io.postroom.audit.Audit;
import io.postroom.deadletter.DeadLetters;
import io.postroom.delivery.DeliveryRedriver;
import io.postroom.diagnosis.Diagnosis;
import io.postroom.doctor.Doctor;
import io.postroom.externalcall.ExternalCalls;
import io.postroom.idempotency.Idempotency;
import io.postroom.idempotency.IdempotencyKeys;
import io.postroom.inbox.Inbox;
import io.postroom.job.JobBoard;
import io.postroom.job.JobRedriver;
import io.postroom.job.Jobs;
import io.postroom.journal.Journal;
import io.postroom.lock.Locks;
import io.postroom.maintenance.Maintenance;
import io.postroom.message.Upcasters;
import io.postroom.outbox.Outbox;
import io.postroom.postgres.Database;
import io.postroom.postgres.Migrations;
import io.postroom.postgres.Schema;
import io.postroom.projection.MaterializedViews;
import io.postroom.projection.ReadModels;
import io.postroom.relay.Relay;
import io.postroom.schedule.Schedules;
import io.postroom.source.Moves;
import io.postroom.source.Reception;
import io.postroom.source.SourceRedriver;
import io.postroom.subscription.Subscriptions;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The entry point: one DataSource in, feature objects out.
 *
 * <p>Holds no connection and no thread of its own, so there is nothing to close. Safe for use by many threads.
 */
public final class Postroom {
    private final Database database;
    private final Telemetry telemetry;
    private final Journal journal;
    private final Outbox outbox;
    private final Idempotency idempotency;
    private final Locks locks;
    private final Jobs jobs;

    private Postroom(Builder builder) {
        this.database = new Database(builder.dataSource, builder.schema, builder.answerWithin, builder.statementMax);
        this.telemetry = builder.telemetry;
        this.journal = new Journal(database, builder.upcasters, telemetry);
        this.outbox = new Outbox(builder.schema, telemetry, journal::nudge);
        this.idempotency = new Idempotency(database, telemetry);
        this.locks = new Locks(database);
        this.jobs = new Jobs(database, telemetry);
    }

    /** Postroom in the schema {@code postroom} of a database. */
    public static Postroom on(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Publishes messages inside the caller's transactions. */
    public Outbox outbox() {
        return outbox;
    }

    /** Remembers what consumers have handled, inside their transactions. */
    public Inbox inbox() {
        return new Inbox(database, telemetry);
    }

    /** Answers each request once, by the key of its client. */
    public Idempotency idempotency() {
        return idempotency;
    }

    /** Idempotency keys as operators see and release them. */
    public IdempotencyKeys idempotencyKeys() {
        return new IdempotencyKeys(database, audit());
    }

    /** Messages in delivery order. */
    public Journal journal() {
        return journal;
    }

    /** Begins a relay on this database. */
    public Relay.Builder relay() {
        return new Relay.Builder(database, journal, telemetry);
    }

    /** Begins to receive messages that a broker brings; sources such as Kafka's do so. */
    public Reception.Builder reception() {
        return new Reception.Builder(database, inbox(), journal, telemetry);
    }

    /** Moves of subscriptions between relays and a broker. */
    public Moves moves() {
        return new Moves(database, subscriptions(), audit());
    }

    /** Enqueues jobs inside the caller's transactions, and begins workers that do them. */
    public Jobs jobs() {
        return jobs;
    }

    /** Jobs and queues as operators see and change them. */
    public JobBoard jobBoard() {
        return new JobBoard(database, audit(), deadLetters());
    }

    /** Jobs that are enqueued again and again. */
    public Schedules schedules() {
        return new Schedules(database, jobs, audit(), telemetry);
    }

    /** What was given up on, and what to do about it. */
    public DeadLetters deadLetters() {
        return new DeadLetters(
                database,
                audit(),
                List.of(
                        new DeliveryRedriver(database.schema()),
                        new SourceRedriver(database.schema()),
                        new JobRedriver(database.schema())));
    }

    /** Subscriptions as operators see and change them. */
    public Subscriptions subscriptions() {
        return new Subscriptions(database, journal, audit());
    }

    /** Read models: how fresh they are; their generations as operators rebuild, compare and swap them. */
    public ReadModels readModels() {
        return new ReadModels(database, journal, audit(), subscriptions(), telemetry);
    }

    /** Materialized views that are refreshed every so often, by one process at a time. */
    public MaterializedViews materializedViews() {
        return new MaterializedViews(database, audit());
    }

    /** Calls to others that must take effect once. */
    public ExternalCalls externalCalls() {
        return new ExternalCalls(database, audit(), telemetry);
    }

    /** Locks that transactions hold, and leases for work on one node of many. */
    public Locks locks() {
        return locks;
    }

    /** What operators did, and why. */
    public Audit audit() {
        return new Audit(database);
    }

    /** Why a message is where it is. */
    public Diagnosis diagnosis() {
        return new Diagnosis(database);
    }

    /** Whether this database is fit for Postroom, and the SQL that mends what is not. */
    public Doctor doctor() {
        return new Doctor(database, migrations(), subscriptions());
    }

    /** Which way to go from here, by live figures. */
    public Advisor advisor() {
        return new Advisor(database, subscriptions());
    }

    /** Housekeeping for this database; one process of a system should start it. */
    public Maintenance maintenance() {
        return maintenance(Maintenance.JOBS_KEPT_MIN);
    }

    /** The same, which keeps jobs that have ended, and attempts that failed, for so long: 7 days or more. */
    public Maintenance maintenance(Duration jobsKept) {
        return new Maintenance(database, deadLetters().redrives(), telemetry, archive(), null, jobsKept);
    }

    /** The same, which also archives old days, and drops archived ones if the retention says so. */
    public Maintenance maintenance(Retention retention) {
        return maintenance(retention, Maintenance.JOBS_KEPT_MIN);
    }

    /** Both. */
    public Maintenance maintenance(Retention retention, Duration jobsKept) {
        return new Maintenance(
                database,
                deadLetters().redrives(),
                telemetry,
                archive(),
                Objects.requireNonNull(retention, "retention"),
                jobsKept);
    }

    /** Old days, out of the way of those who publish and deliver. */
    public Archive archive() {
        return new Archive(database, journal, audit());
    }

    /** Brings the schema up to date, or says where it stands. */
    public Migrations migrations() {
        return new Migrations(database);
    }

    /** The database and schema this works on. */
    public Database database() {
        return database;
    }

    /** Collects what differs from the defaults. */
    public static final class Builder {
        private final DataSource dataSource;
        private Schema schema = Schema.POSTROOM;
        private Telemetry telemetry = Telemetry.NONE;
        private Upcasters upcasters = Upcasters.NONE;
        private Duration answerWithin = Database.ANSWER_WITHIN;
        private @Nullable Duration statementMax;

        private Builder(DataSource dataSource) {
            this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        }

        /** The schema that holds Postroom's tables. */
        public Builder schema(String name) {
            this.schema = new Schema(name);
            return this;
        }

        public Builder telemetry(Telemetry telemetry) {
            this.telemetry = Objects.requireNonNull(telemetry, "telemetry");
            return this;
        }

        /** How old versions of payloads are read as the newest, by whoever reads; as they are unless given. */
        public Builder upcasters(Upcasters upcasters) {
            this.upcasters = Objects.requireNonNull(upcasters, "upcasters");
            return this;
        }

        /**
         * How long PostgreSQL may take to answer one of a relay's statements before its connection counts as dead; 30 s unless
         * given. Statements on the caller's own connections are not limited.
         */
        public Builder answerWithin(Duration answerWithin) {
            this.answerWithin = Objects.requireNonNull(answerWithin, "answerWithin");
            return this;
        }

        /**
         * For whoever only looks, such as a sampler of metrics: single statements change nothing, and PostgreSQL ends those that take
         * longer. Unlimited unless given.
         */
        public Builder statementMax(Duration statementMax) {
            this.statementMax = Objects.requireNonNull(statementMax, "statementMax");
            return this;
        }

        public Postroom build() {
            return new Postroom(this);
        }
    }
}
