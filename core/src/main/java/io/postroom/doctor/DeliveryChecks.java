package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import io.postroom.subscription.SubscriptionState;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;

/** What stands in the way of messages: nobody serves them, nobody takes them, or they were there when a relay died. */
final class DeliveryChecks {
    /** A relay takes free lanes within seconds: what waits longer waits for nobody. */
    static final Duration UNSERVED_MAX = Duration.ofSeconds(30);

    private static final int SUSPECTS_MAX = 100;

    private final Notes notes;
    private final Sql listSuspects;

    DeliveryChecks(Schema schema, Notes notes) {
        this.notes = notes;
        listSuspects = schema.sql(DeliveryChecks.class, "list_suspects.sql");
    }

    void subscriptions(List<SubscriptionState> states) {
        states.stream()
                .filter(state -> !state.isDone()
                        && state.pause() == null
                        && state.servedBy().equals("postgres"))
                .forEach(this::subscription);
    }

    private void subscription(SubscriptionState state) {
        if (state.lanesLeased() < state.lanes()) {
            boolean late = state.lag().compareTo(UNSERVED_MAX) > 0;
            notes.add(new Finding(
                    Check.UNSERVED,
                    late ? Severity.ERROR : Severity.WARNING,
                    state.lanesLeased() + " of " + state.lanes() + " lanes of subscription " + state.name()
                            + " have a relay, all should; " + state.lagMessages() + " messages wait, the oldest for "
                            + state.lag().toSeconds() + " s",
                    "start a relay that serves it, pause it, or remove it: postroom subscription remove "
                            + state.name(),
                    Fix.NONE));
        }
        if (state.unavailableSince() != null) {
            notes.add(Finding.error(
                    Check.CIRCUIT_OPEN,
                    "the destination of subscription " + state.name() + " takes nothing since "
                            + state.unavailableSince() + "; " + state.lagMessages() + " messages wait",
                    "look why with postroom subscription show " + state.name()
                            + "; it goes on by itself when the destination does",
                    Fix.NONE));
        }
    }

    void suspects(Connection tx) {
        listSuspects.on(tx).set("limit", SUSPECTS_MAX).list(row -> {
            String lane = row.getString("subscription");
            long suspects = row.getLong("suspects");
            notes.add(Finding.warning(
                    Check.SUSPECTS,
                    (suspects >= SUSPECTS_MAX ? SUSPECTS_MAX + " messages or more" : suspects + " messages")
                            + " of lane "
                            + row.getInt("lane") + " of subscription " + lane
                            + " were on their way when a relay died, up to "
                            + row.getInt("crashes") + " times; there should be none",
                    "look what kills relays; such messages are sent one by one, and given up if they do it again",
                    Fix.NONE));
            return lane;
        });
    }
}
