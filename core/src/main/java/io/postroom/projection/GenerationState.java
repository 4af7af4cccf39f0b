package io.postroom.projection;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One generation of a read model.
 *
 * @param state asked, building, live or former
 * @param schema in which its tables are now
 * @param subscription null until a relay has made it
 * @param position up to which its slowest lane has come
 * @param end of the journal
 * @param age of the oldest message that no lane has come to yet
 * @param rate positions per second of the slowest lane during the last minute; zero if it did not move
 * @param deliveries messages that wait, without those parked behind them, counted up to a limit
 * @param deadLetters messages that were given up and not dealt with, counted up to a limit
 * @param replaced the generation that was live before this one
 * @param error why it could not be made
 */
public record GenerationState(
        String readModel,
        int number,
        int version,
        String state,
        String schema,
        @Nullable String subscription,
        long beganAfter,
        long position,
        long end,
        Duration age,
        double rate,
        long deliveries,
        long deadLetters,
        @Nullable Long heldAt,
        @Nullable Integer replaced,
        Instant askedAt,
        @Nullable Instant madeAt,
        @Nullable Instant liveAt,
        @Nullable String error) {

    public boolean isLive() {
        return state.equals("live");
    }

    public long lag() {
        return Math.max(end - position, 0);
    }

    /** When it will have come to the present end of the journal, if it goes on as in the last minute. */
    public Optional<Duration> remaining() {
        if (lag() == 0) {
            return Optional.of(Duration.ZERO);
        }
        return rate <= 0 ? Optional.empty() : Optional.of(Duration.ofMillis((long) (lag() / rate * 1000)));
    }

    /** How errors and people call it. */
    String title() {
        return title(readModel, number);
    }

    static String title(String readModel, int number) {
        return "generation " + number + " of read model " + readModel;
    }
}
