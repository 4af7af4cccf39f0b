package io.postroom.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.postroom.PostroomException;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.util.PSQLException;

/** How long a consumer may say that its messages are remembered. */
class InboxDeclarationTest {
    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void clear() {
        database.execute("truncate postroom.inbox_consumer");
    }

    @ParameterizedTest
    @CsvSource({
        "P8D,P14D,inbox.retention-too-short",
        "PT1H,PT1H0.001S,inbox.retention-too-short",
        "PT59M,PT0S,inbox.retention-invalid",
        "P367D,PT0S,inbox.retention-invalid",
        "P8D,PT-1S,inbox.redelivery-invalid"
    })
    void refusesToForgetWhatMayComeAgain(String kept, String redelivery, String code) {
        assertThatThrownBy(() -> Retention.keep(Duration.parse(kept)).redeliveredWithin(Duration.parse(redelivery)))
                .isInstanceOf(PostroomException.class)
                .extracting("code")
                .isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource({"PT1H,PT1H", "P8D,P8D", "P366D,P366D", "P8D,PT0S"})
    void takesWhatIsLongEnough(String kept, String redelivery) {
        database.postroom()
                .inbox()
                .declare("billing", Retention.keep(Duration.parse(kept)).redeliveredWithin(Duration.parse(redelivery)));
        assertThat(database.queryLong("select extract(epoch from retention)::bigint from postroom.inbox_consumer"))
                .isEqualTo(Duration.parse(kept).toSeconds());
    }

    @Test
    void theTableItselfRefusesARetentionThatIsTooShort() {
        assertThatThrownBy(
                        () -> database.execute(
                                "insert into postroom.inbox_consumer (consumer, retention, redelivery) values ('x', '1 day', '2 days')"))
                .hasStackTraceContaining("inbox_consumer_retention");
        for (String kept : List.of("null", "'59 minutes'")) {
            assertThatThrownBy(() -> database.execute("select postroom.forget_inbox_day(" + kept + ")"))
                    .hasStackTraceContaining("the least is one hour");
            assertThatThrownBy(() -> database.execute("select postroom.purge_inbox(" + kept + ", 10)"))
                    .hasStackTraceContaining("the least is one hour");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "'Revenue', '8 days', '7 days' | inbox.consumer-invalid   | consumer is 'Revenue', it must be",
                "'revenue', '1 min', '0'       | inbox.retention-invalid  | retention is 00:01:00, the range is 1 hour to 366 days",
                "'revenue', null, '0'          | inbox.retention-invalid  | retention is null",
                "'revenue', '8 days', '-1 day' | inbox.redelivery-invalid | redelivery is -1 days, the least is zero",
                "'revenue', '1 day', '2 days'  | inbox.retention-too-short | keep them for at least that long"
            })
    void aDeclarationInSqlIsRefusedInWords(String arguments, String code, String sentence) {
        PSQLException refused = catchThrowableOfType(
                PSQLException.class, () -> run("select postroom.declare_inbox(" + arguments + ")"));
        assertThat(refused.getServerErrorMessage().getDetail()).isEqualTo(code);
        assertThat(refused.getServerErrorMessage().getMessage()).contains(sentence);
        assertThat(database.queryLong("select count(*) from postroom.inbox_consumer"))
                .isZero();
    }

    private static void run(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
