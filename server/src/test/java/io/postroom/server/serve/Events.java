package io.postroom.server.serve;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Somebody who watches a stream of events. Close it to go. */
final class Events implements AutoCloseable {
    private final HttpResponse<InputStream> response;
    private final BufferedReader lines;
    private String lastId = "";

    Events(HttpResponse<InputStream> response) {
        this.response = response;
        this.lines = new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8));
    }

    /** What has come: the name of the event and its data. */
    record Event(String name, JsonNode data) {}

    int status() {
        return response.statusCode();
    }

    String type() {
        return response.headers().firstValue("Content-Type").orElse("");
    }

    String rest() throws IOException {
        return new String(response.body().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** What a browser would give back as Last-Event-ID. */
    String lastId() {
        return lastId;
    }

    /** The next event; null at the end. Waits for it. */
    @Nullable
    Event next() throws IOException {
        String name = "";
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith("id: ")) {
                lastId = line.substring(4);
            } else if (line.startsWith("event: ")) {
                name = line.substring(7);
            } else if (line.startsWith("data: ")) {
                return new Event(name, JsonMapper.shared().readTree(line.substring(6)));
            }
        }
        return null;
    }

    /** The next event of a name; throws if the stream ends before. */
    JsonNode next(String name) throws IOException {
        for (Event event = next(); event != null; event = next()) {
            if (event.name().equals(name)) {
                return event.data();
            }
        }
        throw new AssertionError("the stream ended without " + name);
    }

    /** Waits until a beat or an id comes without an event. */
    String nextLine(String start) throws IOException {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(start)) {
                return line;
            }
        }
        throw new AssertionError("the stream ended without " + start);
    }

    @Override
    public void close() throws IOException {
        response.body().close();
    }
}
