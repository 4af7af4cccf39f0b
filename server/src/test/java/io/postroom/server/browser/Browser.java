package io.postroom.server.browser;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Chromium with one page, spoken to in its own protocol: a process, a socket and JSON, and no driver in between. For one thread. */
final class Browser implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Pattern LISTENING = Pattern.compile("DevTools listening on (ws://\\S+)");
    private static final JsonMapper JSON = JsonMapper.shared();

    private final Process process;
    private final Path profile;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<JsonNode>> answers;
    private final List<String> complaints;
    private final AtomicInteger last = new AtomicInteger();
    private String session = "";

    private Browser(
            Process process,
            Path profile,
            WebSocket socket,
            Map<Integer, CompletableFuture<JsonNode>> answers,
            List<String> complaints) {
        this.process = process;
        this.profile = profile;
        this.socket = socket;
        this.answers = answers;
        this.complaints = complaints;
    }

    /** Where Chromium is; empty if it is not installed. */
    static Optional<Path> find() {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static Browser start(Path program) throws IOException {
        Path profile = Files.createTempDirectory("postroom-browser");
        Process process = new ProcessBuilder(
                        program.toString(),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-background-networking",
                        "--hide-scrollbars",
                        "--no-first-run",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "about:blank")
                .redirectErrorStream(true)
                .start();
        Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
        List<String> complaints = java.util.Collections.synchronizedList(new ArrayList<>());
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create(address(process)), new Listener(answers, complaints))
                .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .join();
        Browser browser = new Browser(process, profile, socket, answers, complaints);
        String target = browser.send("Target.createTarget", Map.of("url", "about:blank"))
                .get("targetId")
                .asString();
        browser.session = browser.send("Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .get("sessionId")
                .asString();
        for (String domain : List.of("Page", "Runtime", "Log")) {
            browser.send(domain + ".enable", Map.of());
        }
        return browser;
    }

    private static String address(Process process) throws IOException {
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher matcher = LISTENING.matcher(line);
            if (matcher.find()) {
                Thread drain = new Thread(() -> lines.lines().forEach(rest -> {}), "browser-output");
                drain.setDaemon(true);
                drain.start();
                return matcher.group(1);
            }
        }
        throw new IOException("the browser ended before it listened");
    }

    private JsonNode send(String method, Map<String, ?> parameters) {
        int id = last.incrementAndGet();
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        answers.put(id, answer);
        Map<String, Object> message = new LinkedHashMap<>();
        message.put("id", id);
        message.put("method", method);
        message.put("params", parameters);
        if (!session.isEmpty()) {
            message.put("sessionId", session);
        }
        socket.sendText(JSON.writeValueAsString(message), true).join();
        JsonNode received =
                answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        if (received.has("error")) {
            throw new AssertionError(method + ": " + received.get("error"));
        }
        return received.get("result");
    }

    /** How wide the window is, and which theme the system has. */
    void look(int width, int height, String theme) {
        send(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
        send(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", theme))));
    }

    /** Opens an address and waits until its script has run. */
    void open(String url) {
        evaluate("window.isOld = true");
        send("Page.navigate", Map.of("url", url));
        awaitPage();
    }

    /** Opens an address that leads to a page without a script. */
    void openPlain(String url) {
        evaluate("window.isOld = true");
        send("Page.navigate", Map.of("url", url));
        await("!window.isOld && document.readyState === 'complete'");
    }

    /** Waits until another page than before is there and ready. */
    void awaitPage() {
        await(
                "!window.isOld && document.readyState === 'complete' && document.documentElement.dataset.ready === 'yes'");
    }

    /** Does something that leads to another page, and waits for that. */
    void go(String script) {
        evaluate("window.isOld = true");
        evaluate(script);
        awaitPage();
    }

    void await(String condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() < deadline) {
            try {
                if (evaluate("Boolean(" + condition + ")").asBoolean()) {
                    return;
                }
            } catch (AssertionError e) {
                // Between two pages there is nobody to ask.
            }
            java.util.concurrent.locks.LockSupport.parkNanos(
                    Duration.ofMillis(20).toNanos());
        }
        throw new AssertionError("never became true: " + condition + "; the page says " + complaints);
    }

    /** The value of an expression in the page; waits for promises. */
    JsonNode evaluate(String script) {
        JsonNode result =
                send("Runtime.evaluate", Map.of("expression", script, "awaitPromise", true, "returnByValue", true));
        if (result.has("exceptionDetails")) {
            throw new AssertionError(script + ": " + result.get("exceptionDetails"));
        }
        JsonNode value = result.get("result").get("value");
        return value == null ? JSON.nullNode() : value;
    }

    String text(String selector) {
        return evaluate("document.querySelector(" + JSON.writeValueAsString(selector) + ").textContent")
                .asString();
    }

    /** Presses a key that writes a character. */
    void press(String key) {
        send("Input.dispatchKeyEvent", Map.of("type", "keyDown", "key", key, "text", key));
        send("Input.dispatchKeyEvent", Map.of("type", "keyUp", "key", key));
    }

    void screenshot(Path file) throws IOException {
        String image = send("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true))
                .get("data")
                .asString();
        Files.createDirectories(file.getParent());
        Files.write(file, java.util.Base64.getDecoder().decode(image));
    }

    /** What scripts threw and what the browser refused, since the last time. */
    List<String> complaints() {
        List<String> all = List.copyOf(complaints);
        complaints.clear();
        return all;
    }

    @Override
    public void close() throws IOException {
        socket.abort();
        process.destroyForcibly();
        process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        try (Stream<Path> files = Files.walk(profile)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | java.io.UncheckedIOException e) {
            // A child of it may still write there; the folder is a temporary one.
        }
    }

    private record Listener(
            Map<Integer, CompletableFuture<JsonNode>> answers, List<String> complaints, StringBuilder text)
            implements WebSocket.Listener {
        Listener(Map<Integer, CompletableFuture<JsonNode>> answers, List<String> complaints) {
            this(answers, complaints, new StringBuilder());
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean isLast) {
            text.append(part);
            if (isLast) {
                JsonNode message = JSON.readTree(text.toString());
                text.setLength(0);
                hear(message);
            }
            socket.request(1);
            return null;
        }

        private void hear(JsonNode message) {
            if (message.has("id")) {
                CompletableFuture<JsonNode> waiting =
                        answers.remove(message.get("id").asInt());
                if (waiting != null) {
                    waiting.complete(message);
                }
            } else if (message.get("method").asString().equals("Runtime.exceptionThrown")) {
                complaints.add(message.get("params").toString());
            } else if (message.get("method").asString().equals("Log.entryAdded")
                    && message.get("params")
                            .get("entry")
                            .get("level")
                            .asString()
                            .equals("error")) {
                complaints.add(message.get("params").get("entry").get("text").asString());
            }
        }
    }
}
