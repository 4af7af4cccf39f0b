package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** How many messages a replay with a rate may read, at given times. */
class PacedReplayTest {
    private static final int ROOM = 1_000;
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final long began = System.nanoTime();

    @Test
    void aPauseIsNotMadeUpFor() {
        Replay replay = replay(1, 10.0);
        assertThat(replay.allowed(ROOM, began + 60 * SECOND)).isEqualTo(10);
        replay.took(10);
        assertThat(replay.allowed(ROOM, began + 60 * SECOND)).isZero();
        assertThat(replay.allowed(ROOM, began + 3_600 * SECOND))
                .as("after the next one")
                .isEqualTo(10);
    }

    @Test
    void goesAtItsRate() {
        Replay replay = replay(1, 10.0);
        replay.allowed(ROOM, began + 60 * SECOND);
        replay.took(10);
        int read = 0;
        for (int step = 1; step <= 100; step++) {
            int allowed = replay.allowed(ROOM, began + 60 * SECOND + step * SECOND / 20);
            replay.took(allowed);
            read += allowed;
        }
        assertThat(read).as("in five seconds").isBetween(49, 50);
    }

    @Test
    void whatIsSlowerThanOneASecondGoesAllTheSame() {
        Replay replay = replay(4, 0.4);
        replay.allowed(ROOM, began + 60 * SECOND);
        replay.took(1);
        assertThat(replay.allowed(ROOM, began + 65 * SECOND)).isZero();
        assertThat(replay.restNanos(began + 65 * SECOND)).isBetween(5 * SECOND - 1_000, 5 * SECOND + 1_000);
        assertThat(replay.allowed(ROOM, began + 71 * SECOND)).isEqualTo(1);
    }

    @Test
    void thereIsNoMoreThanThereIsRoomFor() {
        assertThat(replay(1, 10.0).allowed(3, began + 60 * SECOND)).isEqualTo(3);
    }

    @Test
    void withoutARateAllGoesAtOnce() {
        Replay replay = Objects.requireNonNull(Replay.of(new RelayTable.Plan(1, List.of(), 0, 9_000L, 9_000L, null)));
        replay.took(5_000);
        assertThat(replay.allowed(ROOM, began)).isEqualTo(ROOM);
        assertThat(replay.restNanos(began)).isZero();
    }

    private static Replay replay(int lanes, double rate) {
        return Objects.requireNonNull(Replay.of(new RelayTable.Plan(lanes, List.of(), 0, 9_000L, 9_000L, rate)));
    }
}
