package io.postroom.journal;

import io.postroom.message.Message;
import io.postroom.message.Reading;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a lane read in one go: the messages it wants, in order, and how far it got. Everything up to {@code next} that is not
 * among the items is none of this lane's business.
 */
public record Batch(List<Item> items, LanePosition next) {

    /**
     * A message with its place, the hash of its key, how much of it there is, for how long it must still wait by the database's
     * clock, and why it cannot be read here, if it cannot: then it is as it was stored.
     */
    public record Item(
            long position,
            Journal.Place place,
            int keyHash,
            int bytes,
            Duration early,
            Message message,
            Reading.@Nullable Unreadable unreadable) {}
}
