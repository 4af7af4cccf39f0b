package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class ConsoleStopTest {
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

    @Test
    void whatIsBeingAnsweredWhenItStopsIsAnswered() throws Exception {
        try (ConsoleUnderTest console = ConsoleUnderTest.start()) {
            try (Connection tx = console.database().begin()) {
                tx.createStatement().execute("lock table postroom.materialized_view in access exclusive mode");
                CompletableFuture<HttpResponse<String>> answer = CompletableFuture.supplyAsync(() -> page(console));
                await(console, 1);
                CompletableFuture<Void> stop = CompletableFuture.runAsync(console::stop);
                // Its statement ends after two seconds, while the console waits for it.
                assertThat(answer.get(1, TimeUnit.MINUTES).statusCode()).isEqualTo(503);
                stop.get(1, TimeUnit.MINUTES);
                tx.rollback();
            }
        }
    }

    /** Waits until so many sessions wait for the lock. */
    private static void await(ConsoleUnderTest console, long waiting) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (console.database()
                                .queryLong("select count(*) from pg_locks as l join pg_class as c on c.oid = l.relation"
                                        + " where not l.granted and c.relname = 'materialized_view'")
                        < waiting
                && System.nanoTime() < deadline) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    private static HttpResponse<String> page(ConsoleUnderTest console) {
        try {
            return console.get("/read-models");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
