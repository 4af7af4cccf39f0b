package io.postroom.projection;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A materialized view that is kept.
 *
 * @param refreshedAt since when what it shows was true; null until the first time
 * @param age how long ago that is; zero until the first time
 * @param took how long the last refresh took
 * @param error why the last refresh failed, if it did
 * @param failures so often in a row
 */
public record ViewState(
        String name,
        Duration every,
        Instant dueAt,
        @Nullable Instant refreshedAt,
        Duration age,
        @Nullable Duration took,
        @Nullable Instant failedAt,
        @Nullable String error,
        int failures) {}
