package io.postroom.inbox;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Predicate;
import javax.sql.DataSource;

/**
 * Books what messages say, once each, though they come many times: a feed in a table, an account with a balance and a list of bookings
 * that no constraint guards. As a main it books for ever, in a process of its own that a test kills, or that dies at a point. Arguments:
 * URL, seed, the point or an empty text.
 */
final class Ledger {
    private static final String CONSUMER = "ledger";

    private final DataSource dataSource;
    private final Inbox inbox;

    Ledger(DataSource dataSource) {
        this.dataSource = dataSource;
        this.inbox = Postroom.on(dataSource).inbox();
    }

    /** Where it dies. */
    enum Point {
        BEFORE_ACCEPT,
        ACCEPTED,
        BOOKED,
        COMMITTED;

        private void on(CrashingDataSource database, Random random) {
            Predicate<String> accepts =
                    Schema.POSTROOM.sql(InboxTable.class, "accept.sql").text()::equals;
            CrashPoint point = CrashPoint.kill(name(), 3 + random.nextInt(5));
            switch (this) {
                case BEFORE_ACCEPT -> database.before(accepts, point);
                case ACCEPTED -> database.after(accepts, point);
                case BOOKED -> database.after(text -> text.startsWith("update account"), point);
                default -> database.committed(accepts, point);
            }
        }
    }

    record Copy(UUID id, String account, long amount) {}

    static void create(TestDatabase database, int messages) {
        database.execute(
                "create table feed (n bigint primary key, id uuid not null, account text not null, amount bigint not null)",
                "create table account (id text primary key, balance bigint not null)",
                "create table booking (id uuid not null)",
                // Every third with an id that carries no day, every fifth from long ago.
                """
                insert into feed select n, case when n %% 3 = 0 then gen_random_uuid()
                    when n %% 5 = 0 then overlay(postroom.time_ordered_id()::text placing '0170' from 1 for 4)::uuid
                    else postroom.time_ordered_id() end, 'a' || n %% 7, n from generate_series(1, %d) as n""".formatted(messages),
                "insert into account select 'a' || n, 0 from generate_series(0, 6) as n");
    }

    public static void main(String[] arguments) throws SQLException {
        Random random = new Random(Long.parseLong(arguments[1]));
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            if (!arguments[2].isEmpty()) {
                Point.valueOf(arguments[2]).on(database, random);
            }
            Ledger ledger = new Ledger(database);
            List<Copy> feed = ledger.feed();
            for (int batch = 0; ; batch++) {
                List<Copy> copies = new ArrayList<>();
                int from = random.nextInt(feed.size());
                for (int i = 0; i < 200; i++) {
                    Copy copy = feed.get((from + random.nextInt(400)) % feed.size());
                    copies.addAll(Collections.nCopies(1 + random.nextInt(2), copy));
                }
                ledger.book(copies, random.nextInt(4) == 0);
                System.out.println("batch " + batch);
            }
        }
    }

    List<Copy> feed() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select id, account, amount from feed order by n")) {
            List<Copy> feed = new ArrayList<>();
            while (row.next()) {
                feed.add(new Copy(row.getObject(1, UUID.class), row.getString(2), row.getLong(3)));
            }
            return feed;
        }
    }

    /** Books those that come for the first time, in one transaction; says how many. */
    int book(List<Copy> copies, boolean rollsBack) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            List<Acceptance> answers = inbox.acceptAll(
                    tx,
                    CONSUMER,
                    copies.stream()
                            .map(copy -> Received.of(copy.id(), copy.account() + copy.amount()))
                            .toList());
            int booked = 0;
            long[] sums = new long[7];
            try (PreparedStatement booking = tx.prepareStatement("insert into booking values (?)")) {
                for (int i = 0; i < copies.size(); i++) {
                    if (answers.get(i) == Acceptance.FIRST) {
                        booking.setObject(1, copies.get(i).id());
                        booking.addBatch();
                        sums[copies.get(i).account().charAt(1) - '0'] +=
                                copies.get(i).amount();
                        booked++;
                    }
                }
                booking.executeBatch();
            }
            try (PreparedStatement account =
                    tx.prepareStatement("update account set balance = balance + ? where id = ?")) {
                for (int i = 0; i < sums.length; i++) {
                    account.setLong(1, sums[i]);
                    account.setString(2, "a" + i);
                    account.addBatch();
                }
                account.executeBatch();
            }
            if (rollsBack) {
                tx.rollback();
                return 0;
            }
            tx.commit();
            return booked;
        }
    }
}
