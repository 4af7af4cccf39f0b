package io.postroom.deadletter;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A dead letter that was redriven or discarded, as a listing shows it: without payload, headers and history.
 *
 * @param redrive the act that did it; null if it was no redrive or discard, but a skip or the removal of its subscription
 * @param patched whether an operator changed the payload it was redriven with
 */
public record ResolvedLetter(
        DeadLetterRow letter,
        RedriveAction action,
        Instant at,
        String by,
        @Nullable UUID redrive,
        boolean patched) {}
