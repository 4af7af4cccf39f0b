package io.postroom.lock;

import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** Locks of a transaction, and the names behind their numbers: one method per statement, no decisions. */
final class HoldTable {
    private final Sql tryHold;
    private final Sql hold;
    private final Sql findHolders;
    private final Sql noteNames;
    private final Sql findSharers;

    HoldTable(Schema schema) {
        tryHold = schema.sql(HoldTable.class, "try_hold.sql");
        hold = schema.sql(HoldTable.class, "hold.sql");
        findHolders = schema.sql(HoldTable.class, "find_holders.sql");
        noteNames = schema.sql(HoldTable.class, "note_names.sql");
        findSharers = schema.sql(HoldTable.class, "find_sharers.sql");
    }

    /** Whether the lock is held now, and the number that stands for its name. */
    record Held(boolean held, long key) {}

    /** A name and its number. */
    record Named(long key, String name) {}

    /** Two names with one number. */
    record Shared(Named named, String other) {}

    Held tryHold(Connection tx, String name) {
        return tryHold.on(tx).set("name", name).one(HoldTable::held);
    }

    Held hold(Connection tx, String name, Duration wait) {
        return hold.on(tx)
                .set("name", name)
                .set("wait_millis", Math.toIntExact(wait.toMillis()))
                .one(HoldTable::held);
    }

    List<Integer> findHolders(Connection tx, long key) {
        return findHolders.on(tx).set("key", key).list(row -> row.getInt("pid"));
    }

    void note(Connection tx, Collection<Named> used) {
        named(noteNames, tx, used).update();
    }

    List<Shared> findSharers(Connection tx, Collection<Named> used) {
        return named(findSharers, tx, used)
                .list(row -> new Shared(new Named(row.getLong("key"), row.getString("name")), row.getString("other")));
    }

    private static Call named(Sql sql, Connection tx, Collection<Named> used) {
        return sql.on(tx)
                .set("keys", used.stream().mapToLong(Named::key).toArray())
                .set("names", used.stream().map(Named::name).toArray(String[]::new));
    }

    private static Held held(ResultSet row) throws SQLException {
        return new Held(row.getBoolean("held"), row.getLong("key"));
    }
}
