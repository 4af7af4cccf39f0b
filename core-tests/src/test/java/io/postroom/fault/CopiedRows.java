package io.postroom.fault;

import io.postroom.testkit.TestDatabase;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** The rows of a schema, as a dump would have them, in another cluster. */
final class CopiedRows {
    private CopiedRows() {}

    /** What a restored dump has: every row as it was, sequences where they were, a system identifier of its own. */
    static void copy(TestDatabase source, TestDatabase copy) throws SQLException, IOException {
        try (Connection from = source.dataSource().getConnection();
                Connection to = copy.dataSource().getConnection();
                Statement target = to.createStatement()) {
            // As a dump does: whatever goes on meanwhile, all tables are as they were at one moment.
            from.setAutoCommit(false);
            from.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            CopyManager reader = from.unwrap(PGConnection.class).getCopyAPI();
            CopyManager writer = to.unwrap(PGConnection.class).getCopyAPI();
            List<String> tables = names(
                    from,
                    "select c.relname from pg_class c where c.relnamespace = 'postroom'::regnamespace"
                            + " and c.relkind in ('r', 'p') and not c.relispartition");
            target.execute("set session_replication_role = replica");
            for (String table : tables) {
                target.execute("delete from postroom." + table);
                String columns = String.join(
                        ", ",
                        names(
                                from,
                                "select attname from pg_attribute where attrelid = 'postroom." + table
                                        + "'::regclass and attnum > 0 and not attisdropped and attgenerated = ''"));
                ByteArrayOutputStream rows = new ByteArrayOutputStream();
                reader.copyOut("copy (select " + columns + " from postroom." + table + ") to stdout", rows);
                writer.copyIn(
                        "copy postroom." + table + " (" + columns + ") from stdin",
                        new ByteArrayInputStream(rows.toByteArray()));
            }
            for (String sequence : names(from, "select sequencename from pg_sequences where schemaname = 'postroom'")) {
                long last = Long.parseLong(names(from, "select last_value from postroom." + sequence)
                        .get(0));
                target.execute("select setval('postroom." + sequence + "', " + last + ")");
            }
            target.execute("reset session_replication_role");
            from.rollback();
        }
    }

    private static List<String> names(Connection connection, String sql) throws SQLException {
        List<String> names = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        }
        return names;
    }
}
