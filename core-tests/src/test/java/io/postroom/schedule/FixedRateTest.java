package io.postroom.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FixedRateTest {

    @Test
    void countsFromItsAnchorInBothDirections() {
        FixedRate rate = new FixedRate(Duration.ofMinutes(7), Instant.parse("2026-01-01T00:03:00Z"));
        assertThat(rate.next(Instant.parse("2026-01-01T00:03:00Z"))).isEqualTo("2026-01-01T00:10:00Z");
        assertThat(rate.next(Instant.parse("2026-01-01T00:02:59.999999999Z"))).isEqualTo("2026-01-01T00:03:00Z");
        assertThat(rate.next(Instant.parse("2025-12-31T23:55:00Z"))).isEqualTo("2025-12-31T23:56:00Z");
        assertThat(rate.next(Instant.parse("2026-01-01T00:09:59Z"), 3))
                .containsExactly(
                        Instant.parse("2026-01-01T00:10:00Z"),
                        Instant.parse("2026-01-01T00:17:00Z"),
                        Instant.parse("2026-01-01T00:24:00Z"));
    }

    @Test
    void isAfterAndNotMoreThanAPeriodAfterAndAWholeNumberOfPeriodsFromItsAnchor() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            FixedRate rate = new FixedRate(
                    Duration.ofMillis(
                            random.nextLong(1_000, Duration.ofDays(366).toMillis())),
                    instant(random));
            Instant after = instant(random);
            Instant next = rate.next(after);
            assertThat(next).as("seed %d: %s after %s", seed, rate, after).isAfter(after);
            assertThat(next.minus(rate.period()))
                    .as("seed %d: %s after %s", seed, rate, after)
                    .isBeforeOrEqualTo(after);
            assertThat((next.toEpochMilli() - rate.anchor().toEpochMilli())
                            % rate.period().toMillis())
                    .as("seed %d: %s after %s", seed, rate, after)
                    .isZero();
        }
    }

    private static Instant instant(Random random) {
        return Instant.ofEpochSecond(
                random.nextLong(-62_135_596_800L, 253_402_300_799L), random.nextInt(1_000_000_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0.999S", "PT0S", "PT-1S", "P366DT0.001S", "PT1.0005S"})
    void aPeriodBeyondItsLimitsIsRefused(Duration period) {
        assertThatThrownBy(() -> FixedRate.every(period))
                .hasMessage(
                        "could not use a period of " + period + ": the range is 1 s to 366 days, in whole milliseconds")
                .extracting("code")
                .isEqualTo("schedule.period-invalid");
    }

    @ParameterizedTest
    @CsvSource({"PT15M, every 15 min", "PT1H30M, every 1 h 30 min", "P1D, every 1 d", "PT1.5S, every 1 s 500 ms"})
    void saysWhatItIs(Duration period, String words) {
        assertThat(FixedRate.every(period).describe()).isEqualTo(words);
    }

    @Test
    void reckonsWithYearsOfFourDigits() {
        for (Instant beyond : List.of(Instant.MIN, Instant.MAX)) {
            assertThatThrownBy(() -> FixedRate.every(Duration.ofHours(1)).next(beyond))
                    .hasMessageContaining("the years 1 to 9999");
            assertThatThrownBy(() -> new FixedRate(Duration.ofHours(1), beyond))
                    .hasMessageContaining("the years 1 to 9999");
        }
    }
}
