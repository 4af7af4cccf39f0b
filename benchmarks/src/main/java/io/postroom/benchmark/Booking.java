package io.postroom.benchmark;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** The business of a transaction that something is added to: one insert and one update. */
record Booking(UUID id, long account) {
    private static final int ACCOUNTS = 10_000;

    static void createTables(BenchDatabase database) {
        database.execute(
                "create table account (id bigint primary key, total bigint not null) with (fillfactor = 50)",
                "insert into account select n, 0 from generate_series(0, " + (ACCOUNTS - 1) + ") as n",
                "create table booking (id uuid primary key, account bigint not null, note text not null)");
    }

    static Booking book(Connection tx) throws SQLException {
        UUID id = UUID.randomUUID();
        long account = Math.floorMod(id.getLeastSignificantBits(), (long) ACCOUNTS);
        try (PreparedStatement booking = tx.prepareStatement("insert into booking values (?, ?, 'a booking')");
                PreparedStatement total = tx.prepareStatement("update account set total = total + 1 where id = ?")) {
            booking.setObject(1, id);
            booking.setLong(2, account);
            booking.executeUpdate();
            total.setLong(1, account);
            total.executeUpdate();
        }
        return new Booking(id, account);
    }

    String json() {
        return "{\"booking\":\"" + id + "\",\"account\":" + account + "}";
    }
}
