package io.postroom.doctor;

import io.postroom.postgres.Call;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** Whether every role may do what the printed grants say, and nothing else. */
final class RoleChecks {
    private final Schema schema;
    private final Grants roles;
    private final Notes notes;
    private final Sql listRoles;
    private final Sql listPrivileged;
    private final Sql listForeignOwners;
    private final Sql listMissing;
    private final Sql listExcess;

    RoleChecks(Schema schema, Grants roles, Notes notes) {
        this.schema = schema;
        this.roles = roles;
        this.notes = notes;
        listRoles = schema.sql(RoleChecks.class, "list_roles.sql");
        listPrivileged = schema.sql(RoleChecks.class, "list_privileged.sql");
        listForeignOwners = schema.sql(RoleChecks.class, "list_foreign_owners.sql");
        listMissing = schema.sql(RoleChecks.class, "list_missing.sql");
        listExcess = schema.sql(RoleChecks.class, "list_excess.sql");
    }

    void look(Connection tx) {
        List<String> there = listRoles.on(tx).set("roles", names()).list(row -> row.getString(1));
        List<String> missing =
                roles.roles().stream().filter(role -> !there.contains(role)).toList();
        if (!missing.isEmpty()) {
            notes.add(Finding.warning(
                    Check.ROLES,
                    "there is no role " + Names.some(missing)
                            + ": nothing here keeps a login from what it does not need",
                    "read the output of postroom schema grants and run it, or name the roles you gave it: as options, or in console.database-roles",
                    grants()));
            return;
        }
        privileged(tx);
        List<String> foreign = listForeignOwners
                .on(tx)
                .set("schema", schema.name())
                .set("owner", roles.owner())
                .list(row -> row.getString(1));
        if (!foreign.isEmpty()) {
            notes.add(Finding.warning(
                    Check.OWNER,
                    Names.some(foreign) + " of schema " + schema.name() + " does not belong to " + roles.owner(),
                    "run the output of postroom schema grants again, as after every migration",
                    grants()));
        }
        List<GrantedRight> meant = GrantedRight.of(roles.print(schema)).stream()
                .filter(right -> !right.role().equals(roles.owner()))
                .toList();
        missing(tx, meant);
        excess(tx, meant);
    }

    /** The whole script in one: it changes nothing that is right already. */
    private Fix grants() {
        return Fix.of(Fix.Risk.TAKES, roles.print(schema).strip().replaceAll(";$", ""));
    }

    private String[] names() {
        return roles.roles().toArray(String[]::new);
    }

    private void privileged(Connection tx) {
        listPrivileged.on(tx).set("roles", names()).list(row -> {
            String login = row.getString("login");
            String above = row.getBoolean("rolsuper") ? "is a superuser" : "bypasses row level security";
            notes.add(Finding.warning(
                    Check.PRIVILEGED_LOGIN,
                    "login " + login + " has " + row.getString("roles") + " and " + above
                            + ": no right and no policy holds for it",
                    "let applications and relays use logins without such attributes",
                    Fix.of(Fix.Risk.DECISION, "alter role " + Names.quoted(login) + " nosuperuser nobypassrls")));
            return login;
        });
    }

    private void missing(Connection tx, List<GrantedRight> meant) {
        Map<String, List<GrantedRight>> lacking = new LinkedHashMap<>();
        set(listMissing.on(tx), meant).list(row -> {
            boolean has = row.getBoolean("has") || row.wasNull();
            if (!has) {
                GrantedRight right = meant.get(row.getInt("n") - 1);
                lacking.computeIfAbsent(right.role(), ignored -> new ArrayList<>())
                        .add(right);
            }
            return has;
        });
        lacking.forEach((role, rights) -> notes.add(Finding.error(
                Check.GRANTS_MISSING,
                "role " + role + " lacks "
                        + Names.some(rights.stream().map(GrantedRight::words).toList()),
                "grant it; postroom schema grants is to be run after each migration",
                new Fix(
                        Fix.Risk.HARMLESS,
                        rights.stream()
                                .map(right -> "grant " + right.words() + " to " + Names.quoted(role))
                                .toList()))));
    }

    private record Excess(String grantee, String words) {}

    private void excess(Connection tx, List<GrantedRight> meant) {
        Map<String, List<String>> found = new LinkedHashMap<>();
        set(listExcess.on(tx), meant)
                .set("schema", schema.name())
                .set("owner", roles.owner())
                .list(row -> {
                    String column = row.getString("col");
                    return new Excess(
                            row.getString("grantee"),
                            row.getString("verb").toLowerCase(Locale.ROOT)
                                    + (column.isEmpty() ? "" : " (" + Names.quoted(column) + ")") + " on "
                                    + row.getString("object"));
                })
                .forEach(each -> found.computeIfAbsent(each.grantee(), ignored -> new ArrayList<>())
                        .add(each.words()));
        found.forEach((grantee, rights) -> {
            boolean isPublic = grantee.equals("public");
            boolean isOurs = roles.roles().contains(grantee);
            notes.add(new Finding(
                    Check.GRANTS_EXCESS,
                    isPublic ? Severity.ERROR : isOurs ? Severity.WARNING : Severity.NOTE,
                    (isPublic ? "everybody" : "role " + grantee)
                            + " has rights that postroom schema grants does not give: " + Names.some(rights),
                    "take away what is not meant",
                    new Fix(
                            isPublic || isOurs ? Fix.Risk.TAKES : Fix.Risk.DECISION,
                            rights.stream()
                                    .map(right -> "revoke " + right + " from "
                                            + (isPublic ? "public" : Names.quoted(grantee)))
                                    .toList())));
        });
    }

    private static Call set(Call call, List<GrantedRight> rights) {
        return call.set("roles", column(rights, GrantedRight::role))
                .set("verbs", column(rights, GrantedRight::verb))
                .set("kinds", column(rights, GrantedRight::kind))
                .set("objects", column(rights, GrantedRight::object))
                .set("columns", column(rights, GrantedRight::column));
    }

    private static String[] column(List<GrantedRight> rights, Function<GrantedRight, String> part) {
        return rights.stream().map(part).toArray(String[]::new);
    }
}
