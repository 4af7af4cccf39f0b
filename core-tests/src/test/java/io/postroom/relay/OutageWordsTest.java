package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a relay says that a destination takes nothing. */
class OutageWordsTest {
    /** Where the clock begins is nobody's business: it may be about to overflow. */
    private static final long BEGIN = Long.MAX_VALUE - TimeUnit.MINUTES.toNanos(1);

    private final Outage outage = new Outage();

    @Test
    void anOutageIsSaidWhenItBeginsAndEverMoreRarelyWhileItLasts() {
        List<Long> words = new ArrayList<>();
        for (long second = 0; second < TimeUnit.DAYS.toSeconds(1); second++) {
            if (outage.goesOn(after(second))) {
                words.add(second);
            }
        }
        assertThat(words.get(0)).isZero();
        assertThat(words.get(1)).isBetween(7L, 11L);
        assertThat(words.get(2) - words.get(1)).isBetween(14L, 21L);
        assertThat(words.get(3) - words.get(2)).isBetween(29L, 41L);
        assertThat(words.get(words.size() - 1) - words.get(words.size() - 2))
                .as("at last")
                .isBetween(449L, 601L);
    }

    @Test
    void whenItIsOverItIsKnownHowLongItLastedAndTheNextOneIsSaidAtOnce() {
        assertThat(outage.end(after(0))).as("there was none").isEmpty();
        outage.goesOn(after(1));
        outage.goesOn(after(100));
        assertThat(outage.end(after(101))).contains(Duration.ofSeconds(100));
        assertThat(outage.end(after(102))).as("another thread ended it").isEmpty();
        assertThat(outage.goesOn(after(103))).isTrue();
        assertThat(outage.end(after(104))).contains(Duration.ofSeconds(1));
    }

    private static long after(long seconds) {
        return BEGIN + TimeUnit.SECONDS.toNanos(seconds);
    }
}
