package io.postroom.sink.webhook;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.postroom.testkit.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A real HTTP server on the loopback address that keeps what it was sent and answers as it was told. */
final class Receiver implements AutoCloseable {

    /** A request as it came over the wire. */
    record Request(String target, HttpHeaders headers, byte[] body, InetSocketAddress from) {
        String header(String name) {
            return headers.firstValue(name).orElseThrow(() -> new AssertionError("no header " + name));
        }

        /** All headers, their names in lower case. */
        Map<String, String> fields() {
            Map<String, String> fields = new TreeMap<>();
            headers.map().forEach((name, values) -> fields.put(name.toLowerCase(Locale.ROOT), values.get(0)));
            return fields;
        }
    }

    /** What to answer; an empty body is none at all. */
    record Answer(int status, Map<String, String> headers, String body) {
        static Answer of(int status) {
            return new Answer(status, Map.of(), "");
        }

        static Answer of(int status, String name, String value) {
            return new Answer(status, Map.of(name, value), "");
        }
    }

    /** Decides about an answer; may wait. */
    interface Answerer {
        Answer answer(Request request) throws Exception;
    }

    private final @Nullable SSLContext tls;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final Set<InetSocketAddress> peers = ConcurrentHashMap.newKeySet();
    private volatile Answerer answerer = request -> Answer.of(204);
    private HttpServer server;

    Receiver() throws IOException {
        this(null);
    }

    Receiver(@Nullable SSLContext tls) throws IOException {
        this.tls = tls;
        server = start(FreePort.find());
    }

    private HttpServer start(int port) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port);
        HttpServer started;
        if (tls == null) {
            started = HttpServer.create(address, 0);
        } else {
            HttpsServer secure = HttpsServer.create(address, 0);
            secure.setHttpsConfigurator(new HttpsConfigurator(tls));
            started = secure;
        }
        started.setExecutor(threads);
        started.createContext("/", this::handle);
        started.start();
        return started;
    }

    private void handle(HttpExchange exchange) throws IOException {
        Request request = new Request(
                exchange.getRequestURI().toString(),
                HttpHeaders.of(exchange.getRequestHeaders(), (name, value) -> true),
                exchange.getRequestBody().readAllBytes(),
                exchange.getRemoteAddress());
        peers.add(exchange.getRemoteAddress());
        Answer answer;
        try {
            answer = answerer.answer(request);
        } catch (Exception e) {
            answer = Answer.of(500);
        }
        // Kept before the answer: what the sink takes for accepted must be here.
        requests.add(request);
        answer.headers.forEach(exchange.getResponseHeaders()::add);
        byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.status, body.length == 0 ? -1 : body.length);
        if (body.length > 0) {
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    void answer(Answerer answerer) {
        this.answerer = answerer;
    }

    void answer(Answer answer) {
        this.answerer = request -> answer;
    }

    List<Request> requests() {
        return List.copyOf(requests);
    }

    Request only() {
        if (requests.size() != 1) {
            throw new AssertionError("expected one request, got " + requests.size());
        }
        return requests.get(0);
    }

    /** How many connections were made. */
    int connections() {
        return peers.size();
    }

    int port() {
        return server.getAddress().getPort();
    }

    String url(String path) {
        return (tls == null ? "http://127.0.0.1:" : "https://127.0.0.1:") + port() + path;
    }

    void breakDown() {
        server.stop(0);
    }

    /** Listens again, on the same port. */
    void mend() throws IOException {
        server = start(port());
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
