package io.postroom.source.kafka;

import io.postroom.message.Envelope;
import io.postroom.relay.Projection;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A projection that books each message and adds its amount to an account; no constraint keeps it from doing so twice. */
final class Books implements Projection {
    static void create(TestDatabase database) {
        database.execute(
                "create table booking (n bigserial, id uuid, account text, version bigint, amount bigint)",
                "create table account (id text primary key, balance bigint not null)");
    }

    @Override
    public void apply(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement booking =
                        tx.prepareStatement("insert into booking (id, account, version, amount) values (?, ?, ?, ?)");
                PreparedStatement account = tx.prepareStatement("insert into account as a values (?, ?)"
                        + " on conflict (id) do update set balance = a.balance + excluded.balance")) {
            for (Envelope each : batch) {
                String text = each.message().payload();
                long amount = Long.parseLong(text.replaceAll("\\D", ""));
                booking.setObject(1, each.message().id());
                booking.setString(2, each.message().aggregateId());
                booking.setObject(3, each.message().aggregateVersion());
                booking.setLong(4, amount);
                booking.executeUpdate();
                account.setString(1, each.message().aggregateId());
                account.setLong(2, amount);
                account.executeUpdate();
            }
        }
    }

    /** Every broken promise, in words: bookings that are not once for each of these messages, or not in their order. */
    static List<String> wrong(TestDatabase database, String messages) throws SQLException {
        List<String> wrong = new ArrayList<>();
        wrong.addAll(strings(
                database,
                "select 'lost ' || id from (" + messages + ") as m where id not in (select id from booking) limit 5"));
        wrong.addAll(strings(database, "select 'twice ' || id from booking group by id having count(*) > 1 limit 5"));
        wrong.addAll(
                strings(database, "select 'invented ' || id from booking where id not in (" + messages + ") limit 5"));
        wrong.addAll(strings(database, """
                select 'out of order ' || account || ' ' || version from (
                    select account, version, lag(version) over (partition by account order by n) as before from booking) as b
                where before >= version limit 5"""));
        wrong.addAll(strings(database, """
                select 'balance of ' || account.id from account
                left join (select account as id, sum(amount) as amount from booking group by account) as b using (id)
                where balance is distinct from amount"""));
        return wrong;
    }

    static List<String> strings(TestDatabase database, String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }

    static void await(String what, Duration within, BooleanSupplier done) {
        long deadline = System.nanoTime() + within.toNanos();
        while (!done.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within " + within + ": " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
