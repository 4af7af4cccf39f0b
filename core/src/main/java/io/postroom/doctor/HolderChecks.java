package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Duration;

/** Who keeps dead rows from being removed, and WAL from being recycled. */
final class HolderChecks {
    static final Duration TRANSACTION_MAX = Duration.ofMinutes(10);
    static final Duration TRANSACTION_FAR = Duration.ofHours(1);
    static final Duration IDLE_MAX = Duration.ofMinutes(1);
    /** As much WAL as the smallest disk has room for. */
    static final long SLOT_BYTES_MAX = 10L << 30;

    private static final int ROWS_MAX = 20;

    private final Server.Login login;
    private final Duration transactionMax;
    private final Duration idleMax;
    private final Notes notes;
    private final Sql listHolders;
    private final Sql listPrepared;
    private final Sql listSlots;

    HolderChecks(Schema schema, Server.Login login, Notes notes, Duration transactionMax, Duration idleMax) {
        this.login = login;
        this.transactionMax = transactionMax;
        this.idleMax = idleMax;
        this.notes = notes;
        listHolders = schema.sql(HolderChecks.class, "list_holders.sql");
        listPrepared = schema.sql(HolderChecks.class, "list_prepared.sql");
        listSlots = schema.sql(HolderChecks.class, "list_slots.sql");
    }

    private record Holder(
            int pid, String login, String application, String state, String since, Duration open, Duration idle) {}

    void sessions(Connection tx) {
        if (!login.readsStats()) {
            String grant = "grant pg_read_all_stats to " + Names.quoted(login.name());
            notes.unchecked(Check.OLD_TRANSACTION, "this login does not see what sessions of others do", grant);
            notes.unchecked(Check.IDLE_TRANSACTION, "this login does not see what sessions of others do", grant);
        }
        listHolders
                .on(tx)
                .set("seconds", idleMax)
                .set("limit", ROWS_MAX)
                .list(row -> new Holder(
                        row.getInt("pid"),
                        row.getString("login"),
                        row.getString("application"),
                        row.getString("state"),
                        row.getString("since"),
                        seconds(row.getDouble("seconds")),
                        seconds(row.getDouble("idle_seconds"))))
                .forEach(this::session);
    }

    private void session(Holder holder) {
        String who = "process " + holder.pid() + " of " + holder.login()
                + (holder.application().isEmpty() ? "" : " (" + holder.application() + ")");
        // Not somebody else who has its number by then.
        Fix end = Fix.of(
                Fix.Risk.DECISION,
                "select pg_terminate_backend(pid) from pg_stat_activity where pid = " + holder.pid()
                        + " and backend_start = " + Names.literal(holder.since()));
        boolean isIdle = holder.state().startsWith("idle in transaction")
                && holder.idle().compareTo(idleMax) > 0;
        if (isIdle) {
            notes.add(Finding.warning(
                    Check.IDLE_TRANSACTION,
                    who + " stands still in a transaction for " + holder.idle().toSeconds() + " s, the limit is "
                            + idleMax.toSeconds() + " s",
                    "find out what its application waits for; idle_in_transaction_session_timeout ends such sessions",
                    end));
        }
        if (holder.open().compareTo(transactionMax) > 0) {
            notes.add(new Finding(
                    Check.OLD_TRANSACTION,
                    holder.open().compareTo(TRANSACTION_FAR) > 0 ? Severity.ERROR : Severity.WARNING,
                    who + " has a transaction open for " + holder.open().toSeconds() + " s, the limit is "
                            + transactionMax.toSeconds() + " s: no dead row of this time can be removed",
                    "let it end, or end it: what it did is undone then",
                    end));
        }
    }

    void prepared(Connection tx) {
        listPrepared
                .on(tx)
                .set("seconds", transactionMax)
                .set("limit", ROWS_MAX)
                .list(row -> {
                    String gid = row.getString("gid");
                    notes.add(Finding.error(
                            Check.PREPARED_TRANSACTION,
                            "transaction " + gid + " of " + row.getString("login") + " was prepared "
                                    + Math.round(row.getDouble("seconds")) + " s ago, the limit is "
                                    + transactionMax.toSeconds()
                                    + " s: its locks and its snapshot stay until somebody ends it",
                            "ask whoever coordinates it how it ended elsewhere, and end it the same way",
                            Fix.of(
                                    Fix.Risk.DECISION,
                                    "rollback prepared " + Names.literal(gid),
                                    "commit prepared " + Names.literal(gid))));
                    return gid;
                });
    }

    void slots(Connection tx) {
        listSlots.on(tx).set("limit", ROWS_MAX).list(row -> {
            String name = row.getString("name");
            long bytes = row.getLong("bytes");
            notes.add(new Finding(
                    Check.REPLICATION_SLOT,
                    bytes > SLOT_BYTES_MAX ? Severity.ERROR : Severity.WARNING,
                    row.getString("slot_type") + " replication slot " + name + " has no reader and keeps "
                            + Names.size(bytes)
                            + " of WAL and " + row.getLong("transactions") + " transactions, the limit is "
                            + Names.size(SLOT_BYTES_MAX)
                            + (row.getString("wal_status").equals("lost") ? "; it is lost already" : ""),
                    "start its reader, or drop it: its reader must begin anew then",
                    Fix.of(Fix.Risk.DECISION, "select pg_drop_replication_slot(" + Names.literal(name) + ")")));
            return name;
        });
    }

    private static Duration seconds(double seconds) {
        return Duration.ofMillis(Math.round(seconds * 1000));
    }
}
