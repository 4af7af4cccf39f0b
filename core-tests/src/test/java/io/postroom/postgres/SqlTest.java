package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.TestDatabase;
import io.postroom.testkit.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlTest {
    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.empty(TestPostgres.shared());
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    /** {@code ~} stands for a line feed. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = "->",
            quoteCharacter = '`',
            value = {
                "select :a                          -> select ?",
                "select :a, :b_2, :a                -> select ?, ?, ?",
                "select :a::text                    -> select ?::text",
                "select x::int, '1'::int            -> select x::int, '1'::int",
                "select ':a', :a                    -> select ':a', ?",
                "select 'it''s :a'                  -> select 'it''s :a'",
                "select \":a\", \"x\"\":a\"         -> select \":a\", \"x\"\":a\"",
                "select E'\\':a', :a                -> select E'\\':a', ?",
                "select e'\\\\', :a                 -> select e'\\\\', ?",
                "select name'\\', :a                -> select name'\\', ?",
                "select 1 -- :a it's                -> select 1",
                "select 1 -- :a~, :b                -> select 1  ~, ?",
                "select /* :a it's */ :b            -> select   ?",
                "select /* /* :a */ :a */ :b        -> select   ?",
                "select $$ :a $$, :b                -> select $$ :a $$, ?",
                "select $x$ :a $$ $x$, :b           -> select $x$ :a $$ $x$, ?",
                "select a$x$ + :b                   -> select a$x$ + ?",
                "select :a ? 'k'                    -> select ? ?? 'k'",
                "select j ?| :a, j ?& :b, '?'       -> select j ??| ?, j ??& ?, '?'",
                "select a[1: 2], b := :c            -> select a[1: 2], b := ?",
                "select 'open :a                    -> select 'open :a",
                "select $$ open :a                  -> select $$ open :a",
                "select 1 /* open :a                -> select 1",
                ":a                                 -> ?",
                "select '$$', :a, '$$'              -> select '$$', ?, '$$'",
            })
    void findsParametersOnlyWhereTheyAre(String source, String expected) {
        assertThat(Sql.parse("test", source.replace('~', '\n')).text()).isEqualTo(expected.replace('~', '\n'));
    }

    @Test
    void aRepeatedNameIsSetEverywhere() throws SQLException {
        Sql sql = Sql.parse("test", "select :a || :b || :a");
        assertThat(sql.indexesOf("a")).containsExactly(1, 3);
        assertThat(sql.indexesOf("b")).containsExactly(2);
        assertThat(text(sql.on(database.begin()).set("a", "x").set("b", "y"))).isEqualTo("xyx");
    }

    @Test
    void namesTheParameterThatIsNotThere() throws SQLException {
        try (Connection tx = database.begin()) {
            Call call = Sql.parse("Some/file.sql", "select :here").on(tx);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> call.set("there", 1))
                    .withMessageContaining("Some/file.sql")
                    .withMessageContaining(":there")
                    .withMessageContaining("[here]");
        }
    }

    @Test
    void everyKindOfValueArrives() throws SQLException {
        try (Connection tx = database.begin()) {
            UUID uuid = UUID.randomUUID();
            assertThat(text(Sql.parse("t", "select :v::uuid::text").on(tx).set("v", uuid)))
                    .isEqualTo(uuid.toString());
            assertThat(text(Sql.parse("t", "select (:v + 1)::text").on(tx).set("v", 41L)))
                    .isEqualTo("42");
            assertThat(text(Sql.parse("t", "select (:v::bigint is null)::text")
                            .on(tx)
                            .set("v", (Long) null)))
                    .isEqualTo("true");
            assertThat(text(Sql.parse("t", "select to_char(:v at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US')")
                            .on(tx)
                            .set("v", Instant.parse("2026-01-02T03:04:05.000006Z"))))
                    .isEqualTo("2026-01-02 03:04:05.000006");
            assertThat(text(Sql.parse("t", "select (:v::date + 1)::text").on(tx).set("v", LocalDate.of(2026, 2, 28))))
                    .isEqualTo("2026-03-01");
            assertThat(text(Sql.parse("t", "select extract(epoch from make_interval(secs => :v))::text")
                            .on(tx)
                            .set("v", Duration.ofMillis(1_500))))
                    .startsWith("1.5");
            assertThat(text(Sql.parse("t", "select array_to_string(:v::text[], ',', 'null')")
                            .on(tx)
                            .set("v", new String[] {"a", null, "{\"'\\,}"})))
                    .isEqualTo("a,null,{\"'\\,}");
            assertThat(text(Sql.parse("t", "select (:v::text[] is null)::text")
                            .on(tx)
                            .set("v", (String[]) null)))
                    .isEqualTo("true");
            assertThat(text(Sql.parse("t", "select (:v::bigint[])[2]::text")
                            .on(tx)
                            .set("v", new long[] {1, 2})))
                    .isEqualTo("2");
        }
    }

    @Test
    void listsAllRowsAndKnowsWhenThereIsNone() throws SQLException {
        try (Connection tx = database.begin()) {
            Sql series = Sql.parse("series.sql", "select i from generate_series(1, :n) as i");
            assertThat(series.on(tx).set("n", 3).list(row -> row.getInt(1))).isEqualTo(List.of(1, 2, 3));
            assertThat(series.on(tx).set("n", 0).first(row -> row.getInt(1))).isEmpty();
            assertThatThrownBy(() -> series.on(tx).set("n", 0).one(row -> row.getInt(1)))
                    .hasMessageContaining("series.sql");
        }
    }

    @Test
    void errorsNameTheFileAndTheStateButNoValues() throws SQLException {
        try (Connection tx = database.begin()) {
            assertThatThrownBy(() -> Sql.parse("Table/insert.sql", "select (:v || 'x')::int")
                            .on(tx)
                            .set("v", "1")
                            .list(row -> row.getInt(1)))
                    .isInstanceOfSatisfying(DatabaseException.class, e -> {
                        assertThat(e.sqlState()).isEqualTo("22P02");
                        assertThat(e.code()).isEqualTo("postgres.refused");
                        assertThat(e.isUnreachable()).isFalse();
                    })
                    .hasMessageContaining("Table/insert.sql");
            tx.rollback();
            tx.createStatement().execute("create temp table secret (pin text unique)");
            Sql insert = Sql.parse("insert.sql", "insert into secret values (:pin)");
            insert.on(tx).set("pin", "hunter2").update();
            assertThatThrownBy(() -> insert.on(tx).set("pin", "hunter2").update())
                    .hasMessageContaining("23505")
                    .hasMessageNotContaining("hunter2");
        }
    }

    private static String text(Call call) {
        return call.one(row -> row.getString(1));
    }
}
