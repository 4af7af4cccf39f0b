package io.postroom.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.PgBouncer;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Vacuum, indexes, sequences, sessions, clocks and deliveries: broken one by one, seen, and mended where SQL can. */
class UpkeepTest {
    private static final Doctor.Limits IMPATIENT = new Doctor.Limits(Duration.ofMillis(1), Duration.ofMillis(1));

    static TestDatabase database;
    static Patient patient;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        patient = new Patient(database);
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void seesATableWithoutAutovacuum() {
        patient.breaksAndMends(
                Check.AUTOVACUUM_TABLE,
                "alter table postroom.lane set (autovacuum_enabled = off)",
                "autovacuum is off for table lane");
    }

    @Test
    void seesAnAutovacuumThatBeginsTooLate() {
        patient.breaksAndMends(
                Check.AUTOVACUUM_LAZY,
                "alter table postroom.lane set (autovacuum_vacuum_threshold = 10001)",
                "begins with 10001 dead rows, the limit is 10000");
        patient.breaksAndMends(
                Check.AUTOVACUUM_LAZY,
                "alter table postroom.idempotency_key set (autovacuum_vacuum_threshold = 100001)",
                "begins with 100001 dead rows, the limit is 100000");
    }

    @Test
    void seesDeadRowsThatNobodyRemoves() {
        patient.seesNothing(Check.DEAD_ROWS);
        database.execute(
                "alter table postroom.lock_name set (autovacuum_enabled = off)",
                "insert into postroom.lock_name (key, name) select n, n::text from generate_series(1, 100001) as n",
                "delete from postroom.lock_name; select pg_stat_force_next_flush()",
                "select 1");
        patient.mend(patient.sees(Check.DEAD_ROWS, "table lock_name has about 100001 dead rows, the limit is 100000"));
        patient.seesNothing(Check.DEAD_ROWS);
        database.execute("alter table postroom.lock_name reset (autovacuum_enabled)");
    }

    @Test
    void seesAnIndexThatServesNobody() {
        patient.breaksAndMends(
                Check.INVALID_INDEX,
                "update pg_index set indisvalid = false where indexrelid = 'postroom.delivery_held'::regclass",
                "index delivery_held of delivery is not valid");
    }

    @Test
    void seesASequenceThatComesToItsEnd() {
        Finding finding = patient.breaksAndMends(
                Check.SEQUENCES,
                "alter sequence postroom.audit_id_seq maxvalue 100; select setval('postroom.audit_id_seq', 80)",
                "sequence audit_id_seq is at 80 of 100, the limit is 80 %");
        assertThat(finding.severity()).isEqualTo(Severity.WARNING);
        database.execute("insert into postroom.audit (actor, action, subject, reason) values ('ann', 'a', 'b', 'c')");
    }

    @Test
    void seesWhoStandsStillInATransaction() throws SQLException {
        try (Connection forgotten = DriverManager.getConnection(database.url())) {
            forgotten.setAutoCommit(false);
            forgotten.createStatement().execute("set application_name = 'forgetful'; select 1 from postroom.lane");
            Examination examination = doctor(Clock.systemUTC(), IMPATIENT).examine();
            Finding idle = about(examination.of(Check.IDLE_TRANSACTION), "(forgetful)");
            assertThat(idle.evidence()).contains("stands still in a transaction");
            Finding old = about(examination.of(Check.OLD_TRANSACTION), "(forgetful)");
            assertThat(old.evidence()).contains("has a transaction open for");
            patient.mend(old);
            assertThat(doctor(Clock.systemUTC(), IMPATIENT).examine().of(Check.OLD_TRANSACTION))
                    .noneMatch(each -> each.evidence().contains("(forgetful)"));
        }
        patient.seesNothing(Check.OLD_TRANSACTION);
    }

