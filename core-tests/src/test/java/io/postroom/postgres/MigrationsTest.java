package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.outbox.Outbox;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.Backoff;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MigrationsTest {
    private static final int KILLS = Boolean.getBoolean("postroom.long") ? 30 : 4;
    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** What a plain migration leaves in the catalog. */
    static List<String> expected;

    TestDatabase database;
    Migrations migrations;

    @BeforeAll
    static void migratePlainly() throws SQLException {
        try (TestDatabase plain = TestDatabase.create()) {
            expected = catalog(plain);
        }
    }

    @AfterAll
    static void forget() {
        expected = List.of();
    }

    @BeforeEach
    void create() {
        database = TestDatabase.empty(TestPostgres.shared());
        migrations = database.postroom().migrations();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** Whoever reads a step sees what holds, not what a later step replaces. Partitions are kept for tables that come one by one. */
    @Test
    void everyFunctionIsWrittenInOneStepOnly() {
        Pattern function = Pattern.compile("create (?:or replace )?function /\\*schema\\*/(\\w+)\\(");
        List<String> names = Migration.ALL.stream()
                .flatMap(step -> function.matcher(step.text())
                        .results()
                        .map(found -> found.group(1))
                        .distinct())
                .filter(name -> !name.equals("keep_partitions"))
                .toList();
        assertThat(names).contains("stamp", "read", "restamp").doesNotHaveDuplicates();
    }

    @Test
    void bringsAnEmptyDatabaseUpToDate() {
        assertThat(migrations.status()).extracting(MigrationState::state).containsOnly(MigrationState.Word.PENDING);
        assertThat(catchThrowableOfType(PostroomException.class, migrations::validate)
                        .code())
                .isEqualTo("schema.missing");
        assertThat(migrations.migrate()).hasSameSizeAs(Migration.ALL).allSatisfy(applied -> {
            assertThat(applied.state()).isEqualTo(MigrationState.Word.APPLIED);
            assertThat(applied.appliedBy()).isEqualTo("postgres");
            assertThat(applied.appliedAt()).isNotNull();
        });
        migrations.validate();
        delivers(database.postroom());
    }

    @Test
    void hasNothingToDoTheSecondTime() throws SQLException {
        migrations.migrate();
        List<MigrationState> before = migrations.status();
        assertThat(migrations.migrate()).isEmpty();
        assertThat(migrations.status()).isEqualTo(before);
        assertThat(catalog(database)).isEqualTo(expected);
    }

    @Test
    void saysWhatIsMissingFromAnOlderSchema() throws SQLException {
        run(migrations.print(1, 2));
        assertThatThrownBy(migrations::validate)
                .hasMessageContaining("version 3 (journal) is missing")
                .extracting("code")
                .isEqualTo("schema.older");
        assertThat(migrations.migrate()).extracting(MigrationState::version).startsWith(3);
        assertThat(catalog(database)).isEqualTo(expected);
    }

    @Test
    void manyAtOnceApplyEachMigrationOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(6);
        try {
            List<Callable<Integer>> six =
                    java.util.Collections.nCopies(6, () -> migrations.migrate().size());
            int applied = 0;
            for (Future<Integer> each : threads.invokeAll(six)) {
                applied += each.get();
            }
            assertThat(applied).isEqualTo(Migration.ALL.size());
        } finally {
            threads.shutdownNow();
        }
        assertThat(catalog(database)).isEqualTo(expected);
    }

    @Test
    void twoProcessesAtOnceApplyEachMigrationOnce() throws Exception {
        try (ChildJvm one = ChildJvm.start(MigrateMain.class, List.of(), database.url());
                ChildJvm two = ChildJvm.start(MigrateMain.class, List.of(), database.url())) {
            int applied = 0;
            for (ChildJvm each : List.of(one, two)) {
                assertThat(each.awaitExit(PATIENCE)).as(each.toString()).isZero();
                applied += Integer.parseInt(each.awaitLine("applied ", PATIENCE).substring(8));
            }
            assertThat(applied).isEqualTo(Migration.ALL.size());
        }
        migrations.validate();
        assertThat(catalog(database)).isEqualTo(expected);
    }

    @Test
    void goesOnAfterKillsAtRandomMoments() throws Exception {
        Random random = new Random(20_261_115);
        int unfinished = 0;
        for (int i = 0; i < KILLS; i++) {
            try (TestDatabase killed = TestDatabase.empty(TestPostgres.shared());
                    ChildJvm child = ChildJvm.start(MigrateMain.class, List.of(), killed.url())) {
                child.awaitLine("ready", PATIENCE);
                if (!endsWithin(child, Duration.ofMillis(random.nextInt(150)))) {
                    child.kill();
                }
                Migrations after = killed.postroom().migrations();
                unfinished += after.migrate().isEmpty() ? 0 : 1;
                after.validate();
                assertThat(catalog(killed)).isEqualTo(expected);
            }
        }
        assertThat(unfinished).as("kills that hit a migration").isPositive();
    }

    @Test
    void aKillInTheMiddleOfAMigrationLeavesItNotBegun() throws Exception {
        run(migrations.print(1, 2));
        try (Connection locker = database.begin()) {
            // The third migration makes a table first and writes into this one then.
            execute(locker, "lock table postroom.daily_table in access exclusive mode");
            try (ChildJvm child = ChildJvm.start(MigrateMain.class, List.of(), database.url())) {
                child.awaitLine("ready", PATIENCE);
                awaitLockWait(1);
                child.kill();
            }
            locker.rollback();
        }
        assertThat(migrations.migrate()).extracting(MigrationState::version).startsWith(3);
        assertThat(catalog(database)).isEqualTo(expected);
    }

    @Test
    void refusesASchemaThatWasMadeFromAnotherFile() {
        migrations.migrate();
        database.execute("update postroom.migration set checksum = 'edited' where version = 2");
        for (Runnable step : List.<Runnable>of(migrations::migrate, migrations::validate)) {
            assertThatThrownBy(step::run)
                    .hasMessageContaining("version 2 (outbox)")
                    .extracting("code")
                    .isEqualTo("schema.changed");
        }
        assertThat(migrations.status().get(1).state()).isEqualTo(MigrationState.Word.CHANGED);
    }

    @Test
    void refusesANewerSchema() {
        migrations.migrate();
        int newer = Migrations.latest() + 1;
        database.execute("insert into postroom.migration (version, name) values (" + newer + ", 'future')");
        for (Runnable step : List.<Runnable>of(migrations::migrate, migrations::validate)) {
            assertThatThrownBy(step::run)
                    .hasMessageContaining("version " + newer + " (future)")
                    .hasMessageContaining("knows up to " + Migrations.latest())
                    .extracting("code")
                    .isEqualTo("schema.newer");
        }
        assertThat(migrations.status()).last().satisfies(state -> {
            assertThat(state.version()).isEqualTo(newer);
            assertThat(state.state()).isEqualTo(MigrationState.Word.NEWER);
        });
    }

    @Test
    void givesUpOnALockedTableAndNamesWhoHoldsIt() throws Exception {
        migrations.migrate();
        Duration lockTimeout = Duration.ofMillis(200);
        Migrations impatient = new Migrations(
                database.postroom().database(),
                withColumn("extra"),
                new Migrations.Patience(lockTimeout, 4, new Backoff(Duration.ofMillis(20), Duration.ofMillis(50))));
        Outbox outbox = database.postroom().outbox();
        long longest = 0;
        try (Connection slow = database.begin()) {
            execute(slow, "set application_name = 'nightly report'");
            outbox.publish(slow, Messages.sample());
            long pid = query(slow, "select pg_backend_pid()");

            CompletableFuture<PostroomException> refusal = CompletableFuture.supplyAsync(
                    () -> catchThrowableOfType(PostroomException.class, impatient::migrate));
            awaitLockWait(1);
            while (!refusal.isDone()) {
                long began = System.nanoTime();
                try (Connection tx = database.begin()) {
                    outbox.publish(tx, Messages.sample());
                    tx.commit();
                }
                longest = Math.max(longest, System.nanoTime() - began);
            }
            assertThat(refusal.get().code()).isEqualTo("schema.locked");
            assertThat(refusal.get())
                    .hasMessageContaining("4 tries of 200 ms")
                    .hasMessageContaining("pid " + pid + " (nightly report)")
                    .hasMessageContaining("run migrate again");
            slow.commit();
        }
        assertThat(Duration.ofNanos(longest))
                .as("the longest an application waited behind the migration")
                .isLessThan(lockTimeout.plusMillis(700));
        assertThat(impatient.migrate()).hasSize(1);
        assertThat(impatient.migrate()).isEmpty();
        assertThat(query("select count(*) from information_schema.columns where table_schema = 'postroom'"
                        + " and table_name = 'outbox' and column_name = 'extra'"))
                .isOne();
    }

    @Test
    void waitsOutAShortLock() throws Exception {
        migrations.migrate();
        Migrations patient = new Migrations(
                database.postroom().database(),
                withColumn("extra"),
                new Migrations.Patience(
                        Duration.ofMillis(100), 100, new Backoff(Duration.ofMillis(10), Duration.ofMillis(20))));
        try (Connection slow = database.begin()) {
            database.postroom().outbox().publish(slow, Messages.sample());
            CompletableFuture<List<MigrationState>> applied = CompletableFuture.supplyAsync(patient::migrate);
            awaitLockWait(1);
            slow.commit();
            assertThat(applied.get()).hasSize(1);
        }
    }

    @Test
    void anOldNodeWorksOnWhileTheSchemaMovesAhead() {
        migrations.migrate();
        new Migrations(
                        database.postroom().database(),
                        withColumn("extra"),
                        new Migrations.Patience(
                                Duration.ofSeconds(1), 3, new Backoff(Duration.ofMillis(10), Duration.ofMillis(20))))
                .migrate();
        delivers(database.postroom());
    }

    @Test
    void refusesADatabaseThatCannotHoldEveryPayload() {
        String name = database.name() + "_latin";
        TestPostgres.shared()
                .execute("create database " + name
                        + " template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'");
        try (TestDatabase latin = TestDatabase.existing(TestPostgres.shared(), name)) {
            assertThatThrownBy(() -> latin.postroom().migrations().migrate())
                    .hasMessageContaining("LATIN1")
                    .extracting("code")
                    .isEqualTo("postgres.encoding");
        }
    }

    @Test
    void saysThatTheRoleMayNot() throws SQLException {
        Logins logins = new Logins(database);
        try {
            logins.create("nobody");
            Migrations forbidden = Postroom.on(logins.as("nobody")).migrations();
            assertThatThrownBy(forbidden::migrate)
                    .hasMessageContaining("may not create")
                    .hasMessageContaining("postroom schema print")
                    .extracting("code")
                    .isEqualTo("schema.forbidden");
            migrations.migrate();
            assertThatThrownBy(forbidden::migrate).extracting("code").isEqualTo("schema.forbidden");
        } finally {
            logins.close();
        }
    }

    @Test
    void aRoleWithoutMoreThanItsDatabaseCanMigrate() throws SQLException {
        Logins logins = new Logins(database);
        try {
            logins.create("app");
            database.execute("grant create on database " + database.name() + " to " + logins.name("app"));
            Postroom own = Postroom.on(logins.as("app"));
            own.migrations().migrate();
            delivers(own);
        } finally {
            logins.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "select", "_x9", "public", "s123456789_123456789_123456789_"})
    void anySchemaNameWillDo(String name) {
        Postroom named = Postroom.builder(database.dataSource()).schema(name).build();
        named.migrations().migrate();
        named.migrations().validate();
        delivers(named);
    }

    @Test
    void twoSchemasInOneDatabaseKnowNothingOfEachOther() {
        Postroom one = Postroom.builder(database.dataSource()).schema("one").build();
        Postroom two = Postroom.builder(database.dataSource()).schema("two").build();
        one.migrations().migrate();
        assertThat(two.migrations().status())
                .extracting(MigrationState::state)
                .containsOnly(MigrationState.Word.PENDING);
        two.migrations().migrate();
        delivers(one);
        assertThat(query("select count(*) from two.outbox")).isZero();
        delivers(two);
        assertThat(query("select count(*) from one.journal")).isEqualTo(query("select count(*) from two.journal"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "Postroom",
                "9lives",
                "pg_mine",
                "a-b",
                "a b",
                "a\"b",
                "a;drop",
                "a.b",
                "é",
                "a\n",
                "s123456789_123456789_123456789_1"
            })
    void refusesSchemaNamesThatWouldNeedCare(String name) {
        assertThatThrownBy(() -> new Schema(name))
                .hasMessageContaining("1 to 31 lower-case letters")
                .extracting("code")
                .isEqualTo("schema.name-invalid");
    }

    @Test
    void theFolderHoldsTheListedFilesAndNoOthers() throws Exception {
        List<String> listed = Migration.ALL.stream()
                .map(migration -> String.format("V%03d__%s.sql", migration.version(), migration.name()))
                .toList();
        assertThat(filesIn(Migration.FOLDER)).containsExactlyElementsOf(listed);
        assertThat(Migration.ALL)
                .extracting(Migration::version)
                .isSorted()
                .doesNotHaveDuplicates()
                .startsWith(1);
        assertThat(Migration.ALL)
                .allSatisfy(migration -> assertThat(migration.text())
                        .contains("insert into /*schema*/migration (version, name) values (" + migration.version()
                                + ", '" + migration.name() + "')"));
    }

    @Test
    void flywayRunsTheSameFiles() throws SQLException {
        Flyway flyway = flyway("postroom");
        assertThat(flyway.migrate().migrationsExecuted).isEqualTo(Migration.ALL.size());
        flyway.validate();
        migrations.validate();
        assertThat(migrations.migrate()).isEmpty();
        assertThat(catalog(database).stream().filter(line -> !line.contains("flyway_schema_history")))
                .containsExactlyElementsOf(expected);
        delivers(database.postroom());
    }

    @Test
    void flywayTakesAnotherSchemaNameToo() {
        flyway("letters").migrate();
        Postroom letters =
                Postroom.builder(database.dataSource()).schema("letters").build();
        letters.migrations().validate();
        delivers(letters);
    }

    private Flyway flyway(String schema) {
        FluentConfiguration configuration = Flyway.configure()
                .dataSource(database.dataSource())
                .locations("classpath:db/postroom/migration")
                .schemas(schema)
                .placeholderPrefix("/*")
                .placeholderSuffix("*/")
                .placeholders(Map.of("schema", schema + "."));
        return configuration.load();
    }

    @Test
    void whatIsPrintedMakesASchemaThatFits() throws SQLException {
        run(migrations.print(1, Migrations.latest()));
        migrations.validate();
        assertThat(migrations.migrate()).isEmpty();
        assertThat(catalog(database)).isEqualTo(expected);
        delivers(database.postroom());
    }

    @Test
    void printsStepByStep() throws SQLException {
        for (int version = 1; version <= Migrations.latest(); version++) {
            run(migrations.print(version, version));
        }
        migrations.validate();
        assertThat(catalog(database)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0 1", "2 1", "1 99", "-1 2"})
    void refusesToPrintWhatIsNotThere(String range) {
        int from = Integer.parseInt(range.split(" ")[0]);
        int to = Integer.parseInt(range.split(" ")[1]);
        assertThatThrownBy(() -> migrations.print(from, to))
                .hasMessageContaining("the range is 1 to " + Migrations.latest())
                .extracting("code")
                .isEqualTo("schema.range-invalid");
    }

    private static List<Migration> withColumn(String name) {
        int version = Migrations.latest() + 1;
        List<Migration> shipped = new ArrayList<>(Migration.ALL);
        shipped.add(new Migration(
                version,
                "column",
                "alter table /*schema*/outbox add column " + name + " text;\n"
                        + "insert into /*schema*/migration (version, name) values (" + version + ", 'column');"));
        return shipped;
    }

    /** Publishes with Java and with SQL, and gets both delivered. */
    private static void delivers(Postroom postroom) {
        List<String> seen = new ArrayList<>();
        postroom.database().transact(tx -> {
            postroom.outbox().publish(tx, Messages.order("java"));
            try (Statement statement = tx.createStatement()) {
                statement.execute("select " + postroom.database().schema().fill("/*schema*/")
                        + "publish('order', 'sql', 'OrderPlaced', '{}')");
            }
            return true;
        });
        try (Relay relay = postroom.relay()
                .handle(
                        Subscription.named("all").lanes(1).build(),
                        envelope -> seen.add(envelope.message().aggregateId()))
                .build()) {
            relay.runOnce();
        }
        assertThat(seen).containsExactly("java", "sql");
    }

    /** Every table, column, index, constraint and function of the schema, however its name was written. */
    private static List<String> catalog(TestDatabase database) throws SQLException {
        List<String> lines = new ArrayList<>();
        try (Connection tx = database.begin();
                Statement statement = tx.createStatement();
                ResultSet rows = statement.executeQuery("""
                        select format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                                      pg_get_expr(d.adbin, d.adrelid))
                        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
                        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
                        where c.relnamespace = 'postroom'::regnamespace and c.relkind in ('r', 'p')
                        union all
                        select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indexrelid
                        where c.relnamespace = 'postroom'::regnamespace
                        union all
                        select conname || pg_get_constraintdef(oid) from pg_constraint
                        where connamespace = 'postroom'::regnamespace
                        union all
                        select replace(pg_get_functiondef(oid), '"postroom"', 'postroom') || proacl::text from pg_proc
                        where pronamespace = 'postroom'::regnamespace
                        union all
                        select format('%s %s', name, has_default) from postroom.daily_table
                        order by 1""")) {
            while (rows.next()) {
                lines.add(rows.getString(1));
            }
        }
        return lines;
    }

    private static List<String> filesIn(String folder) throws IOException, URISyntaxException {
        URI uri = MigrationsTest.class.getResource(folder).toURI();
        if (!uri.getScheme().equals("jar")) {
            return filesIn(Path.of(uri));
        }
        try (FileSystem jar = FileSystems.newFileSystem(uri, Map.of())) {
            return filesIn(jar.getPath(folder));
        }
    }

    private static List<String> filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static boolean endsWithin(ChildJvm child, Duration time) throws InterruptedException {
        try {
            child.awaitExit(time);
            return true;
        } catch (AssertionError stillRunning) {
            return false;
        }
    }

    /** Until so many sessions of this database wait for a lock. */
    private void awaitLockWait(int sessions) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (query(
                        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
                < sessions) {
            assertThat(System.nanoTime())
                    .as("somebody waits for a lock in time")
                    .isLessThan(deadline);
        }
    }

    private void run(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            execute(connection, sql);
        }
    }

    private long query(String sql) {
        return database.queryLong(sql);
    }

    private static long query(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
