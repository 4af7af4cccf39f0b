package io.postroom.server.terminal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WordsTest {
    private static final Instant NOW = Instant.parse("2026-11-15T12:00:00Z");

    @ParameterizedTest
    @CsvSource({"500ms,PT0.5S", "30s,PT30S", "5m,PT5M", "2h,PT2H", "7d,PT168H", "0s,PT0S"})
    void readsDurationsWithAUnit(String text, Duration expected) {
        assertThat(Durations.parse(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"30", "-5s", "PT", "PT5S", "1y", "", "s", "1.5s", "9999999999s", "5 m", "36501d", "999999999h"})
    void refusesOtherDurationsAndShowsTheForms(String text) {
        assertThatThrownBy(() -> Durations.parse(text)).hasMessageContaining("500ms, 30s, 5m, 2h or 7d");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-11-15T10:00:00Z,2026-11-15T10:00:00Z",
        "2026-11-15T10:00:00+02:00,2026-11-15T08:00:00Z",
        "15m,2026-11-15T11:45:00Z",
        "now-2h,2026-11-15T10:00:00Z"
    })
    void readsTimes(String text, Instant expected) {
        assertThat(Times.parse(text, NOW)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "yesterday-ish",
                "2026-02-30T00:00:00Z",
                "2026-11-15T10:00:00",
                "2026-11-15",
                "now+2h",
                "2027-01-01T00:00:00Z",
                "-0001-01-01T00:00:00Z"
            })
    void refusesOtherTimesAndShowsTheForms(String text) {
        assertThatThrownBy(() -> Times.parse(text, NOW)).hasMessageContaining("2026-11-15T10:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({"shcema,schema", "relpay,relay", "tial,tail", "relay.batch-sise,relay.batch-size"})
    void guessesWhatWasMeant(String word, String meant) {
        assertThat(Suggestion.nearest(word, List.of("schema", "relay", "tail", "dev", "relay.batch-size")))
                .contains(meant);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "kubernetes", "de"})
    void guessesNothingWhereNothingIsNear(String word) {
        assertThat(Suggestion.nearest(word, List.of("schema", "relay", "tail"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"450,450ms", "2300,2.3s", "3000,3s", "310000,5m 10s", "7260000,2h 1m"})
    void showsDurationsAsPeopleSayThem(long millis, String shown) {
        assertThat(Durations.show(Duration.ofMillis(millis))).isEqualTo(shown);
    }
}
