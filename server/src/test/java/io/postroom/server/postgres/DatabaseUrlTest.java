package io.postroom.server.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.server.terminal.CommandException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatabaseUrlTest {

    @ParameterizedTest
    @CsvSource({"PGPORT, port, could not read PGPORT", "PGHOST, /var/run/postgresql, could not read PGHOST"})
    void namesTheVariableThatCannotBeRead(String variable, String value, String sentence) {
        assertThatThrownBy(() -> DatabaseUrl.parse("--url", "postgres:///shop", Map.of(variable, value)))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith(sentence);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "postgres://u:p@h:5433/d                   | h:5433/d         | u   | p",
                "postgresql://u@h/d                        | h:5432/d         | u   | -",
                "POSTGRES://h                              | h:5432/          | -   | -",
                "postgres://u:p%40%2F%3A@h/d%20e           | h:5432/d e       | u   | p@/:",
                "postgres://u:p@q@h/d                      | h:5432/d         | u   | p@q",
                "postgres://u:a+b@h/d                      | h:5432/d         | u   | a+b",
                "postgres://[::1]:5433/d                   | [::1]:5433/d     | -   | -",
                "postgres://a:1,b:2/d                      | a:1,b:2/d        | -   | -",
                "postgres:///d                             | localhost:5432/d | -   | -",
                "postgres:///d?host=h&port=5                | h:5/d            | -   | -",
                "postgres://h/d?user=u&password=p          | h:5432/d         | u   | p",
                "jdbc:postgresql://h:5433/d?user=u&password=p | h:5433/d      | u   | p",
                "jdbc:postgresql://u:p@h/d                 | h:5432/d         | u   | p",
                "jdbc:postgresql:d                         | localhost:5432/d | -   | -",
                "jdbc:postgresql:/                         | localhost:5432/  | -   | -"
            })
    void readsBothForms(String url, String shown, String user, String password) {
        DatabaseUrl read = DatabaseUrl.parse("--url", url, Map.of());
        assertThat(read).hasToString(shown);
        assertThat(read.user()).isEqualTo(user);
        assertThat(read.password()).isEqualTo(password);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mysql://u:secret@h/d",
                "secret",
                "postgres:secret@h/d",
                "postgres://u:sec/ret@h/d",
                "postgres://u:se?cret@h/d",
                "postgres://u:secret%zz@h/d",
                "postgres://u:secret@h:99999/d",
                "postgres://u:secret@h:secret/d",
                "postgres://u:secret@h h/d",
                "postgres://u:secret@%2Fvar%2Frun/d",
                "postgres://u:secret@h/d?sslmod=require",
                "postgres://u:secret@h/d?sslmode",
                "postgres://u:secret@h/d?preferQueryMode=simple",
                "postgres://u:secret@h/d?target_session_attrs=secret"
            })
    void refusesOthersWithoutRepeatingThePassword(String url) {
        assertThatThrownBy(() -> DatabaseUrl.parse("--url", url, Map.of()))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith("could not read --url: ")
                .message()
                .doesNotContain("secret")
                .doesNotContain("cret@")
                .hasLineCount(1);
    }

    @Test
    void suggestsTheParameterThatWasMeant() {
        assertThatThrownBy(() -> DatabaseUrl.parse("--url", "postgres://h/d?sslmod=require", Map.of()))
                .hasMessageEndingWith("did you mean sslmode?");
    }

    @Test
    void takesTheOptionBeforeTheVariablesAndFillsInFromPg() {
        Map<String, String> all = Map.of(
                "POSTROOM_URL", "postgres://one/d",
                "DATABASE_URL", "postgres://two/d",
                "PGHOST", "three",
                "PGPORT", "5555",
                "PGUSER", "u",
                "PGPASSWORD", "p",
                "PGDATABASE", "db",
                "PGSSLMODE", "require");
        assertThat(DatabaseUrl.find("postgres://zero/d", all)).hasToString("zero:5555/d");
        assertThat(DatabaseUrl.find(null, all)).hasToString("one:5555/d");
        assertThat(DatabaseUrl.find(null, without(all, "POSTROOM_URL"))).hasToString("two:5555/d");
        DatabaseUrl pg = DatabaseUrl.find(null, without(without(all, "POSTROOM_URL"), "DATABASE_URL"));
        assertThat(pg).hasToString("three:5555/db");
        assertThat(pg.user()).isEqualTo("u");
        assertThat(pg.password()).isEqualTo("p");
        assertThat(pg.parameters()).containsEntry("sslmode", "require");
    }

    @Test
    void translatesLibpqsParameters() {
        DatabaseUrl url = DatabaseUrl.parse(
                "--url",
                "postgres://h/d?connect_timeout=3&application_name=x&target_session_attrs=read-write&sslmode=disable",
                Map.of());
        assertThat(url.parameters())
                .containsEntry("connectTimeout", "3")
                .containsEntry("ApplicationName", "x")
                .containsEntry("targetServerType", "primary")
                .containsEntry("sslmode", "disable");
    }

    private static Map<String, String> without(Map<String, String> map, String key) {
        Map<String, String> rest = new java.util.HashMap<>(map);
        rest.remove(key);
        return rest;
    }
}
