package io.postroom.advice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import io.postroom.advice.Advice.Urgency;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules at the edges of their thresholds. */
class RulesTest {
    private static Figures figures(
            double average,
            double peak,
            int consumers,
            @Nullable Duration delay,
            Figures.Storage storage,
            Figures.Flow... flows) {
        return new Figures(
                Duration.ofHours(1), average, peak, 400, consumers, 2, delay, 1_000, storage, List.of(flows));
    }

    private static Figures rates(double average, double peak, int consumers) {
        return figures(average, peak, consumers, null, new Figures.Storage(7, 1 << 20, 1_000, 1 << 20));
    }

    private static Advice about(Topic topic, Figures figures, Wishes wishes) {
        return new Rules(figures, wishes)
                .advise().stream()
                        .filter(advice -> advice.topic() == topic)
                        .findFirst()
                        .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"0, STAY", "9999, STAY", "10000, WATCH", "20000, WATCH", "20001, ACT", "50001, ACT"})
    void theCeilingIsTwentyThousandASecond(double peak, Urgency urgency) {
        assertThat(about(Topic.CAPACITY, rates(1, peak, 1), Wishes.NONE).urgency())
                .isEqualTo(urgency);
    }

    @ParameterizedTest
    @CsvSource({
        "20000, 10,  30, 1, ''",
        "20001, 10,   0, 1, sustained throughput",
        "    1, 11,   0, 1, consumers of the same messages",
        "    1,  1,  31, 1, replay",
        "    1,  1,   0, 2, regions",
        "20001, 11,  31, 2, 'sustained throughput, consumers of the same messages, replay, regions'"
    })
    void anyTriggerLeadsToABroker(double average, int consumers, int replayDays, int regions, String hit) {
        Advice advice = about(Topic.BROKER, rates(average, average, consumers), new Wishes(null, replayDays, regions));
        assertThat(advice.urgency()).isEqualTo(hit.isEmpty() ? Urgency.STAY : Urgency.ACT);
        assertThat(advice.verdict()).endsWith(hit.isEmpty() ? "no trigger was hit" : "triggers hit: " + hit);
        assertThat(advice.reasons())
                .hasSize(4)
                .allMatch(reason -> reason.source().equals("outbox guide: migration triggers"));
    }

    @Test
    void aBurstIsNoTrigger() {
        Figures burst = new Figures(
                Duration.ofMinutes(9), 30_000, 30_000, 400, 1, 1, null, 0, new Figures.Storage(1, 1, 1, 1), List.of());
        assertThat(about(Topic.BROKER, burst, Wishes.NONE).urgency()).isEqualTo(Urgency.STAY);
        assertThat(about(Topic.CAPACITY, burst, Wishes.NONE).urgency()).isEqualTo(Urgency.ACT);
    }

    @ParameterizedTest
    @CsvSource({
        // wanted, measured, verdict begins with
        "    ,    , STAY, polling",
        "1000 ,    , STAY, polling",
        " 999 ,    , STAY, polling",
        " 500 , 501, ACT, change data capture",
        " 500 , 500, STAY, polling",
        " 100 ,    , STAY, polling",
        "  99 ,    , WATCH, the tree says change data capture",
        "  99 ,  12, STAY, polling",
        "  99 , 100, ACT, change data capture"
    })
    void captureIsForThoseWhoNeedItSoonerThanItComes(
            @Nullable Integer wanted, @Nullable Integer measured, Urgency urgency, String verdict) {
        Figures figures = figures(
                1, 1, 1, measured == null ? null : Duration.ofMillis(measured), new Figures.Storage(7, 1, 1, 1));
        Advice advice =
                about(Topic.PROPAGATION, figures, new Wishes(wanted == null ? null : Duration.ofMillis(wanted), 0, 1));
        assertThat(advice.urgency()).isEqualTo(urgency);
        assertThat(advice.verdict()).startsWith(verdict);
    }

    @ParameterizedTest
    @CsvSource({
        // lanes, leased, lag in seconds, out, urgency, words
        "  2,   2,  0, 100, STAY, 2 lanes are right",
        "  1,   1,  0, 100, WATCH, postroom subscription lanes billing 2",
        "  2,   2, 30, 100, STAY, 2 lanes are right",
        "  2,   2, 31, 110, ACT, postroom subscription lanes billing 4",
        "  2,   2, 31, 111, STAY, 2 lanes are right",
        "  2,   1, 31,   0, STAY, 2 lanes are right",
        "200, 200, 31,   0, ACT, postroom subscription lanes billing 256",
        "256, 256, 31,   0, STAY, 256 lanes are right"
    })
    void moreLanesAreForThoseWhoseLagDoesNotShrink(
            int lanes, int leased, int lag, double out, Urgency urgency, String words) {
        Figures.Flow flow = new Figures.Flow("billing", lanes, leased, Duration.ofSeconds(lag), 1_000, false, out);
        Advice advice =
                about(Topic.LANES, figures(100, 100, 1, null, new Figures.Storage(7, 1, 1, 1), flow), Wishes.NONE);
        assertThat(advice.urgency()).isEqualTo(urgency);
        assertThat(advice.verdict()).contains(words);
    }

    @ParameterizedTest
    @CsvSource({
        "50000000, 30,  0, STAY",
        "50000001, 30,  0, ACT",
        "       1, 31,  0, WATCH",
        "       1, 31, 90, STAY",
        "       1, 91, 90, WATCH"
    })
    void aDayIsAPartitionUpToFiftyMillion(long rows, int days, int replayDays, Urgency urgency) {
        Figures figures = figures(1, 1, 1, null, new Figures.Storage(days, 1, rows, 1));
        assertThat(about(Topic.PARTITIONS, figures, new Wishes(null, replayDays, 1))
                        .urgency())
                .isEqualTo(urgency);
    }

    @ParameterizedTest
    @CsvSource({"10000, 60, STAY", "10001, 60, WATCH", "10001, 9, STAY"})
    void mostWalIsNotThatOfMessages(double walForEach, int minutes, Urgency urgency) {
        Figures figures = new Figures(
                Duration.ofMinutes(minutes),
                10,
                10,
                400,
                1,
                1,
                null,
                walForEach * 10,
                new Figures.Storage(1, 1, 1, 1),
                List.of());
        assertThat(about(Topic.WRITES, figures, Wishes.NONE).urgency()).isEqualTo(urgency);
    }

    @Test
    void refusesWishesThatNobodyCanHave() {
        assertThatThrownBy(() -> new Wishes(Duration.ZERO, 0, 1))
                .isInstanceOf(PostroomException.class)
                .hasMessageContaining("it must be above 0");
        assertThatThrownBy(() -> new Wishes(null, -1, 1)).hasMessageContaining("replay-days is -1, the range is 0 to");
        assertThatThrownBy(() -> new Wishes(null, 0, 0)).hasMessageContaining("regions is 0, the range is 1 to");
    }
}
