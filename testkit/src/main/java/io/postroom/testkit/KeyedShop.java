package io.postroom.testkit;

import io.postroom.idempotency.Answer;
import io.postroom.idempotency.Steps;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The shop behind a {@link KeyedHttpContract}: takes orders, and does what a request's body tells it to. Each request but an echo
 * inserts an order first, so that what should be undone can be seen. Safe for use by many threads.
 */
public final class KeyedShop {
    private static final List<String> WORDS = List.of("order", "refuse", "fail", "throw", "large", "wait", "echo");
    private static final int SECONDS_MAX = 30;

    private final Map<String, AtomicInteger> times = new ConcurrentHashMap<>();
    private final AtomicInteger reads = new AtomicInteger();
    private final Semaphore waiting = new Semaphore(0);
    private final Semaphore goOn = new Semaphore(0);

    /** What a handler of the adapter under test answers, all in one transaction. */
    public Made handle(Connection tx, byte[] body) throws SQLException, InterruptedException {
        String text = new String(body, StandardCharsets.UTF_8);
        String word = word(text);
        return word.equals("echo") ? echo(body) : made(word, insert(tx, text));
    }

    /** The same in steps: the order is one, the answer comes after it. */
    public Made handle(Steps steps, byte[] body) throws SQLException, InterruptedException {
        String text = new String(body, StandardCharsets.UTF_8);
        String word = word(text);
        return word.equals("echo")
                ? echo(body)
                : made(word, Long.parseLong(steps.step("order", tx -> Long.toString(insert(tx, text)))));
    }

    private String word(String text) {
        String word = WORDS.stream()
                .filter(each -> text.replace(" ", "").contains("\"do\":\"" + each + "\""))
                .findFirst()
                .orElseThrow();
        times.computeIfAbsent(word, ignored -> new AtomicInteger()).incrementAndGet();
        return word;
    }

    private static Made echo(byte[] body) {
        return new Made(200, Map.of("Content-Type", "application/json"), body);
    }

    private Made made(String word, long id) throws InterruptedException {
        switch (word) {
            case "throw" -> throw new IllegalStateException("the shop is on fire");
            case "wait" -> pause();
            default -> {}
        }
        int status = word.equals("refuse") ? 422 : word.equals("fail") ? 500 : 201;
        String answer = word.equals("large") ? "x".repeat(Answer.BODY_BYTES_MAX + 1) : "{\"id\": " + id + "}";
        return new Made(
                status,
                Map.of(
                        "Content-Type", "application/json",
                        "Location", "/orders/" + id,
                        "ETag", "\"v" + id + "\"",
                        "Set-Cookie", "seen=yes",
                        "X-Own", "1"),
                answer.getBytes(StandardCharsets.UTF_8));
    }

    /** A status, headers and a body to be sent. */
    public record Made(int status, Map<String, String> headers, byte[] body) {}

    /** To be called by the handler of GET, which needs no key. */
    public void read() {
        reads.incrementAndGet();
    }

    int reads() {
        return reads.get();
    }

    int times(String word) {
        AtomicInteger count = times.get(word);
        return count == null ? 0 : count.get();
    }

    void awaitWaiting() throws InterruptedException {
        require(waiting);
    }

    void goOn() {
        goOn.release();
    }

    private void pause() throws InterruptedException {
        waiting.release();
        require(goOn);
    }

    private static void require(Semaphore semaphore) throws InterruptedException {
        if (!semaphore.tryAcquire(SECONDS_MAX, TimeUnit.SECONDS)) {
            throw new AssertionError("nobody came within " + SECONDS_MAX + " seconds");
        }
    }

    private static long insert(Connection tx, String body) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("insert into orders (body) values (?) returning id")) {
            insert.setString(1, body);
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
