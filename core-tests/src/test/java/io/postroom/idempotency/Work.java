package io.postroom.idempotency;

import io.postroom.testkit.CrashPoint;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** What the clients of {@link NodeMain} ask for. {@code crash} is reached in the middle of it. */
final class Work {
    private static final long LOOK_NANOS = 50_000_000;

    private final DataSource provider;
    private final @Nullable CrashPoint crash;
    private final boolean victim;

    Work(DataSource provider, @Nullable CrashPoint crash, boolean victim) {
        this.provider = provider;
        this.crash = crash;
        this.victim = victim;
    }

    Command<SQLException> command(String key, int status) {
        return tx -> {
            Shop.insert(tx, key, "effect");
            reach();
            return answer(status, UUID.randomUUID().toString());
        };
    }

    /** In a transaction of the client's own, which asks again as long as another is at it. */
    Outcome joined(DataSource database, Idempotency idempotency, Request request) throws SQLException {
        long deadline = System.nanoTime() + NodeMain.POLICY.patience().toNanos();
        while (true) {
            try (Connection tx = database.getConnection()) {
                tx.setAutoCommit(false);
                Outcome outcome = idempotency.once(
                        tx, request, NodeMain.POLICY, command(request.key().key(), 201));
                tx.commit();
                tx.setAutoCommit(true);
                if (!(outcome instanceof Outcome.Running) || System.nanoTime() - deadline > 0) {
                    return outcome;
                }
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    Procedure<SQLException> procedure(NodeMain.Kind kind) {
        return steps -> {
            String key = steps.key().key();
            String reserved = steps.step("reserve", tx -> {
                Shop.insert(tx, key, "reserve");
                if (kind == NodeMain.Kind.STEPS) {
                    reach();
                }
                return UUID.randomUUID().toString();
            });
            charge("charge:" + key + ":r1");
            if (kind == NodeMain.Kind.CALLED) {
                reach();
            }
            if (victim && kind == NodeMain.Kind.SLOW) {
                waitForTheEnd();
            }
            if (victim && kind == NodeMain.Kind.FAILING) {
                throw new IllegalStateException("out of order");
            }
            if (kind == NodeMain.Kind.LAST) {
                return steps.answer(tx -> {
                    Shop.insert(tx, key, "note");
                    return answer(201, reserved);
                });
            }
            steps.step("note", tx -> {
                Shop.insert(tx, key, "note");
                return "";
            });
            return answer(201, reserved);
        };
    }

    /** With a header, and bytes that are no text. */
    private static Answer answer(int status, String id) {
        byte[] body = Arrays.copyOf(id.getBytes(StandardCharsets.UTF_8), id.length() + 2);
        body[id.length() + 1] = (byte) 0xff;
        return new Answer(status, Map.of("x-order", id), body);
    }

    /** Somebody else, who knows a call again by its key. */
    private void charge(String key) throws SQLException {
        try (Connection connection = provider.getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "insert into charged (key, calls) values (?, 1) on conflict (key) do update set calls = charged.calls + 1")) {
            statement.setString(1, key);
            statement.executeUpdate();
        }
    }

    private static void waitForTheEnd() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void reach() {
        if (crash != null) {
            crash.reach();
        }
    }
}
