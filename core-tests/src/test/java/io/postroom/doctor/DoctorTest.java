package io.postroom.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each test breaks a real database in one way, sees the finding, and mends it with the doctor's own SQL. */
class DoctorTest {
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
    void everyCheckHasItsSectionAndEverySectionItsCheck() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        List<String> sections = Pattern.compile("(?m)^### (PR-D\\d{3})\\b")
                .matcher(Files.readString(root.resolve("docs/operating/doctor.md")))
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(sections)
                .containsExactlyElementsOf(
                        Stream.of(Check.values()).map(Check::id).toList())
                .doesNotHaveDuplicates();
    }

    @Test
    void seesASettingOfARoleOrADatabaseThatLosesCommits() {
        Finding finding = patient.breaksAndMends(
                Check.SYNCHRONOUS_COMMIT_OVERRIDE,
                "alter database " + database.name() + " set synchronous_commit = off",
                "synchronous_commit is off for database " + database.name(),
                "the limit is local");
        assertThat(finding.severity()).isEqualTo(Severity.ERROR);
        patient.breaksAndMends(
                Check.SYNCHRONOUS_COMMIT_OVERRIDE,
                "alter role postgres in database " + database.name() + " set synchronous_commit = off",
                "for role postgres in database " + database.name());
    }

    @Test
    void seesADatabaseThatTakesNoWrites() {
        patient.seesNothing(Check.WRITABLE);
        database.execute("alter database " + database.name() + " set default_transaction_read_only = on");
        patient.mend(patient.sees(Check.WRITABLE, "default_transaction_read_only is on for database"));
        patient.seesNothing(Check.WRITABLE);
    }

    @Test
    void seesAnotherIsolation() {
        patient.breaksAndMends(
                Check.ISOLATION,
                "alter database " + database.name() + " set default_transaction_isolation = 'serializable'",
                "default_transaction_isolation is serializable");
    }

    @Test
    void seesThatPartitionsRunOut() {
        database.execute("""
                do $$
                declare part record;
                begin
                    for part in select c.oid::regclass as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
                                where i.inhparent = 'postroom.journal'::regclass
                                  and c.relname > 'journal_' || to_char(clock_timestamp() at time zone 'utc', 'YYYYMMDD')
                    loop execute format('drop table %s', part.name); end loop;
                end $$""");
        Finding finding =
                patient.sees(Check.PARTITIONS_AHEAD, "journal has partitions for 1 days from today on, the least is 2");
        assertThat(finding.severity()).isEqualTo(Severity.WARNING);
        patient.mend(finding);
        patient.seesNothing(Check.PARTITIONS_AHEAD);
    }

    @Test
    void seesRowsInADefaultPartition() {
        patient.seesNothing(Check.DEFAULT_PARTITION);
        database.execute("""
                insert into postroom.outbox (day, id, aggregate_type, aggregate_id, event_type, payload)
                values ('2001-01-01', gen_random_uuid(), 'order', '1', 'OrderPlaced', '{}')""");
        patient.sees(Check.DEFAULT_PARTITION, "rows lie in the default partition of outbox");
        database.execute("delete from postroom.outbox_default where day < current_date - 30");
        patient.seesNothing(Check.DEFAULT_PARTITION);
    }

    @Test
    void seesASchemaThatIsBehindAheadOrChanged() {
        try (TestDatabase other = TestDatabase.create()) {
            Patient old = new Patient(other);
            old.seesNothing(Check.SCHEMA_BEHIND);
            other.execute(
                    "delete from postroom.migration where version = 16",
                    "drop view postroom.archived_message",
                    "drop table postroom.outbox_archive, postroom.journal_archive, postroom.archive_day",
                    "drop function postroom.message_at, postroom.hot_days, postroom.passed_at, postroom.day_needs,"
                            + " postroom.may_be_unstamped, postroom.archive_step, postroom.drop_archived_day, postroom.keep_archive,"
                            + " postroom.kept_after, postroom.next_kept, postroom.read, postroom.restamp");
            Finding behind = old.sees(Check.SCHEMA_BEHIND, "has version 15, this program needs 16");
            old.mend(behind);
            old.seesNothing(Check.SCHEMA_BEHIND);
            other.execute("insert into postroom.migration (version, name) values (999, 'future')");
            old.sees(Check.SCHEMA_AHEAD, "has version 999");
            other.execute("update postroom.migration set checksum = 'x' where version = 3");
            old.sees(Check.SCHEMA_CHANGED, "migration journal of schema postroom");
        }
    }

    @Test
    void seesADatabaseThatCannotHoldEveryPayload() {
        String name = database.name() + "_ascii";
        TestPostgres.shared()
                .execute("create database " + name + " encoding 'SQL_ASCII' locale 'C' template template0");
        try (TestDatabase ascii = TestDatabase.existing(TestPostgres.shared(), name)) {
            Finding finding = new Patient(ascii).sees(Check.ENCODING, "has encoding SQL_ASCII, UTF8 is needed");
            assertThat(finding.severity()).isEqualTo(Severity.ERROR);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "140011, 2026-11-16, ERROR",
        "150000, 2027-11-11, ",
        "150000, 2027-11-12, WARNING",
        "180001, 2026-11-16, ",
        "190000, 2040-01-01, "
    })
    void seesAServerThatIsTooOld(int version, LocalDate today, @Nullable Severity severity) {
        Server.Login login = new Server.Login("ann", false, false, false);
        Notes notes = new Notes("reader", "ann");
        Server server = new Server(
                version,
                version + "",
                "UTF8",
                false,
                today.atStartOfDay(ZoneOffset.UTC).toInstant(),
                "shop",
                login);
        database.postroom().database().run(tx -> {
            new ServerChecks(new Server.Settings(Schema.POSTROOM), server, notes).look(tx);
            return true;
        });
        assertThat(notes.examination().of(Check.SERVER_VERSION))
                .extracting(Finding::severity)
                .isEqualTo(severity == null ? List.of() : List.of(severity));
    }

    @Test
    void saysThatAStandbyIsNotToBeUsed() {
        Notes notes = new Notes("reader", "ann");
        Server standby = new Server(
                180000, "18.0", "UTF8", true, Instant.EPOCH, "shop", new Server.Login("ann", false, false, false));
        database.postroom().database().run(tx -> {
            new ServerChecks(new Server.Settings(Schema.POSTROOM), standby, notes).look(tx);
            return true;
        });
        assertThat(notes.examination().of(Check.WRITABLE))
                .singleElement()
                .satisfies(finding -> assertThat(finding.evidence()).contains("the server is a standby"));
    }

    /** Whatever was found, the script is one that can be run: comments, and statements that end. */
    @Test
    void namesOfOthersCannotLeaveTheirComments() {
        Examination examination = new Examination(
                List.of(
                        Finding.warning(
                                Check.REPLICATION_SLOT,
                                "slot a\ndrop table x",
                                "do",
                                Fix.of(Fix.Risk.DECISION, "select 'a\ndrop table y'", "select 'a\rdrop table z\r\nb'")),
                        Finding.error(Check.FSYNC, "off", "do", Fix.of(Fix.Risk.HARMLESS, "select 1", "select 2"))),
                List.of());
        assertThat(examination.fixSql().lines())
                .allMatch(line -> line.isEmpty() || line.startsWith("--") || line.matches("select [12];"))
                .containsSequence("select 1;", "select 2;");
        assertThat(examination.fixSql().indexOf("PR-D010"))
                .isLessThan(examination.fixSql().indexOf("PR-D073"));
        assertThat(new Examination(List.of(), List.of()).fixSql()).startsWith("-- Nothing was found");
    }

    @Test
    void tellsWhatItCannotSeeWithoutASchema() {
        Examination examination = io.postroom.Postroom.builder(database.dataSource())
                .schema("elsewhere")
                .build()
                .doctor()
                .examine();
        assertThat(examination.of(Check.SCHEMA_BEHIND).get(0).evidence()).contains("schema elsewhere has version 0");
        assertThat(examination.unchecked()).extracting(Unchecked::check).contains(Check.PARTITIONS_AHEAD);
    }
}
