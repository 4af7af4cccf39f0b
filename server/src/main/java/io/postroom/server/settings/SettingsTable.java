package io.postroom.server.settings;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The catalogs as the page of settings reads them: one method per statement. */
final class SettingsTable {
    private final Schema schema;
    private final Sql readBase;
    private final Sql listNeeds;

    SettingsTable(Schema schema) {
        this.schema = schema;
        readBase = schema.sql(SettingsTable.class, "read_base.sql");
        listNeeds = schema.sql(SettingsTable.class, "list_needs.sql");
    }

    Base base(Connection tx) {
        return readBase.on(tx)
                .one(row -> new Base(row.getString("name"), row.getString("version"), row.getString("role")));
    }

    /** What the role lacks, by what it is needed for. */
    Map<String, List<String>> needs(Connection tx) {
        Map<String, List<String>> needs = new HashMap<>();
        listNeeds
                .on(tx)
                .set("schema", schema.name())
                .list(row -> needs.put(row.getString("word"), List.of((String[])
                        row.getArray("lacks").getArray())));
        return needs;
    }
}