    @Test
    void seesAPreparedTransactionAndLeavesTheDecision() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("insert into postroom.job_queue (name) values ('prepared')");
            statement.execute("prepare transaction E'it''s \\r ours\\\\'");
            tx.commit();
        }
        Examination examination = doctor(Clock.systemUTC(), IMPATIENT).examine();
        Finding finding = about(examination.of(Check.PREPARED_TRANSACTION), "transaction it's \r ours\\ of postgres");
        assertThat(finding.fix().risk()).isEqualTo(Fix.Risk.DECISION);
        assertThat(examination.fixSql())
                .doesNotContain("\r")
                .contains(
                        "\n-- rollback prepared E'it''s \\u000d ours\\\\';\n-- commit prepared E'it''s \\u000d ours\\\\';\n");
        database.execute(finding.fix().statements().get(0));
        assertThat(doctor(Clock.systemUTC(), IMPATIENT).examine().of(Check.PREPARED_TRANSACTION))
                .isEmpty();
    }

    @Test
    void seesAReplicationSlotThatNobodyReads() {
        String slot = database.name() + "_slot";
        database.execute("select pg_create_physical_replication_slot('" + slot + "', true)");
        Finding finding = about(patient.findings(Check.REPLICATION_SLOT), slot);
        assertThat(finding.evidence()).contains("physical replication slot", "has no reader", "the limit is 10GB");
        patient.mend(finding);
        assertThat(patient.findings(Check.REPLICATION_SLOT))
                .noneMatch(each -> each.evidence().contains(slot));
    }

    @Test
    void seesThatClocksDiffer() {
        Examination ahead = doctor(Clock.offset(Clock.systemUTC(), Duration.ofHours(-1)), IMPATIENT)
                .examine();
        assertThat(ahead.of(Check.CLOCK)).singleElement().satisfies(finding -> {
            assertThat(finding.severity()).isEqualTo(Severity.ERROR);
            assertThat(finding.evidence())
                    .matches("the database's clock is 3[56]\\d{5} ms ahead of this one, .* the limit is 1000 ms");
        });
        patient.seesNothing(Check.CLOCK);
    }

    @Test
    void seesAPoolerOfTransactions() throws InterruptedException {
        assumeTrue(PgBouncer.isInstalled(), "pgbouncer is not installed: apt-get install pgbouncer");
        patient.seesNothing(Check.POOLER);
        try (PgBouncer bouncer = PgBouncer.start(database.url(), 2);
                HikariDataSource pool = TestDatabase.pool(bouncer.url(database.url()), 3)) {
            assertThat(Postroom.on(pool).doctor().examine().of(Check.POOLER))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.evidence())
                            .contains("transactions of one connection run in sessions of others"));
        }
    }

    @Test
    void asksAlsoThroughAPoolOfOneConnection() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.url());
        config.setMaximumPoolSize(1);
        config.setConnectionTimeout(2_000);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Examination examination = Postroom.on(pool).doctor().examine();
            assertThat(examination.unchecked())
                    .filteredOn(each -> each.check() == Check.POOLER)
                    .singleElement()
                    .satisfies(each -> assertThat(each.why()).contains("two connections at once could not be had"));
        }
    }

    @Test
    void seesThatPoolsDoNotFit() {
        Grants roles = Grants.of(Schema.POSTROOM);
        assertThat(database.postroom().doctor().examine(roles, 10).of(Check.POOLS))
                .isEmpty();
        assertThat(database.postroom().doctor().examine(roles, 10_000).of(Check.POOLS))
                .singleElement()
                .satisfies(finding -> assertThat(finding.evidence())
                        .contains("the pools of 0 live relays and one more are 10000 connections, there is room for"));
    }

    @Test
    void seesWhoIsNotServedWhoTakesNothingAndWhatWasThereWhenARelayDied() {
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("billing").lanes(2).build(), new RecordingSink())
                .build()) {
            relay.runOnce();
        }
        patient.sees(Check.UNSERVED, "0 of 2 lanes of subscription billing have a relay", "0 messages wait");
        patient.seesNothing(Check.CIRCUIT_OPEN);
        patient.seesNothing(Check.SUSPECTS);
        database.execute("""
                insert into postroom.relay (id, name, subscriptions, leased_until)
                values ('00000000-0000-7000-8000-000000000001', 'r1', '{billing}', now() + interval '1 hour')""", """
                update postroom.lane set owner = '00000000-0000-7000-8000-000000000001', leased_until = now() + interval '1 hour'""", """
                insert into postroom.circuit (subscription, relay, opened_at, probe_at, failures, error_class, error)
                values ('billing', '00000000-0000-7000-8000-000000000001', now(), now(), 3, 'x', 'refused')""", """
                insert into postroom.delivery (subscription, position, lane, key_hash, seq, outbox_day, bytes, state, due_at, crashes)
                values ('billing', 7, 1, 1, 7, current_date, 10, 'waiting', now(), 2)""");
        patient.seesNothing(Check.UNSERVED);
        patient.sees(Check.CIRCUIT_OPEN, "the destination of subscription billing takes nothing since");
        patient.sees(Check.SUSPECTS, "1 messages of lane 1 of subscription billing", "up to 2 times");
        database.execute(
                "delete from postroom.delivery", "delete from postroom.relay", "delete from postroom.subscription");
        patient.seesNothing(Check.SUSPECTS);
    }

    private static Doctor doctor(Clock clock, Doctor.Limits limits) {
        Postroom postroom = database.postroom();
        return new Doctor(postroom.database(), postroom.migrations(), postroom.subscriptions(), clock, limits);
    }

    private static Finding about(List<Finding> findings, String words) {
        return findings.stream()
                .filter(finding -> finding.evidence().contains(words))
                .findFirst()
                .orElseThrow(() -> new AssertionError("nothing of '" + words + "' in " + findings));
    }
}
