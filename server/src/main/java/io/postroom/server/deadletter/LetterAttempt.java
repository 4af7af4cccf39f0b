package io.postroom.server.deadletter;

import java.util.ArrayList;
import java.util.List;
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
                        text(each, "errorClass") + (each.has("error") ? ": " + text(each, "error") : "")));
            }
        } catch (JacksonException e) {
            // The history is an addition; without it the page is still of use.
        }
        return attempts;
    }

    private static String text(JsonNode node, String name) {
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? "" : value.asString();
    }
}
