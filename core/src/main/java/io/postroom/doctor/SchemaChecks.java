package io.postroom.doctor;

import io.postroom.postgres.MigrationState;
import io.postroom.postgres.Migrations;
import io.postroom.postgres.Schema;
import java.util.List;

/** Whether the schema is the one that this program knows. */
final class SchemaChecks {
    private final Schema schema;
    private final Migrations migrations;
    private final Notes notes;

    SchemaChecks(Schema schema, Migrations migrations, Notes notes) {
        this.schema = schema;
        this.migrations = migrations;
        this.notes = notes;
    }

    /** Says whether there is a schema at all. */
    boolean look() {
        List<MigrationState> states = migrations.status();
        List<MigrationState> pending = in(states, MigrationState.Word.PENDING);
        List<MigrationState> newer = in(states, MigrationState.Word.NEWER);
        List<MigrationState> changed = in(states, MigrationState.Word.CHANGED);
        if (!pending.isEmpty()) {
            notes.add(Finding.error(
                    Check.SCHEMA_BEHIND,
                    "schema " + schema.name() + " has version "
                            + (pending.get(0).version() - 1) + ", this program needs " + Migrations.latest(),
                    "run postroom schema migrate as its owner",
                    Fix.of(
                            Fix.Risk.HEAVY,
                            migrations
                                    .print(pending.get(0).version(), Migrations.latest())
                                    .strip()
                                    .replaceAll(";$", ""))));
        }
        if (!newer.isEmpty()) {
            notes.add(Finding.warning(
                    Check.SCHEMA_AHEAD,
                    "schema " + schema.name() + " has version "
                            + newer.get(newer.size() - 1).version() + ", this program knows " + Migrations.latest(),
                    "upgrade this program; until then it survives the newer schema",
                    Fix.NONE));
        }
        if (!changed.isEmpty()) {
            notes.add(Finding.error(
                    Check.SCHEMA_CHANGED,
                    "migration "
                            + Names.some(
                                    changed.stream().map(MigrationState::name).toList()) + " of schema " + schema.name()
                            + " was applied from a file that is not the one shipped",
                    "find out who changed it; compare with postroom schema print",
                    Fix.NONE));
        }
        return pending.size() < Migrations.latest();
    }

    private static List<MigrationState> in(List<MigrationState> states, MigrationState.Word word) {
        return states.stream().filter(state -> state.state() == word).toList();
    }
}
