package io.postroom.server.dev;

import io.postroom.Postroom;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.Request;
import io.postroom.message.Message;
import io.postroom.postgres.Schema;
import io.postroom.postgres.Sql;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does what a fault does by itself, besides what handlers make of it. */
final class Mischief implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Mischief.class);
    private static final int REFUNDS = 3;
    private static final int PAYMENTS = 10;
    private static final int COPIES = 20;
    private static final int CLIENTS = 4;
    /** How long a process may take to start and get lanes; and how long it is then left with them, to be seen. */
    private static final Duration START_PATIENCE = Duration.ofSeconds(60);

    private static final Duration LIFE = Duration.ofSeconds(4);
    private static final Duration LOOK = Duration.ofMillis(300);

    private final Postroom postroom;
    private final String url;
    private final Sql pay = new Schema("demo").sql(Mischief.class, "pay.sql");
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "demo-mischief");
        thread.setDaemon(true);
        return thread;
    });

    Mischief(Postroom postroom, String url) {
        this.postroom = postroom;
        this.url = url;
    }

    void begin(Fault fault) {
        switch (fault) {
            case POISON -> refund();
            case DUPLICATES -> threads.execute(this::storm);
            case KILLED_RELAY -> threads.execute(this::killRelay);
            case CARRIER_DOWN, CARRIER_SLOW -> {
                // The handlers see it themselves.
            }
        }
    }

    private void refund() {
        postroom.database().transact(tx -> {
            for (int i = 1; i <= REFUNDS; i++) {
                String order = UUID.randomUUID().toString();
                postroom.outbox()
                        .publish(
                                tx,
                                Message.about("order", order)
                                        .event("OrderRefunded")
                                        .tenantId("acme")
                                        .payload("{\"orderId\": \"" + order + "\", \"totalCents\": " + -i * 1_000 + "}")
                                        .build());
            }
            return true;
        });
    }

    private void storm() {
        ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
        for (int i = 0; i < PAYMENTS; i++) {
            Request request = new Request(
                    IdempotencyKey.of("payment.take", UUID.randomUUID().toString()), new byte[Request.HASH_BYTES]);
            for (int copy = 0; copy < COPIES; copy++) {
                clients.execute(() -> pay(request));
            }
        }
        clients.shutdown();
    }

    private void pay(Request request) {
        try {
            postroom.idempotency().once(request, tx -> {
                UUID id = UUID.randomUUID();
                pay.on(tx).set("id", id).set("cents", 1_990).update();
                return Answer.json(201, "{\"payment\":\"" + id + "\"}");
            });
        } catch (RuntimeException e) {
            LOG.info("a payment was not taken: {}", e.getMessage());
        }
    }

    private boolean hasLanes() {
        return postroom.subscriptions().lanes(null).stream()
                .anyMatch(lane -> lane.isHeld() && SecondRelay.NAME.equals(lane.ownerName()));
    }

    private void killRelay() {
        try {
            Process relay = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx128m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            SecondRelay.class.getName(),
                            url))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                long deadline = System.nanoTime() + START_PATIENCE.toNanos();
                while (!hasLanes() && System.nanoTime() < deadline) {
                    TimeUnit.MILLISECONDS.sleep(LOOK.toMillis());
                }
                TimeUnit.MILLISECONDS.sleep(LIFE.toMillis());
            } finally {
                relay.destroyForcibly();
            }
            LOG.warn("killed the second relay, process {}", relay.pid());
        } catch (IOException e) {
            LOG.warn("could not start a second relay: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
