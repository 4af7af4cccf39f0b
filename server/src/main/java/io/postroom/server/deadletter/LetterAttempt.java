package io.postroom.server.deadletter;

import io.postroom.server.web.Shown;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** One attempt of a dead letter's history, as text: whatever is stored there is shown, nothing is believed. */
public record LetterAttempt(String number, String at, String seconds, String node, String outcome, String error) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    static List<LetterAttempt> read(String history) {
        List<LetterAttempt> attempts = new ArrayList<>();
        try {
            for (JsonNode each : JSON.readTree(history)) {
                attempts.add(new LetterAttempt(
                        text(each, "attempt"),
                        text(each, "at"),
                        text(each, "seconds"),
                        text(each, "node"),
                        text(each, "outcome"),
                        error(each)));
            }
        } catch (JacksonException e) {
            // The history is an addition; without it the page is still of use.
        }
        return attempts;
    }

    private static String error(JsonNode each) {
        String name = text(each, "errorClass");
        String error = text(each, "error");
        return name.isEmpty() || error.isEmpty() ? name + error : name + ": " + error;
    }

    /** How long it took, as pages show it; empty if it is not known. */
    public String took() {
        try {
            return seconds.isEmpty()
                    ? ""
                    : Shown.duration(Duration.ofNanos(Math.round(Double.parseDouble(seconds) * 1e9)));
        } catch (NumberFormatException e) {
            return "";
        }
    }

    /** When it was; null if what is stored is not a time. */
    public @Nullable Instant time() {
        try {
            return Instant.parse(at);
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    private static String text(JsonNode node, String name) {
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? "" : value.asString();
    }
}
