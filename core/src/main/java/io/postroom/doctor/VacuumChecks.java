package io.postroom.doctor;

import io.postroom.doctor.Server.Setting;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Whether dead rows are removed in time, and old transaction ids. */
final class VacuumChecks {
    /** More than this is worth an alert. */
    static final long DEAD_ROWS_MAX = 100_000;
    /** Small tables that are updated all the time: everybody reads them whole. */
    private static final Set<String> SMALL = Set.of("lane", "relay", "worker", "lease", "consumer_offset");

    private static final int THRESHOLD = 1_000;
    private static final int FACTOR_DIGITS = 6;
    static final long SMALL_DEAD_ROWS_MAX = 10_000;
    /** PostgreSQL stops at two billion; somebody should have time to sleep before that. */
    static final long AGE_MAX = 1_500_000_000L;

    private final Schema schema;
    private final Server.Settings settings;
    private final Notes notes;
    private final Sql listTables;

    VacuumChecks(Schema schema, Server.Settings settings, Notes notes) {
        this.schema = schema;
        this.settings = settings;
        this.notes = notes;
        listTables = schema.sql(VacuumChecks.class, "list_tables.sql");
    }

    /** A table, and what autovacuum is told of it. */
    record Table(
            String name,
            boolean isPartition,
            long rows,
            long dead,
            long age,
            boolean isEnabled,
            double scaleFactor,
            long threshold) {

        /** With how many dead rows autovacuum begins. */
        long begins() {
            return threshold + Math.round(scaleFactor * rows);
        }

        long beginsMax() {
            return SMALL.contains(name) ? SMALL_DEAD_ROWS_MAX : DEAD_ROWS_MAX;
        }
    }

    void look(Connection tx) {
        Map<String, Setting> found = settings.read(tx, "autovacuum", "track_counts", "autovacuum_freeze_max_age");
        for (String name : List.of("autovacuum", "track_counts")) {
            Setting setting = found.get(name);
            if (setting != null && setting.isOff()) {
                notes.add(Finding.error(
                        Check.AUTOVACUUM,
                        name + " is off, it must be on: dead rows are never removed",
                        setting.advice("switch it on"),
                        setting.set("on")));
            }
        }
        List<Table> tables = listTables
                .on(tx)
                .set("schema", schema.name())
                .list(row -> new Table(
                        row.getString("name"),
                        row.getBoolean("is_partition"),
                        row.getLong("rows"),
                        row.getLong("dead"),
                        row.getLong("age"),
                        !Set.of("false", "off", "0", "no").contains(row.getString("enabled")),
                        row.getDouble("scale_factor"),
                        row.getLong("threshold")));
        tables.forEach(this::look);
        Setting freeze = found.get("autovacuum_freeze_max_age");
        age(tables, freeze == null ? 200_000_000 : Long.parseLong(freeze.value()));
    }

    private void look(Table table) {
        String name = schema.fill("/*schema*/") + Names.quoted(table.name());
        if (!table.isEnabled()) {
            notes.add(Finding.error(
                    Check.AUTOVACUUM_TABLE,
                    "autovacuum is off for table " + table.name() + ": its dead rows are never removed",
                    "switch it on",
                    Fix.of(Fix.Risk.HARMLESS, "alter table " + name + " reset (autovacuum_enabled)")));
        } else if (!table.isPartition() && table.begins() > table.beginsMax()) {
            notes.add(Finding.warning(
                    Check.AUTOVACUUM_LAZY,
                    "autovacuum of table " + table.name() + " begins with " + table.begins()
                            + " dead rows, the limit is " + table.beginsMax(),
                    "let it begin earlier",
                    Fix.of(
                            Fix.Risk.HARMLESS,
                            "alter table " + name + " set (autovacuum_vacuum_scale_factor = " + gentle(table)
                                    + ", autovacuum_vacuum_threshold = " + THRESHOLD + ")")));
        }
        if (table.dead() > DEAD_ROWS_MAX && table.dead() > 2 * table.begins()) {
            notes.add(Finding.warning(
                    Check.DEAD_ROWS,
                    "table " + table.name() + " has about " + table.dead() + " dead rows, the limit is " + DEAD_ROWS_MAX
                            + ", and autovacuum should have begun with " + table.begins(),
                    "look who holds a snapshot (PR-D070 to PR-D073), then let it be vacuumed",
                    Fix.of(Fix.Risk.HEAVY, "vacuum " + name)));
        }
    }

    /** So that it begins at half of the limit, however many rows there are. */
    static String gentle(Table table) {
        double factor = (table.beginsMax() / 2.0 - THRESHOLD) / Math.max(1, table.rows());
        return BigDecimal.valueOf(Math.min(0.01, factor))
                .setScale(FACTOR_DIGITS, RoundingMode.DOWN)
                .toPlainString();
    }

    private void age(List<Table> tables, long freezeMaxAge) {
        long limit = Math.min(AGE_MAX, freezeMaxAge + freezeMaxAge / 2);
        List<Table> old = tables.stream().filter(table -> table.age() > limit).toList();
        if (!old.isEmpty()) {
            long oldest = old.stream().mapToLong(Table::age).max().orElse(0);
            notes.add(new Finding(
                    Check.WRAPAROUND,
                    oldest > AGE_MAX ? Severity.ERROR : Severity.WARNING,
                    "transaction ids in table "
                            + Names.some(old.stream().map(Table::name).toList()) + " are up to " + oldest
                            + " old, the limit is " + limit + ": the vacuum that freezes them does not get through",
                    "look who holds a snapshot (PR-D070 to PR-D073), then freeze them",
                    new Fix(
                            Fix.Risk.HEAVY,
                            old.stream()
                                    .map(table ->
                                            "vacuum (freeze) " + schema.fill("/*schema*/") + Names.quoted(table.name()))
                                    .toList())));
        }
    }
}
