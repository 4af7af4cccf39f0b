package io.postroom.server.footprint;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Somebody who keeps dead rows from being removed: a session, a prepared transaction or a replication slot.
 *
 * @param openFor null for a slot, and for a session whose time is not shown to this login
 */
public record Holder(
        String kind,
        String name,
        @Nullable String application,
        @Nullable String state,
        @Nullable Duration openFor,
        long transactionsBehind) {

    /** Whether it has a time, and this login may not see it: sessions of other roles need pg_read_all_stats. */
    public boolean isTimeHidden() {
        return openFor == null && kind.equals("session");
    }
}
