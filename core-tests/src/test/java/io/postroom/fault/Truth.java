package io.postroom.fault;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** What the database itself says happened. */
final class Truth {
    private Truth() {}

    /** Every committed message with its position, 0 if it has none. */
    static List<History.Stored> stored(DataSource dataSource) throws SQLException {
        List<History.Stored> stored = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select o.id, o.aggregate_id, coalesce(o.aggregate_version, 0), coalesce(j.position, 0)"
                                + " from postroom.outbox o left join postroom.journal j using (seq)")) {
            while (row.next()) {
                stored.add(new History.Stored(
                        row.getObject(1, UUID.class), row.getString(2), row.getLong(3), row.getLong(4)));
            }
        }
        return stored;
    }

    /** How many messages have a smaller transaction id than the version before them: what breaks an order by xid. */
    static String xidInversions() {
        return "select count(*) from postroom.outbox a join postroom.outbox b"
                + " on b.aggregate_id = a.aggregate_id and b.aggregate_version = a.aggregate_version + 1 and b.xid < a.xid";
    }

    /** How many messages were stamped after one that was inserted later: what breaks a cursor on seq. */
    static String lateCommits() {
        return "select count(*) from (select seq, max(seq) over (order by position) as highest from postroom.journal) as j"
                + " where seq < highest";
    }
}
