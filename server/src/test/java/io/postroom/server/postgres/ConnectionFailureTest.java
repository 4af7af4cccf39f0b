package io.postroom.server.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.server.terminal.ExitCode;
import io.postroom.testkit.FreePort;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each way a connection can fail has a sentence of its own, and none repeats the password. */
class ConnectionFailureTest {
    private static EmbeddedPostgres server;
    private static String place;

    @BeforeAll
    static void startAServerThatAsksForPasswords(@TempDir Path folder) throws IOException, SQLException {
        Path rules = folder.resolve("pg_hba.conf");
        Files.writeString(rules, """
                host all postgres 127.0.0.1/32 trust
                host all postgres ::1/128 trust
                host all all 127.0.0.1/32 scram-sha-256
                """);
        server = EmbeddedPostgres.builder()
                .setServerConfig("hba_file", rules.toString())
                .start();
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            connection.createStatement().execute("create role alice login password 'right'");
        }
        place = "127.0.0.1:" + server.getPort();
    }

    @AfterAll
    static void stop() throws IOException {
        server.close();
    }

    @Test
    void saysThatTheUrlIsNone() {
        assertFails("htp://alice:secret@" + place + "/postgres", ExitCode.USAGE, "it is not a PostgreSQL URL");
    }

    @Test
    void saysThatThereIsNoSuchHost() {
        assertFails(
                "postgres://alice:secret@no-such-host.invalid/d",
                ExitCode.FAILURE,
                "there is no host no-such-host.invalid");
    }

    @Test
    void saysThatNothingListens() {
        assertFails(
                "postgres://alice:secret@127.0.0.1:" + FreePort.find() + "/d",
                ExitCode.FAILURE,
                "nothing listens on that port");
    }

    @Test
    void saysThatThePasswordIsWrong() {
        assertFails(
                "postgres://alice:secret@" + place + "/postgres",
                ExitCode.FAILURE,
                "the password of user alice is wrong");
        assertFails(
                "jdbc:postgresql://" + place + "/postgres?user=alice&password=secret", ExitCode.FAILURE, "is wrong");
    }

    @Test
    void saysThatAPasswordIsMissing() {
        assertFails("postgres://alice@" + place + "/postgres", ExitCode.FAILURE, "a password is needed for user alice");
    }

    @Test
    void saysThatThereIsNoSuchDatabase() {
        assertFails("postgres://alice:right@" + place + "/nowhere", ExitCode.FAILURE, "there is no database nowhere");
    }

    @Test
    void namesAParameterThatTheDriverDoesNotTake() {
        String url = "postgres://alice:right@" + place + "/postgres?";
        assertFails(
                url + "sslmode=nonsense",
                ExitCode.USAGE,
                "does not take the value of parameter sslmode or of PGSSLMODE");
        assertFails(url + "connect_timeout=soon", ExitCode.USAGE, "parameter connectTimeout");
        assertFails(url + "target_session_attrs=secret", ExitCode.USAGE, "target_session_attrs is one of");
    }

    @Test
    void saysWhatToDoAboutALoginThatMayNot() {
        CommandRun migrated = CommandRun.of("schema", "migrate", "--url", "postgres://postgres@" + place + "/postgres");
        assertThat(migrated.exitCode()).as(migrated.err()).isZero();
        for (String command : List.of("subscription list", "status", "message list", "tail --subscription a")) {
            CommandRun run = CommandRun.of(
                    Map.of("POSTROOM_URL", "postgres://alice:right@" + place + "/postgres"), command.split(" "));
            assertThat(run.err())
                    .as(command)
                    .contains("this login may not: connect as another, or grant it what postroom schema grants prints")
                    .hasLineCount(1);
            assertThat(run.exitCode()).as(command).isEqualTo(ExitCode.FAILURE);
        }
    }

    @Test
    void takesThePasswordFromTheEnvironment() {
        CommandRun run = CommandRun.of(
                Map.of("PGPASSWORD", "right"), "schema", "status", "--url", "postgres://alice@" + place + "/postgres");
        assertThat(run.exitCode()).isZero();
    }

    private static void assertFails(String url, int exitCode, String sentence) {
        CommandRun run = CommandRun.of("schema", "status", "--url", url);
        assertThat(run.err()).contains(sentence).doesNotContain("secret").hasLineCount(1);
        assertThat(run.out()).isEmpty();
        assertThat(run.exitCode()).isEqualTo(exitCode);
        assertThat(CommandRun.of("schema", "status", "-v", "--url", url).err()).doesNotContain("secret");
    }
}
