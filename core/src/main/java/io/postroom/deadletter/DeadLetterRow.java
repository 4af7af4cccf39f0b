package io.postroom.deadletter;

import io.postroom.message.Message;
import java.util.UUID;

/**
 * A dead letter as a listing shows it: without payload, headers and history.
 *
 * @param ofJobs whether the owner is a queue
 */
public record DeadLetterRow(
        long id,
        String owner,
        boolean ofJobs,
        long position,
        UUID messageId,
        Message.Key key,
        String eventType,
        Burial burial) {}
