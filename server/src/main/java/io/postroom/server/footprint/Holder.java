package io.postroom.server.footprint;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Somebody who keeps dead rows from being removed: a session, a prepared transaction or a replication slot. */
public record Holder(
        String kind,
        String name,
        @Nullable String application,
        @Nullable String state,
        @Nullable Duration openFor,
        long transactionsBehind) {}
