package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PassedAtTest {
    private static final String TODAY = "(clock_timestamp() at time zone 'utc')::date";

    private TestDatabase database;

    /** Ten messages of the day on which everything was installed, and after the next tick very many entries of the day after it. */
    @BeforeEach
    void fill() throws SQLException {
        database = TestDatabase.create();
        try (Connection tx = database.begin()) {
            database.postroom().outbox().publishAll(tx, Messages.ofManyKeys("first", 10));
            tx.commit();
        }
        database.postroom().journal().stampAll();
        database.execute(
                "insert into postroom.tick (position, snapshot, seq, day) select 20, (x + 1 || ':' || x + 1 || ':')::pg_snapshot, 20, "
                        + TODAY + " + 1 from (select max(xid::text::bigint) as x from postroom.outbox) as newest",
                "insert into postroom.journal (position, seq, day, outbox_day, key_hash, bytes) select n, n, " + TODAY
                        + " + 1, " + TODAY + " + 1, 1, 10 from generate_series(11, 5010) as n",
                "update postroom.journal set outbox_day = " + TODAY + " where position = 5005");
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void theDayOfTheInstallationIsLookedThroughUpToItsOwnTick() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            assertThat(number(statement, "select postroom.passed_at(" + TODAY + ")"))
                    .isEqualTo(10);
            assertThat(number(
                            statement,
                            "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) from pg_stat_xact_user_tables"
                                    + " where relname like 'journal\\_%'"))
                    .isLessThan(100);
        }
    }

    /** Its transaction ids are not those of the ticks. */
    @Test
    void aDayBeforeARestoreIsLookedForInAllThatFollows() throws SQLException {
        database.execute("insert into postroom.cluster (system_identifier) values (1)");
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            // Wherever the session is: a day is one of UTC.
            for (String zone : new String[] {"UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"}) {
                statement.execute("set local time zone '" + zone + "'");
                assertThat(number(statement, "select postroom.passed_at(" + TODAY + ")"))
                        .isEqualTo(5_005);
            }
        }
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
