package io.postroom.server.web;

import io.javalin.config.RoutesConfig;
import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import tools.jackson.databind.json.JsonMapper;

/**
 * Says whether the process lives, and whether it can do its work. A database that is away makes it unready, not dead: a restart would
 * not bring it back. Anybody may ask, so nobody's asking costs much: one request at a time asks the database, on a connection of its own,
 * and the others are answered what it found last. Thread-safe.
 */
public final class Health {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int PATIENCE_SECONDS = 2;

    private static final Duration FRESH = Duration.ofSeconds(1);

    private final Database database;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile Found last = new Found(false, System.nanoTime() - FRESH.toNanos());

    private record Found(boolean isReady, long atNanos) {}

    public Health(Database database) {
        this.database = database;
    }

    void add(RoutesConfig routes) {
        routes.get("/health", context -> {
            boolean isReady = isReady();
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("status", isReady ? "up" : "down");
            answer.put("live", true);
            answer.put("ready", isReady);
            context.status(isReady ? 200 : 503).contentType("application/json").result(JSON.writeValueAsBytes(answer));
        });
        routes.get(
                "/health/live",
                context -> context.contentType("application/json").result("{\"status\":\"up\"}"));
        routes.get("/health/ready", context -> {
            boolean isReady = isReady();
            context.status(isReady ? 200 : 503)
                    .contentType("application/json")
                    .result("{\"status\":\"" + (isReady ? "up" : "down") + "\"}");
        });
    }

    boolean isReady() {
        if (System.nanoTime() - last.atNanos() >= FRESH.toNanos() && asking.tryLock()) {
            try {
                last = new Found(ask(), System.nanoTime());
            } finally {
                asking.unlock();
            }
        }
        return last.isReady();
    }

    private boolean ask() {
        try {
            return database.run(tx -> {
                try {
                    return tx.isValid(PATIENCE_SECONDS);
                } catch (SQLException e) {
                    return false;
                }
            });
        } catch (PostroomException e) {
            return false;
        }
    }
}
