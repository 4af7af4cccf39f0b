package io.postroom.journal;

import io.postroom.message.Envelope;
import java.time.Duration;
import java.util.List;

/**
 * What a lane read in one go: the messages it wants, in order, and how far it got. Everything up to {@code next} that is not
 * among the items is none of this lane's business.
 */
public record Batch(List<Item> items, LanePosition next) {

    /** A message, how much of it there is, and for how long it must still wait by the database's clock. */
    public record Item(Envelope envelope, int bytes, Duration early) {}
}
