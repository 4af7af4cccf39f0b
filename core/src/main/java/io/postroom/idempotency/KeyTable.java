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

/** Idempotency keys as a command of one transaction sees them: and who may do one. */
final class KeyTable {
    private final Sql claim;
    private final Sql forgetExpired;
    private final Sql store;
    private final Sql storeAndCommit;

    KeyTable(Schema schema) {
        claim = schema.sql(KeyTable.class, "claim.sql");
        forgetExpired = schema.sql(KeyTable.class, "forget_expired.sql");
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
        Call.Both<Lock, Known> both = named(claim.on(tx), request.key())
                .set("hash", request.hash())
                .set("idle_millis", idleMillis)
                .both(KeyTable::lock, KeyTable::known);
        Lock lock = both.one();
        Known known = both.first();
        if (known == null) {
            return lock.held() ? lock.free() : lock.busy();
        }
        if (known.expired()) {
            return lock.held() && forget(tx, request.key()) ? lock.free() : lock.busy();
        }
        boolean lapsed = known.state().equals("running") && !known.leased();
        return lapsed && !lock.held() ? lock.busy() : known.claim(lock.began());
    }

    /** Returns whether it was there and nobody else was about to change it. */
    private boolean forget(Connection tx, IdempotencyKey key) {
        return named(forgetExpired.on(tx), key).update() > 0;
    }

    private record Lock(boolean held, OffsetDateTime began) {
        Claim free() {
            return new Claim("free", false, false, null, 0, null, began);
        }

        Claim busy() {
            return new Claim("busy", false, false, null, 0, null, began);
        }
    }

    private record Known(
            String state,
            boolean same,
            boolean leased,
            boolean expired,
            @Nullable Answer answer,
            long fence,
            @Nullable String recovery) {
        Claim claim(OffsetDateTime began) {
            return new Claim(state, same, leased, answer, fence, recovery, began);
        }
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

    private static Lock lock(ResultSet row) throws SQLException {
        return new Lock(row.getBoolean("locked"), Objects.requireNonNull(row.getObject("began", OffsetDateTime.class)));
    }

    private static Known known(ResultSet row) throws SQLException {
        int status = row.getInt("status_code");
        Answer answer = row.wasNull()
                ? null
                : new Answer(status, HeaderText.read(row.getString("headers")), row.getBytes("response"));
        return new Known(
                row.getString("state"),
                row.getBoolean("same"),
                row.getBoolean("leased"),
                row.getBoolean("expired"),
                answer,
                row.getLong("fence"),
                row.getString("recovery"));
    }
}
