package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GrantsTest {
    static final List<String> ROLES = List.of("writer", "relay", "reader", "operator", "consumer");

    /** select, insert, update (of any column), delete, truncate; usage and create of the schema; execution of a function. */
    static final String EXPECTED = """
                               writer relay  reader operator consumer
            schema             u      u      u      u      u
            act                -      -      -      siud   -
            archive_day        -      s      s      s      -
            archived_message   -      s      s      s      s
            attempt            -      si     s      s      -
            audit              i      i      s      si     -
            circuit            -      siud   s      s      -
            cluster            -      s      s      s      -
            consumer_offset    -      s      s      s      siu
            daily_table        -      s      s      s      -
            dead_letter        -      siu    s      siu    -
            delivery           -      siud   s      siud   -
            external_call      siu    siu    s      su     -
            generation         -      siu    s      siud   -
            idempotency_key    siud   -      s      sud    -
            inbox              -      s      s      s      s
            inbox_consumer     -      siu    s      s      siu
            job                si     siud   s      siud   -
            job_attempt        -      si     s      si     -
            job_batch          si     sd     s      s      -
            job_done           -      si     s      si     -
            job_limit          siu    s      s      siu    -
            job_need           -      sd     s      s      -
            job_queue          -      s      s      siu    -
            job_rate           -      siud   s      s      -
            journal            -      s      s      s      -
            journal_archive    -      s      s      s      -
            lane               -      siud   s      siud   -
            lease              siu    siu    s      s      siu
            lock_name          siu    siu    s      s      siu
            materialized_view  -      siu    s      siud   -
            message            -      s      s      s      s
            migration          -      s      s      s      -
            outbox             i      s      s      s      -
            outbox_archive     -      s      s      s      -
            read_model         -      siu    s      siu    -
            redrive            -      su     s      siu    -
            redriven_letter    -      siud   s      si     -
            relay              -      siud   s      s      -
            schedule           siu    su     s      siud   -
            schedule_run       -      siud   s      siu    -
            settlement         -      sid    s      sd     -
            source_offset      -      siu    s      sid    -
            subscription       -      siu    s      siud   -
            subscription_move  -      s      s      siu    -
            tick               -      s      s      s      -
            worker             -      siud   s      s      -
            every partition    -      -      -      -      -
            every sequence     -      -      s      s      -
            accept             -      x      -      -      x
            archive_step       -      x      -      x      -
            attempt_history    -      x      -      x      -
            check_lock         x      x      -      -      x
            compare_tables     -      -      -      x      -
            content_problem    x      -      -      -      -
            day_needs          -      x      x      x      -
            declare_inbox      -      x      -      -      x
            drop_archived_day  -      x      -      x      -
            drop_schema        -      -      -      x      -
            enqueue            x      -      -      -      -
            enqueue_bound      x      x      -      x      -
            forget_inbox_day   -      x      -      -      -
            forget_job_day     -      x      -      -      -
            freshness          x      x      x      x      x
            has_strays         -      x      x      x      -
            hold               x      x      -      -      x
            hot_days           -      x      x      x      -
            inbox_day          -      -      -      -      -
            job_history        -      x      -      x      -
            json_repeats_key   x      -      -      -      -
            keep_archive       -      x      x      x      -
            keep_partitions    -      x      -      x      -
            kept_after         -      x      x      x      -
            key_hash           -      -      -      -      -
            lapsed_keys        -      x      -      -      -
            last_position      -      -      x      x      x
            let_read           -      x      -      -      -
            lock_key           x      x      x      x      x
            make_schema        -      x      -      -      -
            may_be_unstamped   -      -      -      -      -
            message_at         -      x      x      x      -
            next_kept          -      -      -      -      -
            outbox_days        -      -      -      -      -
            passed_at          -      x      x      x      -
            publish            x      -      -      -      -
            purge_inbox        -      x      -      -      -
            purge_keys         -      x      -      -      -
            purge_locks        -      x      -      -      -
            read               -      -      x      x      x
            refresh_view       -      x      -      x      -
            refuse_job_state   -      -      -      -      -
            refuse_key_state   -      -      -      -      -
            restamp            -      x      -      -      -
            retry_policy       x      -      -      -      -
            stamp              -      x      -      -      -
            stored_bytes       -      -      -      -      -
            swap_schemas       -      -      -      x      -
            thin_ticks         -      x      -      -      -
            time_ordered_id    x      -      -      -      -
            try_hold           x      x      -      -      x
            unstamped          -      x      x      x      -
            """;

    static TestDatabase database;
    static Grants grants;
    static Logins logins;

    @BeforeAll
    static void create() throws SQLException {
        database = TestDatabase.create();
        logins = new Logins(database);
        grants = named(database);
        run(database.dataSource(), grants.print(Schema.POSTROOM));
        logins.adopt(grants.roles().toArray(String[]::new));
        for (String role : ROLES) {
            logins.create("login_" + role);
            database.execute("grant " + database.name() + "_" + role + " to " + logins.name("login_" + role));
        }
        logins.create("login_owner");
        database.execute("grant " + database.name() + "_owner to " + logins.name("login_owner"));
        logins.create("stranger");
    }

    @AfterAll
    static void drop() {
        logins.close();
        database.close();
    }

    private static Grants named(TestDatabase database) {
        return Grants.of(new Schema(database.name()));
    }

    @Test
    void everyRoleCanDoWhatIsWrittenHereAndNothingElse() throws SQLException {
        assertThat(matrix(ROLES.stream().map(role -> "login_" + role).toList())).isEqualTo(EXPECTED);
    }

    @Test
    void theOwnerCanDoEverythingInTheSchemaAndNobodyLogsInAsOneOfTheseRoles() throws SQLException {
        assertThat(matrix(Collections.nCopies(ROLES.size(), "login_owner"))
                        .lines()
                        .skip(1))
                .allSatisfy(line -> assertThat(line)
                        .matches("schema( +uc){5}|(archived_)?message( +s){5}|every sequence( +su){5}|[a-z_]+( +x){5}"
                                + "|(every partition|[a-z_]+)( +siudt){5}"));
        assertThat(grants.roles()).hasSize(ROLES.size() + 1);
        for (String role : grants.roles()) {
            assertThat(
                            database.queryLong(
                                    "select count(*) from pg_roles where rolname = '" + role
                                            + "' and not (rolcanlogin or rolsuper or rolcreatedb or rolcreaterole or rolbypassrls or rolreplication)"))
                    .as(role)
                    .isOne();
        }
    }

    @Test
    void aStrangerCanDoNothing() throws SQLException {
        assertThat(matrix(List.of("stranger", "stranger", "stranger", "stranger", "stranger"))
                        .lines()
                        .skip(1))
                .allSatisfy(line -> assertThat(line).matches("[a-z_ ]+? +- +- +- +- +-"));
    }

    @Test
    void runningItAgainChangesNothing() throws SQLException {
        run(database.dataSource(), grants.print(Schema.POSTROOM));
        assertThat(matrix(ROLES.stream().map(role -> "login_" + role).toList())).isEqualTo(EXPECTED);
    }

    /** Tries each verb for real: what PostgreSQL answers with "permission denied" is denied, anything else is not. */
    private static String matrix(List<String> roles) throws SQLException {
        Map<String, List<String>> rows = new LinkedHashMap<>();
        rows.put("schema", new ArrayList<>());
        List<String> tables = names("""
                select relname from pg_class where relnamespace = 'postroom'::regnamespace and relkind in ('r', 'p', 'v')
                and not relispartition order by relname""");
        List<String> partitions = names("""
                select relname from pg_class where relnamespace = 'postroom'::regnamespace and relkind = 'r'
                and relispartition order by relname""");
        List<String> sequences = names("""
                select relname from pg_class where relnamespace = 'postroom'::regnamespace and relkind = 'S' order by relname""");
        List<String> functions = names("""
                select format('%s(%s)', proname, (select string_agg('null::' || format_type(type, null), ', ' order by n)
                                                  from unnest(proargtypes) with ordinality as argument (type, n)))
                from pg_proc where pronamespace = 'postroom'::regnamespace order by proname""");
        Map<String, List<String>> columns = new LinkedHashMap<>();
        for (String pair : names("""
                select relname || ' ' || attname
                from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
                where relnamespace = 'postroom'::regnamespace and relkind in ('r', 'p', 'v') order by relname, attnum""")) {
            columns.computeIfAbsent(pair.split(" ")[0], ignored -> new ArrayList<>())
                    .add(pair.split(" ")[1]);
        }
        assertThat(partitions).hasSizeGreaterThan(30);
        for (String role : roles) {
            try (Connection tx = logins.as(role).getConnection()) {
                tx.setAutoCommit(false);
                rows.get("schema").add(schemaVerbs(tx, logins.name(role)));
                for (String table : tables) {
                    rows.computeIfAbsent(table, ignored -> new ArrayList<>()).add(tableVerbs(tx, columns, table));
                }
                rows.computeIfAbsent("every partition", ignored -> new ArrayList<>())
                        .add(common(partitions.stream()
                                .map(each -> tableVerbs(tx, columns, each))
                                .toList()));
                rows.computeIfAbsent("every sequence", ignored -> new ArrayList<>())
                        .add(common(sequences.stream()
                                .map(each -> sequenceVerbs(tx, each))
                                .toList()));
                for (String call : functions) {
                    rows.computeIfAbsent(call.replaceFirst("\\(.*", ""), ignored -> new ArrayList<>())
                            .add(allowed(tx, "select postroom." + call) ? "x" : "-");
                }
                tx.rollback();
            }
        }
        StringBuilder text = new StringBuilder(line("", ROLES));
        rows.forEach((object, verbs) -> text.append(line(object, verbs)));
        return text.toString();
    }

    private static String schemaVerbs(Connection tx, String login) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row =
                        statement.executeQuery("select has_schema_privilege('" + login + "', 'postroom', 'usage'),"
                                + " has_schema_privilege('" + login + "', 'postroom', 'create')")) {
            row.next();
            return orDash((row.getBoolean(1) ? "u" : "") + (row.getBoolean(2) ? "c" : ""));
        }
    }

    private static String tableVerbs(Connection tx, Map<String, List<String>> columns, String table) {
        String name = "postroom." + table;
        return orDash((allowed(tx, "select count(*) from " + name) ? "s" : "")
                + (allowed(tx, "insert into " + name + " default values") ? "i" : "")
                + (columns.get(table).stream()
                                .anyMatch(column ->
                                        allowed(tx, "update " + name + " set \"" + column + "\" = default where false"))
                        ? "u"
                        : "")
                + (allowed(tx, "delete from " + name + " where false") ? "d" : "")
                + (allowed(tx, "truncate " + name) ? "t" : ""));
    }

    private static String sequenceVerbs(Connection tx, String sequence) {
        return orDash((allowed(tx, "select last_value from postroom." + sequence) ? "s" : "")
                + (allowed(tx, "select nextval('postroom." + sequence + "')") ? "u" : ""));
    }

    private static boolean allowed(Connection tx, String sql) {
        try {
            Savepoint before = tx.setSavepoint();
            try (Statement statement = tx.createStatement()) {
                statement.execute(sql);
                return true;
            } catch (SQLException e) {
                assertThat(e.getSQLState())
                        .as("%s: %s", sql, e.getMessage())
                        .isNotIn("42601", "42703", "42P01", "42883");
                // Into a view of two tables nobody can write.
                return !Set.of(SqlState.INSUFFICIENT_PRIVILEGE, "55000", "42809")
                        .contains(e.getSQLState());
            } finally {
                tx.rollback(before);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String common(List<String> verbs) {
        return String.join("/", new TreeSet<>(verbs));
    }

    private static String orDash(String verbs) {
        return verbs.isEmpty() ? "-" : verbs;
    }

    private static String line(String first, List<String> rest) {
        StringBuilder line = new StringBuilder(String.format("%-18s", first));
        rest.forEach(each -> line.append(String.format(" %-6s", each)));
        return line.toString().stripTrailing() + "\n";
    }

    @Test
    void aWriterPublishesInJavaAndSqlAndSetsNothingElse() throws SQLException {
        Postroom postroom = Postroom.on(logins.as("login_writer"));
        postroom.database().transact(tx -> {
            postroom.outbox().publish(tx, Messages.order("single"));
            postroom.outbox().publishAll(tx, Messages.ofManyKeys("batch", 3));
            try (Statement statement = tx.createStatement()) {
                statement.execute(
                        "select postroom.publish('order', 'sql', 'OrderPlaced', '{}', headers => '{\"a\":\"b\"}')");
            }
            return true;
        });
        assertThat(database.queryLong("select count(*) from postroom.outbox where aggregate_id in ('single', 'sql')"))
                .isEqualTo(2);
        String insert = "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload, %s)"
                + " overriding system value values (gen_random_uuid(), 'a', 'b', 'c', '{}', %s)";
        for (String[] forged : new String[][] {{"xid", "'3'"}, {"seq", "1"}, {"day", "'2020-01-01'"}}) {
            assertThatThrownBy(() -> run(logins.as("login_writer"), String.format(insert, forged[0], forged[1])))
                    .as("setting " + forged[0])
                    .hasMessageContaining("permission denied");
        }
    }

    @Test
    void aRelayLoginRunsAWholeRelayAndMaintenance() throws Exception {
        Postroom application = Postroom.on(logins.as("login_writer"));
        Postroom postroom = Postroom.on(logins.as("login_relay"));
        postroom.migrations().validate();
        postroom.maintenance().runOnce();
        RecordingSink sink = new RecordingSink();
        try (Relay relay = postroom.relay()
                .deliver(Subscription.named("least").lanes(2).build(), sink)
                .lease(Duration.ofSeconds(1))
                .settleInterval(Duration.ofMillis(10))
                .build()) {
            relay.start();
            List<Message> messages = Messages.sequence("least", 200);
            application.database().transact(tx -> application.outbox().publishAll(tx, messages));
            sink.awaitAccepted(200, Duration.ofSeconds(20));
            assertThat(sink.accepted("least"))
                    .extracting(Message::id)
                    .isEqualTo(messages.stream().map(Message::id).toList());
            assertThat(relay.lag()).hasSize(1);
        }
        assertThat(database.queryLong(
                        "select count(*) from postroom.lane where subscription = 'least' and owner is null"))
                .as("given back, with what it may do")
                .isEqualTo(2);
    }

    @Test
    void aRelayLoginCanRestampAndKeepPartitions() throws SQLException {
        run(logins.as("login_relay"), "select count(*) from postroom.keep_partitions(17)");
        assertThat(
                        names(
                                "select distinct relowner::regrole::text from pg_class where relnamespace = 'postroom'::regnamespace"))
                .containsExactly(grants.owner());
        run(logins.as("login_relay"), "select * from postroom.restamp()");
    }

    @Test
    void functionsRunWithTheOwnersRightsNotASuperusers() throws SQLException {
        assertThat(
                        names(
                                "select distinct proowner::regrole::text from pg_proc where pronamespace = 'postroom'::regnamespace"))
                .containsExactly(grants.owner());
        assertThat(names("""
                select rolname from pg_roles where rolname like current_database() || '\\_%'
                and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)""")).isEmpty();
        assertThat(names("select rolname from pg_roles where rolcanlogin and rolname in ('"
                        + String.join("', '", grants.roles()) + "')"))
                .isEmpty();
        assertThat(
                        names(
                                "select proname from pg_proc where pronamespace = 'postroom'::regnamespace and prosecdef order by 1"))
                .containsExactly(
                        "accept",
                        "archive_step",
                        "drop_archived_day",
                        "enqueue_bound",
                        "forget_inbox_day",
                        "forget_job_day",
                        "freshness",
                        "has_strays",
                        "keep_partitions",
                        "kept_after",
                        "lapsed_keys",
                        "last_position",
                        "purge_inbox",
                        "purge_keys",
                        "purge_locks",
                        "read",
                        "restamp",
                        "stamp",
                        "thin_ticks",
                        "unstamped");
        assertThat(names("""
                select proname from pg_proc where pronamespace = 'postroom'::regnamespace and prosecdef
                and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)"""))
                .as("functions with the owner's rights and the caller's search_path")
                .isEmpty();
    }

    @Test
    void aMigratorWithoutSuperpowersCanGrantAndMigrateOn() throws SQLException {
        try (TestDatabase own = TestDatabase.empty(TestPostgres.shared());
                Logins its = new Logins(own)) {
            its.create("migrator");
            own.execute(
                    "alter role " + its.name("migrator") + " createrole",
                    "grant create on database " + own.name() + " to " + its.name("migrator") + " with grant option");
            DataSource migrator = its.as("migrator");
            Postroom.on(migrator).migrations().migrate();
            Grants its6 = named(own);
            run(migrator, its6.print(Schema.POSTROOM));
            its.adopt(its6.roles().toArray(String[]::new));
            run(migrator, its6.print(Schema.POSTROOM));
            run(migrator, "alter table postroom.outbox add column extra text");
            assertThat(Postroom.on(migrator).migrations().migrate()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "a\"b", "a'b", "9a", "a;b", "a\nb"})
    void refusesRoleNamesThatWouldNeedCare(String name) {
        assertThatThrownBy(() -> new Grants("owner", name, "relay", "reader", "operator", "consumer"))
                .extracting("code")
                .isEqualTo("schema.role-invalid");
    }

    private static List<String> names(String sql) throws SQLException {
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> names = new ArrayList<>();
            while (rows.next()) {
                names.add(rows.getString(1));
            }
            return names;
        }
    }

    private static void run(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
