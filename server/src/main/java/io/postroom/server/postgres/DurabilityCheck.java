package io.postroom.server.postgres;

import io.postroom.postgres.Database;
import io.postroom.server.terminal.Terminal;

/** Warns of a server that forgets: what it acknowledged may be gone after a crash, messages included. */
public final class DurabilityCheck {
    private DurabilityCheck() {}

    public static void warn(Database database, Terminal terminal) {
        database.run(tx -> database.schema()
                .sql(DurabilityCheck.class, "inspect_durability.sql")
                .on(tx)
                .one(row -> {
                    if (!row.getBoolean("fsync")) {
                        terminal.say(
                                "warning: fsync is off on this server; a crash can lose or damage what was published");
                    } else if (row.getString("synchronous_commit").equals("off")) {
                        terminal.say("warning: synchronous_commit is off on this server; a crash can lose the last"
                                + " transactions and their messages");
                    }
                    return true;
                }));
    }
}
