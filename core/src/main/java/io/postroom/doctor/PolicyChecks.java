package io.postroom.doctor;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;

/** Policies that somebody wrote and that hold for nobody, or not for everybody. */
final class PolicyChecks {
    private static final int ROWS_MAX = 50;

    private final Notes notes;
    private final Sql listOpenTables;
    private final Sql listOpenViews;
    private final Sql listPrivilegedSessions;

    PolicyChecks(Schema schema, Notes notes) {
        this.notes = notes;
        listOpenTables = schema.sql(PolicyChecks.class, "list_open_tables.sql");
        listOpenViews = schema.sql(PolicyChecks.class, "list_open_views.sql");
        listPrivilegedSessions = schema.sql(PolicyChecks.class, "list_privileged_sessions.sql");
    }

    void views(Connection tx) {
        listOpenViews.on(tx).set("limit", ROWS_MAX).list(row -> {
            String name = Names.quoted(row.getString("schema_name")) + "." + Names.quoted(row.getString("name"));
            notes.add(Finding.error(
                    Check.POLICIES_VIEW,
                    "view " + row.getString("schema_name") + "." + row.getString("name") + " reads table "
                            + row.getString("table_name") + " by the rights of " + row.getString("owner")
                            + ", for whom its policies do not hold: whoever may read the view sees all rows",
                    "let it read by the rights of whoever asks, who then needs rights on the table",
                    Fix.of(Fix.Risk.DECISION, "alter view " + name + " set (security_invoker = true)")));
            return name;
        });
    }

    void sessions(Connection tx) {
        listPrivilegedSessions.on(tx).list(row -> {
            String login = row.getString("login");
            notes.add(Finding.warning(
                    Check.PRIVILEGED_SESSION,
                    row.getLong("sessions") + " sessions of " + row.getString("application") + " are those of " + login
                            + ", who "
                            + (row.getBoolean("rolsuper") ? "is a superuser" : "bypasses row level security")
                            + "; there should be none: no right and no policy holds for them",
                    "give the application a login of its own with the role writer, and relays one with the role relay",
                    Fix.NONE));
            return login;
        });
    }

    void tables(Connection tx) {
        listOpenTables.on(tx).set("limit", ROWS_MAX).list(row -> {
            String shown = row.getString("schema_name") + "." + row.getString("name");
            String name = Names.quoted(row.getString("schema_name")) + "." + Names.quoted(row.getString("name"));
            if (row.getBoolean("enabled")) {
                notes.add(Finding.warning(
                        Check.POLICIES_BYPASSED,
                        "table " + shown + " has policies that do not hold for its owner " + row.getString("owner")
                                + ", who can log in",
                        "force them, or give the table to a role that cannot log in",
                        Fix.of(Fix.Risk.DECISION, "alter table " + name + " force row level security")));
            } else {
                notes.add(Finding.error(
                        Check.POLICIES_OFF,
                        "table " + shown
                                + " has policies and row level security is off: everybody who may read it sees all rows",
                        "switch it on",
                        Fix.of(Fix.Risk.DECISION, "alter table " + name + " enable row level security")));
            }
            return shown;
        });
    }
}
