package io.postroom.server.web;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.Optional;

/** The table of acts: one method per statement, no decisions. Runs in the given transaction, never commits. */
final class ActTable {
    private static final int PURGE_MAX = 100;

    private final Sql begin;
    private final Sql find;
    private final Sql end;
    private final Sql purge;

    ActTable(Schema schema) {
        begin = schema.sql(ActTable.class, "begin_act.sql");
        find = schema.sql(ActTable.class, "find_act.sql");
        end = schema.sql(ActTable.class, "end_act.sql");
        purge = schema.sql(ActTable.class, "purge_acts.sql");
    }

    /** What was asked for, as a hash, and what was answered. */
    record Done(byte[] asked, String answer) {}

    /** Says whether the key was not taken before. */
    boolean begin(Connection tx, String actor, String key, byte[] asked) {
        return begin.on(tx)
                        .set("actor", actor)
                        .set("key", key)
                        .set("asked", asked)
                        .update()
                == 1;
    }

    Optional<Done> find(Connection tx, String actor, String key) {
        return find.on(tx)
                .set("actor", actor)
                .set("key", key)
                .first(row -> new Done(row.getBytes("asked"), row.getString("answer")));
    }

    void end(Connection tx, String actor, String key, String answer) {
        end.on(tx).set("actor", actor).set("key", key).set("answer", answer).update();
    }

    void purge(Connection tx) {
        purge.on(tx).set("limit", PURGE_MAX).update();
    }
}
