package io.postroom.idempotency;

import io.postroom.postgres.Call;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Idempotency keys as steps see them: one method per statement, no decisions. False means: the key has another owner. */
final class StepTable {
    private final Sql begin;
    private final Sql takeOver;
    private final Sql advance;
    private final Sql finish;
    private final Sql renew;
    private final Sql giveUp;
    private final Sql limitIdle;
    private final Sql findLapsed;

    StepTable(Schema schema) {
        begin = schema.sql(StepTable.class, "begin.sql");
        takeOver = schema.sql(StepTable.class, "take_over.sql");
        advance = schema.sql(StepTable.class, "advance.sql");
        finish = schema.sql(StepTable.class, "finish.sql");
        renew = schema.sql(StepTable.class, "renew.sql");
        giveUp = schema.sql(StepTable.class, "give_up.sql");
        limitIdle = schema.sql(StepTable.class, "limit_idle.sql");
        findLapsed = schema.sql(StepTable.class, "find_lapsed.sql");
    }

    /** A request and the fence of whoever goes on with it. */
    record Held(Request request, long fence) {
        IdempotencyKey key() {
            return request.key();
        }
    }

    /** How long a key is to be kept from now on. */
    record Lease(Held held, Duration time) {}

    /** Returns the first fence. */
    long begin(Connection tx, Request request, KeyPolicy policy, String recovery) {
        return KeyTable.named(begin.on(tx), request.key())
                .set("hash", request.hash())
                .set("recovery", recovery)
                .set("lease", policy.lease())
                .set("expiry", policy.expiry())
                .one(row -> row.getLong("fence"));
    }

    boolean takeOver(Connection tx, Held former, Duration lease) {
        return KeyTable.named(takeOver.on(tx), former.key())
                        .set("fence", former.fence())
                        .set("lease", lease)
                        .update()
                == 1;
    }

    String limitIdle(Connection tx, Duration idleMax) {
        return limitIdle
                .on(tx)
                .set("idle_millis", Long.toString(idleMax.toMillis()))
                .one(row -> row.getString(1));
    }

    boolean advance(Connection tx, Held held, int reached, String step, String recovery, KeyPolicy policy) {
        return held(advance, tx, held, reached)
                .set("step", step)
                .set("recovery", recovery)
                .set("lease", policy.lease())
                .set("idle_millis", Long.toString(policy.idleMax().toMillis()))
                .first(row -> true)
                .isPresent();
    }

    boolean finish(Connection tx, Held held, int reached, Answer answer, KeyPolicy policy) {
        return KeyTable.answered(held(finish, tx, held, reached), answer)
                .set("expiry", policy.expiry())
                .set("idle_millis", Long.toString(policy.idleMax().toMillis()))
                .first(row -> true)
                .isPresent();
    }

    private static Call held(Sql sql, Connection tx, Held held, int reached) {
        return KeyTable.named(sql.on(tx), held.key())
                .set("hash", held.request().hash())
                .set("fence", held.fence())
                .set("reached", reached);
    }

    /** Keeps all of them, and says of each, in their order, whether it is still its owner's. */
    List<Boolean> renew(Connection tx, List<Lease> leases) {
        return renew.on(tx)
                .set("tenants", texts(leases, IdempotencyKey::tenant))
                .set("scopes", texts(leases, IdempotencyKey::scope))
                .set("keys", texts(leases, IdempotencyKey::key))
                .set(
                        "fences",
                        leases.stream().mapToLong(each -> each.held().fence()).toArray())
                .set(
                        "leases",
                        leases.stream()
                                .map(each -> Double.toString(each.time().toNanos() / 1e9))
                                .toArray(String[]::new))
                .list(row -> row.getBoolean(1));
    }

    private static String[] texts(List<Lease> leases, Function<IdempotencyKey, String> part) {
        return leases.stream().map(each -> part.apply(each.held().key())).toArray(String[]::new);
    }

    void giveUp(Connection tx, Held held) {
        KeyTable.named(giveUp.on(tx), held.key()).set("fence", held.fence()).update();
    }

    /** @param after the last key of the page before, or null for the first page */
    List<Request> findLapsed(Connection tx, String scope, @Nullable IdempotencyKey after, int limit) {
        return findLapsed
                .on(tx)
                .set("scope", scope)
                .set("after_tenant", after == null ? "" : after.tenant())
                .set("after_key", after == null ? "" : after.key())
                .set("limit", limit)
                .list(row -> new Request(
                        new IdempotencyKey(row.getString("tenant_id"), scope, row.getString("key")),
                        row.getBytes("request_hash")));
    }
}
