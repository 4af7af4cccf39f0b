package io.postroom.server.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.doctor.Check;
import io.postroom.doctor.Examination;
import io.postroom.doctor.Finding;
import io.postroom.doctor.Fix;
import io.postroom.doctor.Severity;
import io.postroom.server.CommandRun;
import io.postroom.testkit.FreePort;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class DoctorCommandTest {
    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("alter database " + database.name() + " set synchronous_commit = off");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @Test
    void tellsPeopleWhatWasSeenWhatToDoAndWhereToRead() {
        CommandRun run = run("doctor");
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(run.out())
                .contains(
                        "error    PR-D013  synchronous_commit of a role or database: synchronous_commit is off for database "
                                + database.name())
                .contains("\n         sql: alter database \"" + database.name() + "\" reset synchronous_commit\n")
                .containsPattern("\n         sql: a script of \\d+ lines; --fix-sql prints it\n")
                .contains("\n         see: docs/operating/doctor.md#pr-d013\n")
                .containsPattern("\n\\d+ errors?, \\d+ warnings?, \\d+ notes?");
    }

    @Test
    void tellsProgramsTheSame() {
        CommandRun run = run("doctor", "-o", "json");
        JsonNode whole = JsonMapper.shared().readTree(run.out());
        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(whole.propertyNames()).containsExactly("worst", "findings", "unchecked");
        assertThat(whole.get("worst").asString()).isEqualTo("error");
        JsonNode finding = whole.get("findings").get(0);
        assertThat(finding.propertyNames())
                .containsExactly("id", "severity", "title", "evidence", "advice", "fix", "fixRisk", "page");
        List<String> ids = Stream.concat(
                        whole.get("findings").valueStream(),
                        whole.get("unchecked").valueStream())
                .map(each -> each.get("id").asString())
                .filter(DoctorCommandTest::lasts)
                .toList();
        CommandRun lines = run("doctor", "-o", "jsonl");
        assertThat(lines.out().lines().map(JsonMapper.shared()::readTree))
                .allMatch(line -> line.has("kind"))
                .map(line -> line.get("id").asString())
                .filteredOn(DoctorCommandTest::lasts)
                .containsExactlyElementsOf(ids);
    }

    @Test
    void printsNothingButAScript() {
        CommandRun run = run("doctor", "--fix-sql");
        assertThat(run.exitCode()).isEqualTo(4);
        assertThat(run.out().lines())
                .contains("alter database \"" + database.name() + "\" reset synchronous_commit;")
                .allMatch(line -> line.isEmpty() || line.startsWith("-- ") || !line.startsWith("postroom"));
        assertThat(run.err()).contains("error");
        // What takes something from somebody comes before what somebody must decide.
        assertThat(run.out().indexOf("takes something"))
                .isPositive()
                .isLessThan(run.out().indexOf("needs a decision"));
    }

    @Test
    void theFileNamesTheRolesAsTheConsoleHasThem(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("postroom.yaml");
        Files.writeString(
                file,
                "url: %s\nconsole:\n  database-roles: {writer: shop, relay: carrier}\n".formatted(database.url()));
        assertThat(CommandRun.of(Map.of(), "doctor", "--config", file.toString())
                        .out())
                .contains("there is no role postroom_owner, shop, carrier, postroom_reader");
        assertThat(CommandRun.of(Map.of(), "doctor", "--config", file.toString(), "--relay", "mule")
                        .out())
                .contains("there is no role postroom_owner, shop, mule, postroom_reader");
        Files.writeString(file, "console:\n  database-roles: {writer: 'a b', boss: shop}\n");
        CommandRun wrong = CommandRun.of(Map.of(), "doctor", "--config", file.toString());
        assertThat(wrong.exitCode()).isEqualTo(2);
        assertThat(wrong.err())
                .contains("console.database-roles.boss: there is no such role; there are owner, writer")
                .contains("role 'a b'");
    }

    @Test
    void aPageShowsTheSqlAsTheScriptHasItAndNothingThatIsCut() {
        Fix decision = new Fix(Fix.Risk.DECISION, List.of("rollback prepared 'x'", "commit prepared 'x'"));
        Finding finding = new Finding(Check.PREPARED_TRANSACTION, Severity.ERROR, "it is old", "end it", decision);
        assertThat(DoctorPages.fixSql(finding).lines()).isNotEmpty().allMatch(line -> line.startsWith("-- "));
        assertThat(new Examination(List.of(finding), List.of()).fixSql()).endsWith(DoctorPages.fixSql(finding));
        Fix script = new Fix(Fix.Risk.TAKES, List.of("select 1;\n".repeat(1_000)));
        assertThat(DoctorPages.fixSql(new Finding(Check.ROLES, Severity.ERROR, "", "", script)))
                .isEmpty();
    }

    @Test
    void triesTheDestinationsOfAFileAndWhetherPoolsFit(@TempDir Path folder) throws IOException {
        try (ServerSocket open = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int free = FreePort.find();
            Path file = Files.writeString(folder.resolve("postroom.yaml"), """
                    url: %s
                    relay:
                      connections: 200
                    subscriptions:
                      reached:
                        webhook: {url: "http://127.0.0.1:%d/hook", allow-http: true, allow-private: [127.0.0.1], secrets: ["${SECRET}"]}
                      unreached:
                        kafka: {bootstrap-servers: "127.0.0.1:%d,127.0.0.1:%d", topic: t, source: /shop}
                      here:
                        log: {}
                    """.formatted(
                            database.url(), open.getLocalPort(), free, open.getLocalPort()));
            CommandRun run = CommandRun.of(
                    Map.of("SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "doctor", "--config", file.toString());
            assertThat(run.err()).isEmpty();
            assertThat(run.out())
                    .contains("warning  PR-D083")
                    .contains("1 of 2 addresses of subscription unreached take no connection")
                    .contains("127.0.0.1:" + free + " (ConnectException)")
                    .contains("PR-D018")
                    .doesNotContain("subscription reached", "subscription here");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "NOTE, false, 0",
        "NOTE, true, 0",
        "WARNING, false, 0",
        "WARNING, true, 4",
        "ERROR, false, 4",
        "ERROR, true, 4"
    })
    void exitsByTheWorstThatWasFound(Severity severity, boolean strict, int exitCode) {
        Finding finding = new Finding(Check.FSYNC, severity, "seen", "do", Fix.NONE);
        assertThat(DoctorCommand.exitCode(new Examination(List.of(finding), List.of()), strict))
                .isEqualTo(exitCode);
        assertThat(DoctorCommand.exitCode(new Examination(List.of(), List.of()), strict))
                .isZero();
    }

    @Test
    void refusesARoleThatIsNone() {
        CommandRun run = run("doctor", "--writer", "1");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("a role is");
    }

    /** Sessions, that of a command which has just ended among them, come and go. */
    private static boolean lasts(String id) {
        return !id.equals(Check.PRIVILEGED_SESSION.id());
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(Map.of("POSTROOM_URL", database.url()), arguments);
    }
}
