package io.postroom.server.serve;

import io.postroom.message.Upcasters;
import io.postroom.postgres.Schema;
import io.postroom.server.web.WebSettings;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/** A console on a database of its own, and somebody who asks it as a browser does. */
public final class ConsoleUnderTest implements AutoCloseable {
    private static final Pattern FORM_TOKEN = Pattern.compile("name=\"formToken\" value=\"([^\"]+)\"");

    private final TestDatabase database;
    private final Console console;
    private final HttpClient client =
            HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NEVER).build();
    private final Map<String, String> cookies = new LinkedHashMap<>();

    private ConsoleUnderTest(TestDatabase database, Console console) {
        this.database = database;
        this.console = console;
    }

    /** Without users, and signed in with the token of the process. */
    public static ConsoleUnderTest start() throws IOException, InterruptedException {
        ConsoleUnderTest console = start(WebSettings.local(0), database -> {});
        console.enter();
        return console;
    }

    public static ConsoleUnderTest start(WebSettings settings) {
        return start(settings, database -> {});
    }

    /** What a console finds when it starts. */
    @FunctionalInterface
    public interface Filling {
        void fill(TestDatabase database) throws SQLException;
    }

    public static ConsoleUnderTest start(WebSettings settings, Filling filling) {
        TestDatabase database = TestDatabase.create();
        return start(database, settings, filling, database.dataSource());
    }

    /** On a database that is there, through connections of somebody's choice. */
    static ConsoleUnderTest start(TestDatabase database, WebSettings settings, Filling filling, DataSource source) {
        return start(database, settings, filling, source, Upcasters.NONE);
    }

    /** With upcasters, and signed in. */
    static ConsoleUnderTest start(Upcasters upcasters, Filling filling) throws IOException, InterruptedException {
        TestDatabase database = TestDatabase.create();
        ConsoleUnderTest console = start(database, WebSettings.local(0), filling, database.dataSource(), upcasters);
        console.enter();
        return console;
    }

    private static ConsoleUnderTest start(
            TestDatabase database, WebSettings settings, Filling filling, DataSource source, Upcasters upcasters) {
        try {
            filling.fill(database);
            return new ConsoleUnderTest(database, Console.start(source, Schema.POSTROOM, upcasters, settings));
        } catch (SQLException e) {
            database.close();
            throw new IllegalStateException(e);
        } catch (RuntimeException e) {
            database.close();
            throw e;
        }
    }

    /** Follows the address that the process says when it starts. */
    public HttpResponse<String> enter() throws IOException, InterruptedException {
        return get(console.entry().substring(url().length()));
    }

    /** Forgets who was signed in, as another browser. */
    public void forget() {
        cookies.clear();
    }

    public TestDatabase database() {
        return database;
    }

    /** Without a slash at its end. */
    public String url() {
        return console.url().replaceAll("/$", "");
    }

    /** One request; headers are names and values in turn. */
    public HttpResponse<String> send(String method, String path, String body, String... headers)
            throws IOException, InterruptedException {
        HttpRequest request = request(method, path, body, headers);
        HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
        response.headers().allValues("Set-Cookie").forEach(set -> {
            String[] pair = set.replaceFirst(";.*", "").split("=", 2);
            cookies.put(pair[0], pair[1]);
        });
        return response;
    }

    /** Watches a stream of events. */
    Events watch(String path, String... headers) throws IOException, InterruptedException {
        return new Events(
                client.send(request("GET", "/api/v1" + path, "", headers), HttpResponse.BodyHandlers.ofInputStream()));
    }

    private HttpRequest request(String method, String path, String body, String... headers) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(url() + path))
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        if (!cookies.isEmpty()) {
            List<String> pairs = new ArrayList<>();
            cookies.forEach((name, value) -> pairs.add(name + "=" + value));
            builder.header("Cookie", String.join("; ", pairs));
        }
        if (headers.length > 0) {
            builder.headers(headers);
        }
        return builder.build();
    }

    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send("GET", path, "");
    }

    /** Sends a form as the page at {@code from} would. */
    public HttpResponse<String> submit(String from, String to, Map<String, String> fields)
            throws IOException, InterruptedException {
        Matcher token = FORM_TOKEN.matcher(get(from).body());
        if (!token.find()) {
            throw new AssertionError(from + " has no form");
        }
        List<String> pairs = new ArrayList<>(List.of("formToken=" + token.group(1)));
        if (!fields.containsKey("id")) {
            pairs.add("id=" + UUID.randomUUID());
        }
        fields.forEach((name, value) -> pairs.add(name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8)));
        return send("POST", to, String.join("&", pairs), "Content-Type", "application/x-www-form-urlencoded");
    }

    /** A call that changes something. */
    public HttpResponse<String> call(String path, String key, String json) throws IOException, InterruptedException {
        return send("POST", "/api/v1" + path, json, "Content-Type", "application/json", "Idempotency-Key", key);
    }

    /** Stops the console, as when its process ends; the database stays. */
    public void stop() {
        console.close();
    }

    @Override
    public void close() {
        console.close();
        database.close();
    }
}
