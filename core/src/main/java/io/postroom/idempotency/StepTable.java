package io.postroom.idempotency;

import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;

/** Idempotency keys as steps see them: one method per statement, no decisions. False means: the key has another owner. */
final class StepTable {
    private final Sql begin;
    private final Sql takeOver;
    private final Sql advance;
    private final Sql finish;
    private final Sql renew;
    private final Sql giveUp;
    private final Sql dropBegun;
    private final Sql findLapsed;

    StepTable(Schema schema) {
        begin = schema.sql(StepTable.class, "begin.sql");
        takeOver = schema.sql(StepTable.class, "take_over.sql");
        advance = schema.sql(StepTable.class, "advance.sql");
        finish = schema.sql(StepTable.class, "finish.sql");
        renew = schema.sql(StepTable.class, "renew.sql");
        giveUp = schema.sql(StepTable.class, "give_up.sql");
        dropBegun = schema.sql(StepTable.class, "drop_begun.sql");
        findLapsed = schema.sql(StepTable.class, "find_lapsed.sql");
    }

    /** A key and the fence of whoever goes on with it. */
    record Held(IdempotencyKey key, long fence) {}

    void begin(Connection tx, Request request, KeyPolicy policy, String recovery) {
        KeyTable.named(begin.on(tx), request.key())
                .set("hash", request.hash())
                .set("recovery", recovery)
                .set("lease", policy.lease())
                .set("expiry", policy.expiry())
                .update();
    }

    boolean takeOver(Connection tx, Held former, Duration lease) {
        return KeyTable.named(takeOver.on(tx), former.key())
                        .set("fence", former.fence())
                        .set("lease", lease)
                        .update()
                == 1;
    }

    boolean advance(Connection tx, Held held, int reached, String step, String recovery, Duration lease) {
        return KeyTable.named(advance.on(tx), held.key())
                        .set("fence", held.fence())
                        .set("reached", reached)
                        .set("step", step)
                        .set("recovery", recovery)
                        .set("lease", lease)
                        .update()
                == 1;
    }

    boolean finish(Connection tx, Held held, Answer answer, Duration expiry) {
        return KeyTable.answered(KeyTable.named(finish.on(tx), held.key()), answer)
                        .set("fence", held.fence())
                        .set("expiry", expiry)
                        .update()
                == 1;
    }

    boolean renew(Connection tx, Held held, Duration lease) {
        return KeyTable.named(renew.on(tx), held.key())
                        .set("fence", held.fence())
                        .set("lease", lease)
                        .update()
                == 1;
    }

    void giveUp(Connection tx, Held held) {
        KeyTable.named(giveUp.on(tx), held.key()).set("fence", held.fence()).update();
    }

    void dropBegun(Connection tx, Held held) {
        KeyTable.named(dropBegun.on(tx), held.key()).set("fence", held.fence()).update();
    }

    List<Request> findLapsed(Connection tx, String scope, int limit) {
        return findLapsed
                .on(tx)
                .set("scope", scope)
                .set("limit", limit)
                .list(row -> new Request(
                        new IdempotencyKey(row.getString("tenant_id"), scope, row.getString("key")),
                        row.getBytes("request_hash")));
    }
}
