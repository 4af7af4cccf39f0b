package io.postroom.outbox;

import io.postroom.message.InvalidMessageException;
import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import io.postroom.telemetry.TraceContext;
import java.sql.Connection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * Publishes messages inside the caller's transaction: a message is published if and only if that transaction commits.
 *
 * <p>Only inserts on the given connection; never commits, rolls back, closes or changes it. A process that dies before the
 * commit leaves nothing, one that dies after it leaves a message that will be delivered. Safe for use by many threads, each with
 * its own connection.
 */
public final class Outbox {
    /** How many messages one {@link #publishAll} takes. */
    public static final int BATCH_MAX = 10_000;

    /** How many characters the payloads of one {@link #publishAll} have together. */
    public static final long BATCH_CHARACTERS_MAX = 67_108_864;

    private static final JoinedTransaction TRANSACTION = new JoinedTransaction("outbox", "publish");

    private final OutboxTable table;
    private final Telemetry telemetry;
    private final Runnable published;

    /** {@code published} runs after every insert, so that a relay in the same process looks sooner. */
    public Outbox(Schema schema, Telemetry telemetry, Runnable published) {
        this.table = new OutboxTable(schema);
        this.telemetry = telemetry;
        this.published = published;
    }

    /** Publishes one message and returns its id. */
    public UUID publish(Connection tx, Message message) {
        Objects.requireNonNull(message, "message is null");
        TRANSACTION.require(tx);
        MessageRules.check(message);
        append(1, () -> table.insert(tx, traced(message, TraceContext.headers())));
        published.run();
        return message.id();
    }

    /** Publishes a batch with one statement and returns the ids in the same order. Either all of it or nothing is inserted. */
    public List<UUID> publishAll(Connection tx, List<Message> messages) {
        Objects.requireNonNull(messages, "messages is null");
        TRANSACTION.require(tx);
        checkBatch(messages);
        if (messages.isEmpty()) {
            return List.of();
        }
        Map<String, String> trace = TraceContext.headers();
        append(
                messages.size(),
                () -> table.insertBatch(
                        tx,
                        messages.stream().map(message -> traced(message, trace)).toList()));
        published.run();
        return messages.stream().map(Message::id).toList();
    }

    private void append(int messages, Runnable insert) {
        long began = System.nanoTime();
        try {
            insert.run();
        } catch (DatabaseException e) {
            telemetry.appended("refused", System.nanoTime() - began);
            throw TRANSACTION.explained(e);
        }
        telemetry.appended("inserted", System.nanoTime() - began);
        telemetry.published(messages);
    }

    private static void checkBatch(List<Message> messages) {
        if (messages.size() > BATCH_MAX) {
            throw batchTooLarge("there are " + messages.size() + ", the limit is " + BATCH_MAX + " for one call");
        }
        Set<UUID> ids = new HashSet<>();
        long characters = 0;
        for (int i = 0; i < messages.size(); i++) {
            Message message = Objects.requireNonNull(messages.get(i), "message " + i + " of the batch is null");
            MessageRules.check(message);
            if (!ids.add(message.id())) {
                throw new InvalidMessageException(
                        "outbox.id-repeated",
                        "could not publish messages: id " + message.id()
                                + " is there twice in one batch; give each message its own");
            }
            characters += message.payload().length();
        }
        if (characters > BATCH_CHARACTERS_MAX) {
            throw batchTooLarge("their payloads have " + characters + " characters, the limit is "
                    + BATCH_CHARACTERS_MAX + " for one call");
        }
    }

    private static InvalidMessageException batchTooLarge(String fact) {
        return new InvalidMessageException(
                "outbox.batch-too-large",
                "could not publish messages: " + fact + "; publish the rest with another call in the same transaction");
    }

    /** Checked before: the limits are the caller's, and a trace never makes a message fail. */
    private static Message traced(Message message, Map<String, String> trace) {
        if (trace.isEmpty()
                || message.headers().containsKey("traceparent")
                || message.headers().containsKey("tracestate")) {
            return message;
        }
        Map<String, String> headers = new HashMap<>(message.headers());
        headers.putAll(trace);
        return new Message(
                message.id(),
                message.tenantId(),
                message.aggregateType(),
                message.aggregateId(),
                message.aggregateVersion(),
                message.eventType(),
                message.eventVersion(),
                message.payload(),
                headers,
                message.occurredAt(),
                message.availableAt());
    }
}
