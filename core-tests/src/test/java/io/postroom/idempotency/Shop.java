package io.postroom.idempotency;

import io.postroom.testkit.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** An application with orders: one row of {@code placed} for each time that one was placed. */
final class Shop implements AutoCloseable {
    static final String SCOPE = "order.create";

    final TestDatabase database = TestDatabase.create();
    final Idempotency idempotency = database.postroom().idempotency();

    Shop() {
        database.execute("create table placed (key text not null, step text not null default '')");
    }

    static IdempotencyKey key(String key) {
        return IdempotencyKey.of(SCOPE, key);
    }

    static Request request(String key) {
        return request(key, "body");
    }

    static Request request(String key, String body) {
        return new Request(key(key), hash(body));
    }

    static byte[] hash(String body) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Places an order and answers with a number that was never answered before. */
    static Command<SQLException> place(String key) {
        return tx -> {
            insert(tx, key, "");
            return Answer.json(201, "{\"order\":\"" + UUID.randomUUID() + "\"}");
        };
    }

    static void insert(Connection tx, String key, String step) throws SQLException {
        try (PreparedStatement statement = tx.prepareStatement("insert into placed (key, step) values (?, ?)")) {
            statement.setString(1, key);
            statement.setString(2, step);
            statement.executeUpdate();
        }
    }

    Outcome place(Request request) throws SQLException {
        return idempotency.once(request, place(request.key().key()));
    }

    /** How often an order was placed. */
    long placed(String key) {
        return database.queryLong("select count(*) from placed where key = '" + key + "'");
    }

    /** How many keys there are that fit. */
    long keys(String where) {
        return database.queryLong("select count(*) from postroom.idempotency_key where " + where);
    }

    @Override
    public void close() {
        database.close();
    }
}
