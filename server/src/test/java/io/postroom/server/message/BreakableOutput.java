package io.postroom.server.message;

import io.postroom.testkit.SinkContract.Received;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** An output that can run full as a disk does: what is written then gets there by half. For one thread. */
public final class BreakableOutput extends OutputStream {
    private static final String PAYLOAD = ",\"payload\":";

    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private boolean full;

    public void fill() {
        full = true;
    }

    public void empty() {
        full = false;
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one});
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        held.write(bytes, from, full ? length / 2 : length);
        if (full) {
            throw new IOException("No space left on device");
        }
    }

    /** Every line that is a whole message; a reader of lines can do nothing with the others. */
    public List<Received> messages() {
        return held.toString(StandardCharsets.UTF_8)
                .lines()
                .map(BreakableOutput::message)
                .flatMap(Optional::stream)
                .toList();
    }

    private static Optional<Received> message(String line) {
        try {
            JsonNode json = JsonMapper.shared().readTree(line);
            // As it stands there: a parsed payload would not show what was changed in it.
            String payload = line.substring(line.indexOf(PAYLOAD) + PAYLOAD.length(), line.length() - 1);
            return Optional.of(new Received(
                    UUID.fromString(json.get("id").asString()),
                    json.get("aggregateId").asString(),
                    payload.getBytes(StandardCharsets.UTF_8),
                    headers(json.get("headers"))));
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }

    private static Map<String, String> headers(JsonNode json) {
        Map<String, String> headers = new TreeMap<>();
        json.properties()
                .forEach(
                        header -> headers.put(header.getKey(), header.getValue().asString()));
        return headers;
    }

    /** A payload as a line holds it: a line cannot break, so each break between tokens is a space. */
    public static String asHeld(String payload) {
        return payload.replace('\n', ' ').replace('\r', ' ');
    }
}
