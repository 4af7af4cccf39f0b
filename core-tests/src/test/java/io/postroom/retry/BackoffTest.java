package io.postroom.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PT0.1S | PT30S | -1         | PT0.1S",
                "PT0.1S | PT30S | 1          | PT0.1S",
                "PT0.1S | PT30S | 2          | PT0.2S",
                "PT0.1S | PT30S | 9          | PT25.6S",
                "PT0.1S | PT30S | 10         | PT30S",
                "PT0.1S | PT30S | 2147483647 | PT30S",
                "PT20S  | PT1H  | 31         | PT1H",
                // A shift of 30 overflows to something positive that is shorter than the longest wait.
                "PT17.179869185S | PT5H | 31 | PT5H",
                "PT1H   | P30D  | 1000       | P30D",
                "PT0.000000001S | PT1S | 31  | PT1S",
            })
    void doublesUpToTheLongestWaitAndIsShortenedByAtMostAQuarter(
            Duration first, Duration longest, int failures, Duration most) {
        Backoff backoff = new Backoff(first, longest);
        for (int i = 0; i < 1_000; i++) {
            assertThat(backoff.after(failures)).isBetween(most.multipliedBy(3).dividedBy(4), most);
        }
    }

    @Test
    void refusesWaitsThatDoNotGrow() {
        for (Duration first : new Duration[] {Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(2)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Backoff(first, Duration.ofSeconds(1)))
                    .withMessageContaining(first.toString())
                    .withMessageContaining("PT1S");
        }
    }
}
