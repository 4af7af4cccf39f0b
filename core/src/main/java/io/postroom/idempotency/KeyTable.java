package io.postroom.idempotency;

import io.postroom.message.HeaderText;
import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Idempotency keys as a command of one transaction sees them: one method per statement, no decisions. */
final class KeyTable {
    private final Sql claim;
    private final Sql store;
    private final Sql storeAndCommit;

    KeyTable(Schema schema) {
        claim = schema.sql(KeyTable.class, "claim.sql");
        store = schema.sql(KeyTable.class, "store.sql");
        storeAndCommit = schema.sql(KeyTable.class, "store_and_commit.sql");
    }

    /** In a transaction of the caller's: how long that may stand idle is not for us to say. */
    Claim claim(Connection tx, Request request) {
        return claim(tx, request, (String) null);
    }

    /** In a transaction of our own, which PostgreSQL ends if it hears nothing for so long. */
    Claim claim(Connection tx, Request request, Duration idleMax) {
        return claim(tx, request, Long.toString(idleMax.toMillis()));
    }

    private Claim claim(Connection tx, Request request, @Nullable String idleMillis) {
        return named(claim.on(tx), request.key())
                .set("hash", request.hash())
                .set("idle_millis", idleMillis)
                .one(KeyTable::claim);
    }

    void store(Connection tx, Request request, Duration expiry, Claim claim, Answer answer) {
        stored(store, tx, request, expiry, claim, answer);
    }

    /** The one statement that ends its transaction. */
    void storeAndCommit(Connection tx, Request request, Duration expiry, Claim claim, Answer answer) {
        stored(storeAndCommit, tx, request, expiry, claim, answer);
    }

    private static void stored(Sql sql, Connection tx, Request request, Duration expiry, Claim claim, Answer answer) {
        answered(named(sql.on(tx), request.key()), answer)
                .set("hash", request.hash())
                .set("expiry", expiry)
                .set("began", claim.began().toInstant())
                .update();
    }

    static Call named(Call call, IdempotencyKey key) {
        return call.set("tenant", key.tenant()).set("scope", key.scope()).set("key", key.key());
    }

    static Call answered(Call call, Answer answer) {
        return call.set("state", answer.isFailure() ? "failed" : "completed")
                .set("status", answer.status())
                .set("headers", HeaderText.write(answer.headers()))
                .set("response", answer.body());
    }

    private static Claim claim(ResultSet row) throws SQLException {
        int status = row.getInt("status_code");
        Answer answer = row.wasNull()
                ? null
                : new Answer(status, HeaderText.read(row.getString("headers")), row.getBytes("response"));
        return new Claim(
                row.getString("state"),
                row.getBoolean("same"),
                row.getBoolean("leased"),
                answer,
                row.getLong("fence"),
                row.getString("recovery"),
                Objects.requireNonNull(row.getObject("began", OffsetDateTime.class)));
    }
}
