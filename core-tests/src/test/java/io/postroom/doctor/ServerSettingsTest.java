package io.postroom.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Settings of a whole server, in one that nobody else uses. */
class ServerSettingsTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    static TestPostgres server;
    static TestDatabase database;
    static Patient patient;

    @BeforeAll
    static void start() {
        server = TestPostgres.start(Map.of(
                "synchronous_commit", "off",
                "shared_buffers", "16MB",
                "max_connections", "20",
                "autovacuum_freeze_max_age", "100000"));
        database = TestDatabase.empty(server);
        database.postroom().migrations().migrate();
        patient = new Patient(database);
    }

    @AfterAll
    static void stop() {
        database.close();
        server.close();
    }

    /** What a server was started with, no statement changes: an embedded one never syncs. */
    @Test
    void seesWhatTheServerWasStartedWith() {
        for (Check check : List.of(Check.FSYNC, Check.SYNCHRONOUS_COMMIT)) {
            Finding finding = patient.sees(check, " is off");
            assertThat(finding.severity()).isEqualTo(Severity.ERROR);
            assertThat(finding.fix().isEmpty()).isTrue();
            assertThat(finding.advice()).contains("on the server's command line");
        }
    }

    @Test
    void seesASettingThatLosesPages() {
        switchesOff("full_page_writes", Check.FULL_PAGE_WRITES, "full_page_writes is off, it must be on");
    }

    @Test
    void seesAServerWithoutAutovacuum() {
        switchesOff("autovacuum", Check.AUTOVACUUM, "autovacuum is off, it must be on");
        switchesOff("track_counts", Check.AUTOVACUUM, "track_counts is off, it must be on");
    }

    @Test
    void notesWhatIsSmallForManyMessages() {
        Finding memory =
                patient.sees(Check.MAINTENANCE_WORK_MEM, "maintenance_work_mem is 64MB", "512MB to 1GB is advised");
        assertThat(memory.severity()).isEqualTo(Severity.NOTE);
        patient.mend(memory);
        becomes(Check.MAINTENANCE_WORK_MEM, false);
        patient.sees(Check.MAX_WAL_SIZE, "max_wal_size is 1GB", "2GB to 16GB is advised");
        Finding buffers = patient.sees(Check.WAL_BUFFERS, "wal_buffers is", "64MB is advised");
        assertThat(buffers.fix().risk()).isEqualTo(Fix.Risk.RESTART);
        assertThat(buffers.fix().statements()).containsExactly("alter system set wal_buffers = '64MB'");
    }

    @Test
    void seesThatConnectionsRunOut() throws SQLException {
        patient.seesNothing(Check.CONNECTIONS);
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < 14; i++) {
                open.add(database.begin());
            }
            patient.sees(Check.CONNECTIONS, " of 17 connections are in use, the limit is 80 %");
        } finally {
            for (Connection each : open) {
                each.close();
            }
        }
    }

    /** An open snapshot keeps ids from being frozen, as it would in life. */
    @Test
    void seesThatTransactionIdsGetOld() throws SQLException {
        patient.seesNothing(Check.WRAPAROUND);
        Finding old;
        try (Connection holder = database.begin();
                Statement statement = holder.createStatement()) {
            statement.execute("set transaction isolation level repeatable read; select 1 from postroom.lane");
            database.execute("create table burnt (n integer)", """
                    do $$ begin
                        for i in 1..150001 loop
                            begin insert into burnt values (i); exception when division_by_zero then null; end;
                        end loop;
                    end $$""");
            old = patient.sees(Check.WRAPAROUND, "transaction ids", "the limit is 150000");
            holder.rollback();
        }
        patient.mend(old);
        patient.seesNothing(Check.WRAPAROUND);
    }

    private static void switchesOff(String setting, Check check, String words) {
        patient.seesNothing(check);
        database.execute("alter system set " + setting + " = off", "select pg_reload_conf()");
        becomes(check, true);
        patient.mend(patient.sees(check, words));
        becomes(check, false);
    }

    /** A server reads its settings again in its own time. */
    private static void becomes(Check check, boolean seen) {
        Instant deadline = Instant.now().plus(PATIENCE);
        while (patient.findings(check).isEmpty() == seen) {
            assertThat(Instant.now()).as("%s becomes %s", check, seen).isBefore(deadline);
            LockSupport.parkNanos(20_000_000);
        }
    }
}
