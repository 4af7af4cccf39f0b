package io.postroom.idempotency;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What steps leave for whoever goes on: the input of the request, and of each step that is done its name and what it returned. */
record Recovery(@Nullable String input, List<Done> steps) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    Recovery {
        steps = List.copyOf(steps);
    }

    record Done(String name, String value) {}

    static Recovery of(@Nullable String input) {
        return new Recovery(input, List.of());
    }

    Recovery plus(String name, String value) {
        List<Done> more = new ArrayList<>(steps);
        more.add(new Done(name, value));
        return new Recovery(input, more);
    }

    /** How many characters the steps have returned so far. */
    int length() {
        return steps.stream().mapToInt(step -> step.value().length()).sum();
    }

    String write() {
        ObjectNode object = JSON.createObjectNode();
        object.put("input", input);
        ArrayNode array = object.putArray("steps");
        steps.forEach(step -> array.addArray().add(step.name()).add(step.value()));
        return JSON.writeValueAsString(object);
    }

    static Recovery read(String text) {
        JsonNode object = JSON.readTree(text);
        List<Done> steps = new ArrayList<>();
        object.get("steps")
                .forEach(step -> steps.add(
                        new Done(step.get(0).stringValue(), step.get(1).stringValue())));
        JsonNode input = object.get("input");
        return new Recovery(input.isNull() ? null : input.stringValue(), steps);
    }
}
