package io.postroom.inbox;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.JoinedTransaction;
import io.postroom.postgres.SqlState;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Remembers what a consumer has already handled, in the transaction of the effect: a message takes effect once, however often it comes.
 *
 * <p>Accept first, then apply what was answered with {@link Acceptance#FIRST} on the same connection, then commit. If the transaction
 * rolls back or the process dies, the message was not accepted and comes again. A copy that another transaction is handling is waited
 * for: it is a duplicate if that one commits, and the first if it rolls back; {@code lock_timeout} bounds the wait.
 *
 * <p>Only writes on the given connection; never commits, rolls back, closes or changes it. Safe for use by many threads, each with its
 * own connection.
 */
public final class Inbox {
    /** How many messages one {@link #acceptAll} takes. */
    public static final int BATCH_MAX = 10_000;

    private static final Pattern CONSUMER = Pattern.compile("[a-z][a-z0-9_.-]{0,99}");
    private static final UUID NIL = new UUID(0, 0);
    private static final JoinedTransaction TRANSACTION = new JoinedTransaction("inbox", "accept");

    private final Database database;
    private final InboxTable table;
    private final Telemetry telemetry;

    public Inbox(Database database, Telemetry telemetry) {
        this.database = database;
        this.table = new InboxTable(database.schema());
        this.telemetry = telemetry;
    }

    /** Accepts one message; {@code payloadHash} is the same for every copy of it, SHA-256 for example. */
    public Acceptance accept(Connection tx, String consumer, UUID messageId, byte[] payloadHash) {
        return acceptAll(tx, consumer, List.of(new Received(messageId, payloadHash)))
                .get(0);
    }

    /**
     * Accepts a batch in one round trip and answers for each in the same order. Of two with one id only the one that stands first can
     * be the first. Two transactions that each accept one batch never wait for each other in a circle; two that accept several may, and
     * PostgreSQL then ends one of them.
     */
    public List<Acceptance> acceptAll(Connection tx, String consumer, List<Received> received) {
        requireConsumer(consumer);
        requireBatch(received);
        TRANSACTION.require(tx);
        if (received.isEmpty()) {
            return List.of();
        }
        List<Acceptance> answers;
        try {
            answers = table.accept(tx, consumer, received);
        } catch (DatabaseException e) {
            throw explained(e);
        }
        count(consumer, answers);
        return answers;
    }

    /**
     * Says how long a consumer's messages must be remembered, for whoever keeps the house. The last word counts; those who never said
     * anything are remembered as {@link Retention#USUAL} says.
     */
    public void declare(String consumer, Retention retention) {
        requireConsumer(consumer);
        Objects.requireNonNull(retention, "retention is null");
        database.transact(tx -> {
            table.declare(tx, consumer, retention);
            return consumer;
        });
    }

    private void count(String consumer, List<Acceptance> answers) {
        Map<Acceptance, Integer> counts = new EnumMap<>(Acceptance.class);
        answers.forEach(answer -> counts.merge(answer, 1, Integer::sum));
        counts.forEach((answer, messages) -> telemetry.received(consumer, answer.word(), messages));
    }

    private static void requireConsumer(String consumer) {
        if (!CONSUMER.matcher(Objects.requireNonNull(consumer, "consumer is null"))
                .matches()) {
            throw new PostroomException(
                    "inbox.consumer-invalid",
                    "could not accept messages: consumer is '" + consumer.substring(0, Math.min(60, consumer.length()))
                            + "', it must be a lower-case letter and up to 99 letters, digits or _ . -");
        }
    }

    private static void requireBatch(List<Received> received) {
        Objects.requireNonNull(received, "received is null");
        if (received.size() > BATCH_MAX) {
            throw new PostroomException(
                    "inbox.batch-too-large",
                    "could not accept messages: there are " + received.size() + ", the limit is " + BATCH_MAX
                            + " for one call; accept the rest with another call in the same transaction");
        }
        for (int i = 0; i < received.size(); i++) {
            Received each = Objects.requireNonNull(received.get(i), "message " + i + " of the batch is null");
            if (each.id().equals(NIL)) {
                throw new PostroomException(
                        "inbox.id-invalid", "could not accept messages: an id is the nil UUID; give a real one");
            }
            int bytes = each.payloadHash().length;
            if (bytes < Received.HASH_BYTES_MIN || bytes > Received.HASH_BYTES_MAX) {
                throw new PostroomException(
                        "inbox.hash-invalid",
                        "could not accept message " + each.id() + ": its hash is " + bytes
                                + " bytes long, the range is "
                                + Received.HASH_BYTES_MIN + " to " + Received.HASH_BYTES_MAX
                                + "; use SHA-256 of the payload");
            }
        }
    }

    private static PostroomException explained(DatabaseException e) {
        if (e.sqlState().equals(SqlState.SERIALIZATION_FAILURE)) {
            return new PostroomException(
                    "inbox.serialization",
                    "could not accept: another transaction accepted one of these messages after this one began; roll back and"
                            + " try again, or use READ COMMITTED, which sees it",
                    e);
        }
        return TRANSACTION.explained(e);
    }
}
