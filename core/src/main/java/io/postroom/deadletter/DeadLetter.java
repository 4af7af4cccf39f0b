package io.postroom.deadletter;

import io.postroom.message.Message;
import org.jspecify.annotations.Nullable;

/**
 * A message that was given up on, whole. Immutable; {@link #toString} shows no payload.
 *
 * @param source what kind of owner it has, such as {@code subscription}
 * @param owner which one
 * @param position where the message stands in the journal
 * @param history its last attempts, a JSON array
 * @param origin the dead letter it was redriven from before it failed again
 * @param resolution null while it is open
 */
public record DeadLetter(
        long id,
        String source,
        String owner,
        long position,
        Message message,
        Burial burial,
        String history,
        @Nullable Long origin,
        @Nullable Resolution resolution) {

    public boolean isOpen() {
        return resolution == null;
    }

    @Override
    public String toString() {
        return "dead letter " + id + " of " + source + " " + owner + ": " + message;
    }
}
