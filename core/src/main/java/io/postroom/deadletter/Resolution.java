package io.postroom.deadletter;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What became of a dead letter. {@code patched} is the payload it was redriven with, where an operator changed it. */
public record Resolution(
        RedriveAction action,
        Instant at,
        String by,
        @Nullable UUID redrive,
        @Nullable String patched) {}
