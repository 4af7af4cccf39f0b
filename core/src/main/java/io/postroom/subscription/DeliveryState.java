package io.postroom.subscription;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A delivery as it stands: a message that a lane has passed and that did not go through at once. What the message is, is null once its
 * day's partition is gone.
 *
 * @param state one of {@link #STATES}
 * @param dueAt when it is tried next, while it is scheduled or waiting
 * @param sendingBy the relay that has it on its way
 * @param errorClass of the last attempt, and {@code error} its beginning
 * @param since when it was put aside
 * @param deadLetter the one that holds its key, or that it was redriven from
 */
public record DeliveryState(
        long position,
        int lane,
        String state,
        int attempts,
        @Nullable Instant dueAt,
        @Nullable Instant sendingSince,
        @Nullable String sendingBy,
        @Nullable String errorClass,
        @Nullable String error,
        Instant since,
        @Nullable Long deadLetter,
        @Nullable UUID messageId,
        @Nullable String eventType,
        @Nullable String tenantId,
        @Nullable String aggregateType,
        @Nullable String aggregateId) {
    /** Every state a delivery can be in. */
    public static final List<String> STATES =
            List.of("waiting", "sending", "parked", "scheduled", "held", "unreadable");

    /** Of these there are never many, or an index has them alone. */
    static final List<String> FEW = List.of("sending", "held", "unreadable");

    /** A page of them, in the order of their positions. {@code next} is after which one to go on; null at the end. */
    public record Page(
            List<DeliveryState> deliveries, @Nullable Long next) {
        public Page {
            deliveries = List.copyOf(deliveries);
        }
    }
}
