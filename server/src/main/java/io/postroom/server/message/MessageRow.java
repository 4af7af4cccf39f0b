package io.postroom.server.message;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A message in a list, without what may be large. */
public record MessageRow(
        long position,
        UUID id,
        @Nullable String tenantId,
        String aggregateType,
        String aggregateId,
        String eventType,
        int eventVersion,
        Instant occurredAt,
        int bytes) {}
