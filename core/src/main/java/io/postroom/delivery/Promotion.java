package io.postroom.delivery;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.Collection;

/** Lets parked messages go when nothing earlier of their keys has to wait any more; for whoever has locked their lane. */
public final class Promotion {
    /** How many messages of a key may be due at once. */
    private static final int RUN_MAX = 100;

    private final Sql promote;

    public Promotion(Schema schema) {
        promote = schema.sql(Promotion.class, "promote.sql");
    }

    /** Returns how many messages may go now. */
    public int promote(Connection tx, String subscription, Collection<Integer> keyHashes) {
        return promote.on(tx)
                .set("subscription", subscription)
                .set("keys", keyHashes.toArray(Integer[]::new))
                .set("run", RUN_MAX)
                .update();
    }
}
