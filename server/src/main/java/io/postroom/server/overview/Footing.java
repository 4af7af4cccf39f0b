package io.postroom.server.overview;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the database is at, as far as it holds messages up.
 *
 * @param relays how many live relays there are
 * @param daysAhead for how many days from today on the outbox has its partition; 0: not even for today
 * @param oldestTransaction how long the oldest transaction is open that keeps dead rows from being removed
 * @param oldestPid whose it is; null if there is none
 * @param oldestApplication the name it gave itself
 * @param walBytes what the whole server has written since its statistics were reset
 */
public record Footing(
        int relays,
        int daysAhead,
        Duration oldestTransaction,
        @Nullable Integer oldestPid,
        @Nullable String oldestApplication,
        long walBytes) {}
