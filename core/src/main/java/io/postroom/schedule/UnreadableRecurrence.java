package io.postroom.schedule;

import io.postroom.PostroomException;
import java.time.Instant;

/**
 * What another node has declared and this one cannot read: a zone that only a newer JDK knows, or what only a newer release does. It can be listed and paused here, and
 * fires on nodes that can read it.
 *
 * @param problem why it cannot be read
 */
public record UnreadableRecurrence(String expression, String problem) implements Recurrence {
    @Override
    public Instant next(Instant after) {
        throw new PostroomException("schedule.unreadable", problem);
    }

    @Override
    public String describe() {
        return expression + ", which this node cannot read: " + problem;
    }
}
