package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.relay.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The table in README.md, row by row, against a real server. */
class OutcomeTableTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| ([0-9 -]+) \\| (\\w+) \\| `?([a-z.<>-]+)`? \\|.*$");
    private static final Pattern TROUBLE_ROW = Pattern.compile("(?m)^\\| (\\w[^|]*) \\| (\\w+) \\| `([a-z-]+)` \\|.*$");
    private static final Map<String, Class<? extends Outcome>> OUTCOMES = Map.of(
            "accepted", Outcome.Accepted.class,
            "retry", Outcome.Retry.class,
            "rejected", Outcome.Rejected.class,
            "unavailable", Outcome.Unavailable.class,
            "gone", Outcome.Unavailable.class);
    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private Receiver receiver;
    private WebhookSink sink;

    /** The statuses of a row, its outcome and its error class. */
    record Row(List<Integer> statuses, String outcome, String errorClass) {
        String errorClass(int status) {
            return errorClass.replace("<status>", Integer.toString(status));
        }
    }

    /** A row without a status: what happens, its outcome and its error class. */
    record TroubleRow(String trouble, String outcome, String errorClass) {}

    @BeforeEach
    void open() throws Exception {
        receiver = new Receiver();
        sink = Sending.local(receiver.url("/"))
                .clock(Clock.fixed(NOW, ZoneOffset.UTC))
                .build();
    }

    @AfterEach
    void close() {
        sink.close();
        receiver.close();
    }

    static List<Row> rows() throws IOException {
        return ROW.matcher(Files.readString(Path.of("README.md")))
                .results()
                .map(OutcomeTableTest::row)
                .toList();
    }

    private static Row row(MatchResult row) {
        List<Integer> statuses = Stream.of(row.group(1).split(" "))
                .flatMapToInt(part -> {
                    String[] ends = part.split("-");
                    return IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
                })
                .boxed()
                .toList();
        return new Row(statuses, row.group(2), row.group(3));
    }

    static List<TroubleRow> troubleRows() throws IOException {
        return TROUBLE_ROW
                .matcher(Files.readString(Path.of("README.md")))
                .results()
                .filter(row -> !ROW.matcher(row.group()).matches())
                .map(row -> new TroubleRow(row.group(1), row.group(2), row.group(3)))
                .toList();
    }

    private static Row expected(int status) throws IOException {
        return rows().stream()
                .filter(row -> row.statuses.contains(status))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row for " + status));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void everyRowIsTrue(Row row) throws Exception {
        for (int status : row.statuses) {
            receiver.answer(Receiver.Answer.of(status));
            Outcome outcome = Sending.send(sink);
            Row expected = expected(status);
            assertThat(outcome).as("answer to %d", status).isInstanceOf(OUTCOMES.get(expected.outcome));
            if (!(outcome instanceof Outcome.Accepted)) {
                assertThat(Sending.errorClass(outcome)).isEqualTo(expected.errorClass(status));
            }
            assertThat(outcome instanceof Outcome.Unavailable unavailable && unavailable.forGood())
                    .isEqualTo(expected.outcome.equals("gone"));
        }
    }

    @Test
    void theTableNamesEveryStatus() throws IOException {
        for (int status = 200; status < 1_000; status++) {
            assertThat(expected(status).outcome).isIn(OUTCOMES.keySet());
        }
    }

    @ParameterizedTest
    @MethodSource("troubleRows")
    void everyRowWithoutAStatusIsTrue(TroubleRow row) throws Exception {
        Trouble trouble = Trouble.TABLE.get(row.errorClass);
        assertThat(trouble).as("trouble that is a %s", row.errorClass).isNotNull();
        for (Outcome outcome : trouble.make()) {
            assertThat(outcome).as(row.trouble).isInstanceOf(OUTCOMES.get(row.outcome));
            assertThat(Sending.errorClass(outcome)).isEqualTo(row.errorClass);
        }
    }

    @Test
    void theTableNamesEveryTrouble() throws IOException {
        assertThat(troubleRows())
                .extracting(TroubleRow::errorClass)
                .containsExactlyInAnyOrderElementsOf(Trouble.TABLE.keySet());
    }

    @Test
    void aBodyThatSaysErrorIsASuccessWithStatus200() throws Exception {
        receiver.answer(new Receiver.Answer(200, Map.of(), "{\"error\":true}"));
        assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "429 | 30                            | PT30S",
                "503 | 0                             | ",
                "503 | Sun, 01 Mar 2026 12:01:30 GMT | PT1M30S",
                "503 | Sun, 01 Mar 2026 11:00:00 GMT | ",
                "502 | 999999999999999999999999      | PT1H",
                "504 | Tue, 31 Dec 2999 23:59:59 GMT | PT1H",
                "503 | soon                          | ",
                "503 | -5                            | ",
                "500 | 7                             | PT7S",
                "425 | 1                             | PT1S",
                "307 | 9                             | PT9S",
                "401 | 60                            | PT1M",
                "404 | 60                            | PT1M",
                "408 | 2                             | PT2S",
                "408 |                               | ",
                "425 |                               | ",
                "429 |                               | ",
                "503 |                               | "
            })
    void honoursRetryAfterUpToTheLimit(int status, @Nullable String header, @Nullable Duration after) throws Exception {
        receiver.answer(
                header == null ? Receiver.Answer.of(status) : Receiver.Answer.of(status, "Retry-After", header));
        Outcome outcome = Sending.send(sink);
        Duration asked = outcome instanceof Outcome.Unavailable unavailable
                ? unavailable.after()
                : ((Outcome.Retry) outcome).after();
        assertThat(asked).isEqualTo(after);
    }

    @Test
    void refusedCredentialsTellTheOperatorWhatToCheck() throws Exception {
        receiver.answer(Receiver.Answer.of(401));
        assertThat(Sending.reason(Sending.send(sink)))
                .endsWith("the endpoint answered 401; check the secrets and headers that it is sent; "
                        + "sending waits until the endpoint takes them");
    }

    @Test
    void followsNoRedirect() throws Exception {
        try (Receiver elsewhere = new Receiver()) {
            receiver.answer(Receiver.Answer.of(307, "Location", elsewhere.url("/")));
            Outcome outcome = Sending.send(sink);
            assertThat(Sending.reason(outcome)).contains("answered 307, and redirects are not followed");
            assertThat(elsewhere.requests()).isEmpty();
        }
    }
}
