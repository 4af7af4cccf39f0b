package io.postroom.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Plan;
import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two hundred thousand keys of a hundred tenants: nothing reads more than it needs. */
class IdempotencyPlanTest {
    private static final int KEYS = 200_000;
    private static final int PAGE = 100;

    private static TestDatabase database;

    /** One key in ten thousand is running, one in a thousand has failed; a tenth has expired. */
    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "set synchronous_commit = off", """
                insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response, completed_at,
                                                      expires_at, leased_until, fence)
                select 't' || n %% 100, 'order.create', 'k-' || n, sha256(''), state,
                       case state when 'completed' then 201 when 'failed' then 404 end, case when state <> 'running' then '\\x00'::bytea end,
                       case when state <> 'running' then now() end, now() + make_interval(hours => 24 * (n %% 10) - 1),
                       case when state = 'running' then now() end, 1
                from generate_series(1, %d) as n,
                     lateral (select case when n %% 10000 = 0 then 'running' when n %% 1000 = 0 then 'failed' else 'completed' end) as s (state)
                """.formatted(KEYS), "vacuum analyze postroom.idempotency_key");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static final List<String> KEY = List.of("tenant text", "scope text", "key text");

    private static final String[] VALUES = {"'t7'", "'order.create'", "'k-107'"};

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "find.sql; ; ",
                "advance.sql; fence bigint,hash bytea,reached int,step text,recovery text,lease float8,idle_millis text;"
                        + " 1,'',0,'a','{}',30,'9'",
                "give_up.sql; fence bigint; 1",
                "release.sql; fence bigint; 1",
                "forget.sql; fence bigint,state text,reached int,hash bytea,created_at timestamptz;"
                        + " 1,'completed',0,'',now()",
                "finish.sql; fence bigint,hash bytea,reached int,state text,status int,headers text,response bytea,"
                        + "expiry float8,idle_millis text; 1,'',0,'completed',200,null,'',60,'9'",
            })
    void aKeyIsFoundByItsPrimaryKeyWhateverThePlan(String file, String parameters, String values) throws SQLException {
        List<String> all = new java.util.ArrayList<>(KEY);
        List<Object> given = new java.util.ArrayList<>(List.of((Object[]) VALUES));
        if (parameters != null) {
            all.addAll(List.of(parameters.strip().split(",")));
            given.addAll(List.of((Object[]) values.strip().split(",")));
        }
        for (String mode : List.of(Plan.CUSTOM, Plan.GENERIC)) {
            Plan plan = Plan.explain(database, mode, Idempotency.class, file, all, given.toArray());
            assertThat(plan.scans()).as(plan.text()).containsExactly("Index Scan idempotency_key");
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {
                "null, null, null, null",
                "null, null, null, k-5",
                "t7, null, null, null",
                "t7, order.create, null, k-5",
                "t7, order.create, completed, null",
                "null, null, running, null",
                "null, null, failed, null",
                "t0, null, failed, null",
                "null, order.create, running, null",
                "t7, payment.capture, null, null"
            })
    void aPageReadsLittleMoreThanItShows(String tenant, String scope, String state, String after) throws SQLException {
        Plan plan = Plan.explain(
                database,
                Plan.CUSTOM,
                Idempotency.class,
                "list.sql",
                List.of(
                        "tenant text",
                        "scope text",
                        "state text",
                        "after_tenant text",
                        "after_scope text",
                        "after_key text",
                        "limit int"),
                quoted(tenant),
                quoted(scope),
                quoted(state),
                after == null ? "null" : "'t5'",
                after == null ? "null" : "'order.create'",
                quoted(after),
                PAGE);
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(2 * PAGE);
    }

    @Test
    void aCompleterReadsOnlyWhatRuns() throws SQLException {
        Plan plan = Plan.explain(
                database,
                Plan.CUSTOM,
                Idempotency.class,
                "find_lapsed.sql",
                List.of("scope text", "after_tenant text", "after_key text", "limit int"),
                "'order.create'",
                "''",
                "''",
                PAGE);
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(KEYS / 10_000);
    }

    /** What a function does is not in its caller's plan: count what the server has read. */
    @ParameterizedTest
    @ValueSource(strings = {"k-107", "k-unknown", "k-500000"})
    void aClaimScansNothing(String key) throws SQLException {
        try (Connection tx = database.begin()) {
            claimOften(tx, key);
            tx.rollback();
        }
    }

    /** The session made its plan when there was next to nothing to read, and keeps it. */
    @Test
    void aClaimThatWasPlannedForASmallTableScansNothingWhenItHasGrown() throws SQLException {
        try (TestDatabase small = TestDatabase.create();
                Connection tx = small.begin();
                Statement statement = tx.createStatement()) {
            small.execute(ONE_KEY, "vacuum analyze postroom.idempotency_key");
            claimOften(tx, "k-1");
            statement.execute(
                    ONE_KEY.replace("'k-1'", "'n-' || n").replace(";", " from generate_series(1, 10000) as n;"));
            claimOften(tx, "k-1");
            tx.rollback();
        }
    }

    private static final String ONE_KEY =
            "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response,"
                    + " completed_at, expires_at) select 't7', 'order.create', 'k-1', sha256(''), 'completed', 200, '', now(),"
                    + " now() + interval '1 hour';";

    /** So often that the session keeps a plan for all keys. */
    private static void claimOften(Connection tx, String key) throws SQLException {
        KeyTable table = new KeyTable(Schema.POSTROOM);
        Request request = new Request(new IdempotencyKey("t7", "order.create", key), new byte[Request.HASH_BYTES]);
        for (int i = 0; i < 20; i++) {
            table.claim(tx, request);
        }
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(
                        "select pg_stat_get_xact_tuples_returned(table_id),"
                                + " pg_stat_get_xact_numscans(table_id) from (select 'postroom.idempotency_key'::regclass) as t (table_id)")) {
            row.next();
            assertThat(row.getLong(1)).as("rows of sequential scans").isZero();
            assertThat(row.getLong(2)).as("sequential scans").isZero();
        }
    }

    /** By their primary key, three times: to lock them without waiting, to change them, and to say whose they are. */
    @ParameterizedTest
    @ValueSource(strings = {Plan.CUSTOM, Plan.GENERIC})
    void keysAreKeptByTheirPrimaryKey(String mode) throws SQLException {
        Plan plan = Plan.explain(
                database,
                mode,
                Idempotency.class,
                "renew.sql",
                List.of("tenants text[]", "scopes text[]", "keys text[]", "fences bigint[]", "leases text[]"),
                "array['t0', 't0']",
                "array['order.create', 'order.create']",
                "array['k-10000', 'k-10010']",
                "array[1, 1]::bigint[]",
                "array['30', '30']");
        assertThat(plan.scans())
                .as(plan.text())
                .filteredOn(scan -> scan.contains("idempotency_key"))
                .isNotEmpty()
                .allMatch(scan -> scan.startsWith("Index"));
        assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(20);
    }

    /** By its primary key, twice: to lock it without waiting, and to change it. */
    @ParameterizedTest
    @ValueSource(strings = "take_over.sql")
    void aKeyIsTakenByItsPrimaryKey(String file) throws SQLException {
        List<String> all = new java.util.ArrayList<>(KEY);
        all.addAll(List.of("fence bigint", "lease float8"));
        for (String mode : List.of(Plan.CUSTOM, Plan.GENERIC)) {
            Plan plan = Plan.explain(
                    database, mode, Idempotency.class, file, all, "'t0'", "'order.create'", "'k-10000'", "1", "30");
            assertThat(plan.scans())
                    .as(plan.text())
                    .filteredOn(scan -> scan.contains("idempotency_key"))
                    .hasSize(2)
                    .allMatch(scan -> scan.startsWith("Index Scan"));
            assertThat(plan.rowsTouched()).as(plan.text()).isLessThanOrEqualTo(3);
        }
    }

    /** The second one finds nothing, and must not read all that has not expired in order to know. */
    @Test
    void aPurgeThatFindsNothingReadsNextToNothing() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement()) {
            statement.execute("select postroom.purge_keys(100000)");
            long before = entriesRead(statement);
            statement.execute("select postroom.purge_keys(100000)");
            // What this transaction has deleted is still in the index, nobody may remove it yet.
            assertThat(entriesRead(statement) - before).isLessThan(KEYS / 5);
            tx.rollback();
        }
    }

    /** Of the index, and of the table in sequential scans. */
    private static long entriesRead(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery(
                "select pg_stat_get_xact_tuples_returned('postroom.idempotency_key_expires'::regclass)"
                        + " + pg_stat_get_xact_tuples_returned('postroom.idempotency_key'::regclass)")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void aPurgeReadsWhatHasExpired() throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery("select postroom.purge_keys(100)")) {
            row.next();
            assertThat(row.getInt(1)).isEqualTo(100);
            try (Statement counter = tx.createStatement();
                    ResultSet read = counter.executeQuery(
                            "select pg_stat_get_xact_tuples_returned('postroom.idempotency_key'::regclass)")) {
                read.next();
                assertThat(read.getLong(1)).as("rows of sequential scans").isZero();
            }
            tx.rollback();
        }
    }

    private static String quoted(String text) {
        return text == null ? "null" : "'" + text + "'";
    }
}
