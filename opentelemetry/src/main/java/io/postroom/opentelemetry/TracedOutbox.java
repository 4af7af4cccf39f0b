package io.postroom.opentelemetry;

import io.postroom.message.Message;
import io.postroom.outbox.Outbox;
import java.sql.Connection;
import java.util.List;
import java.util.Objects;
import java.util.UUID;

/**
 * An outbox that publishes within a span. The messages carry its context in {@code traceparent}, unless they bring one. The span ends
 * with the insert; whether the transaction commits is not known then. Safe for use by many threads, each with its own connection.
 */
public final class TracedOutbox {
    private final Outbox outbox;
    private final Tracing tracing;

    TracedOutbox(Outbox outbox, Tracing tracing) {
        this.outbox = outbox;
        this.tracing = tracing;
    }

    /** Publishes one message and returns its id; see {@link Outbox#publish}. */
    public UUID publish(Connection tx, Message message) {
        Objects.requireNonNull(message, "message is null");
        return Tracing.within(tracing.publication(List.of(message)), () -> outbox.publish(tx, message));
    }

    /** Publishes a batch and returns the ids in the same order; see {@link Outbox#publishAll}. One span for all of them. */
    public List<UUID> publishAll(Connection tx, List<Message> messages) {
        Objects.requireNonNull(messages, "messages is null");
        return messages.isEmpty()
                ? outbox.publishAll(tx, messages)
                : Tracing.within(tracing.publication(messages), () -> outbox.publishAll(tx, messages));
    }
}
