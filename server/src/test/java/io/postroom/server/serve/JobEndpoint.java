package io.postroom.server.serve;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;

/** An HTTP server that receives webhooks and answers as it is told. */
final class JobEndpoint implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final BlockingQueue<Received> unread = new LinkedBlockingQueue<>();
    private final List<Received> all = new CopyOnWriteArrayList<>();

    record Received(String id, long timestamp, String signature, String body) {}

    private JobEndpoint(ToIntFunction<Received> answer, Map<String, String> headers) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 0);
        server.setExecutor(threads);
        server.createContext("/hook", exchange -> {
            Received received = read(exchange);
            all.add(received);
            int status = answer.applyAsInt(received);
            headers.forEach(exchange.getResponseHeaders()::set);
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
            unread.add(received);
        });
        server.start();
    }

    static JobEndpoint start(ToIntFunction<Received> answer) {
        return start(answer, Map.of());
    }

    static JobEndpoint start(ToIntFunction<Received> answer, Map<String, String> headers) {
        try {
            return new JobEndpoint(answer, headers);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Received read(HttpExchange exchange) throws IOException {
        return new Received(
                exchange.getRequestHeaders().getFirst("webhook-id"),
                Long.parseLong(exchange.getRequestHeaders().getFirst("webhook-timestamp")),
                exchange.getRequestHeaders().getFirst("webhook-signature"),
                new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    }

    /** The block of a job that is sent here. */
    String block() {
        return "webhook: {url: 'http://127.0.0.1:" + server.getAddress().getPort()
                + "/hook', secrets: ['${HOOK_SECRET}'], allow-private: [127.0.0.0/8], allow-http: true}";
    }

    /** The next one that was answered. */
    Received await() throws InterruptedException {
        Received received = unread.poll(60, TimeUnit.SECONDS);
        if (received == null) {
            throw new AssertionError("nothing came; before that came " + all);
        }
        return received;
    }

    /** All that came, answered or not. */
    List<Received> all() {
        return List.copyOf(all);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
