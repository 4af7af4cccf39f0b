package io.postroom.testkit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.postroom.externalcall.ProviderAnswer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * A provider over HTTP that charges, and keeps idempotency keys as payment providers do: the first answer to a key is repeated, a key
 * that is still at work is refused with 409, and one with another body with 422. It forgets keys when told to, as after its window.
 *
 * <p>Counts what it has charged, which is what a test wants to know in the end. Safe for use by many threads.
 */
public final class FakeProvider implements AutoCloseable {
    private static final String PATH = "/charges";
    private static final int CREATED = 201;
    private static final int DECLINED = 402;
    private static final int IN_PROGRESS = 409;
    private static final int OTHER_BODY = 422;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "fake-provider");
        thread.setDaemon(true);
        return thread;
    });
    private final Map<String, Kept> keys = new HashMap<>();
    private final List<String> charged = new ArrayList<>();
    private int requests;
    private @Nullable String decline;
    private Runnable atWork = () -> {};

    private FakeProvider() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext(PATH, this::serve);
        server.start();
    }

    /** What is kept of a key; the answer is null while it is at work. */
    private record Kept(String body, @Nullable Answer answer) {}

    private record Answer(int status, String text) {}

    /** A provider on loopback that charges whatever comes. */
    public static FakeProvider start() {
        try {
            return new FakeProvider();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** How often it has charged. */
    public synchronized int charges() {
        return charged.size();
    }

    /** The keys it has charged, in order. */
    public synchronized List<String> charged() {
        return List.copyOf(charged);
    }

    /** How often it was called. */
    public synchronized int requests() {
        return requests;
    }

    /** Declines new keys from now on, for this reason; null to charge again. */
    public synchronized void decline(@Nullable String reason) {
        decline = reason;
    }

    /** Forgets every key, as a provider does when its window is over. What it has charged stays charged. */
    public synchronized void forgetKeys() {
        keys.clear();
    }

    /** Does this while a new key is at work, on the thread of the request. */
    public synchronized void atWork(Runnable act) {
        atWork = act;
    }

    /** Calls a provider, in this process or another, as a client does that knows what its answers mean. */
    public static ProviderAnswer charge(String url, String key, String body) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + PATH))
                .header("Idempotency-Key", key)
                .timeout(PATIENCE)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        try {
            HttpResponse<String> answer =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            return switch (answer.statusCode()) {
                case CREATED -> ProviderAnswer.done(answer.body());
                case DECLINED -> ProviderAnswer.declined(answer.body());
                case IN_PROGRESS -> ProviderAnswer.unknown("the provider is still at it");
                default -> ProviderAnswer.unclear("the provider answered " + answer.statusCode());
            };
        } catch (IOException e) {
            return ProviderAnswer.unknown("the provider gave no answer");
        }
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Answer answer = answer(key == null ? "" : key, body);
            byte[] bytes = answer.text().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answer.status(), bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private Answer answer(String key, String body) {
        Runnable act;
        synchronized (this) {
            requests++;
            Kept kept = keys.get(key);
            if (kept != null && !kept.body().equals(body)) {
                return new Answer(OTHER_BODY, "this key stands for another body");
            }
            if (kept != null) {
                return kept.answer() == null ? new Answer(IN_PROGRESS, "in progress") : kept.answer();
            }
            keys.put(key, new Kept(body, null));
            act = atWork;
        }
        act.run();
        return end(key, body);
    }

    private synchronized Answer end(String key, String body) {
        Answer answer =
                decline == null ? new Answer(CREATED, "ch_" + (charged.size() + 1)) : new Answer(DECLINED, decline);
        if (decline == null) {
            charged.add(key);
        }
        keys.put(key, new Kept(body, answer));
        return answer;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
