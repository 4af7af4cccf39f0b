package io.postroom.deadletter;

import io.postroom.PostroomException;
import io.postroom.message.InvalidMessageException;
import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * A change of payloads (RFC 6902): an array of operations {@code add}, {@code remove}, {@code replace}, {@code move}, {@code copy}
 * and {@code test}, done in their order. All of them apply, or none does.
 *
 * <p>Names keep their order and numbers every digit; spaces and escapes may change. What it says about a payload quotes nothing of it.
 * Immutable; two patches are equal if they were written in the same way, but for spaces.
 */
public final class JsonPatch {
    public static final int OPERATIONS_MAX = 1_000;
    public static final int TEXT_LENGTH_MAX = 1_048_576;

    private final String text;
    private final List<PatchOperation> operations;

    private JsonPatch(String text, List<PatchOperation> operations) {
        this.text = text;
        this.operations = operations;
    }

    /** What a patch makes of one payload. */
    public sealed interface Result {
        /** The new payload, within the limits of a message. */
        record Applied(String payload) implements Result {}

        /** It does not fit this payload, which stays as it is. */
        record Inapplicable(String reason) implements Result {}
    }

    /** Reads a patch; an error names the operation and what is wrong with it. */
    public static JsonPatch parse(String json) {
        if (json.length() > TEXT_LENGTH_MAX) {
            throw invalid("it is " + json.length() + " characters, the limit is " + TEXT_LENGTH_MAX);
        }
        JsonNode root;
        try {
            root = JsonTree.read(json);
        } catch (JacksonException e) {
            throw invalid("it is not JSON, or has a name twice: line "
                    + e.getLocation().getLineNr() + ", column "
                    + e.getLocation().getColumnNr());
        }
        if (!(root instanceof ArrayNode array)) {
            throw invalid("it is no array; write [{\"op\":\"replace\",\"path\":\"/status\",\"value\":\"paid\"}]");
        }
        if (array.isEmpty() || array.size() > OPERATIONS_MAX) {
            throw invalid("it has " + array.size() + " operations, the range is 1 to " + OPERATIONS_MAX);
        }
        List<PatchOperation> operations = new ArrayList<>();
        for (JsonNode node : array.values()) {
            int number = operations.size() + 1;
            try {
                operations.add(PatchOperation.read(number, node));
            } catch (IllegalArgumentException e) {
                throw invalid("operation " + number + " " + e.getMessage());
            }
        }
        return new JsonPatch(JsonTree.write(root), List.copyOf(operations));
    }

    /** How many operations it has. */
    public int size() {
        return operations.size();
    }

    /** The payload with all changes made, or why it cannot be changed so. */
    public Result apply(String payload) {
        try {
            JsonNode changed = apply(JsonTree.read(payload));
            String written = JsonTree.write(changed);
            check(written);
            return new Result.Applied(written);
        } catch (PatchOperation.InapplicableException e) {
            return new Result.Inapplicable(String.valueOf(e.getMessage()));
        } catch (JacksonException e) {
            return new Result.Inapplicable(
                    "the payload is not JSON that can be changed: it is nested too deep, or has a" + " name twice");
        } catch (InvalidMessageException e) {
            String problem = String.valueOf(e.getMessage());
            return new Result.Inapplicable("the result breaks a rule: " + problem.substring(problem.indexOf(": ") + 2));
        }
    }

    private JsonNode apply(JsonNode root) {
        JsonNode changed = root;
        long room = PatchOperation.VALUES_MAX;
        for (PatchOperation operation : operations) {
            room -= operation.grows(changed);
            if (room < 0) {
                throw operation.inapplicable(
                        "the copies have more than " + PatchOperation.VALUES_MAX + " values in all");
            }
            changed = operation.apply(changed);
        }
        return changed;
    }

    /** The rules for a payload are part of those for a message. */
    private static void check(String payload) {
        MessageRules.check(Message.about("patched", "payload")
                .event("Patched")
                .payload(payload)
                .build());
    }

    private static PostroomException invalid(String problem) {
        return new PostroomException("patch.invalid", "could not read the patch: " + problem);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof JsonPatch patch && patch.text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The patch as JSON text. */
    @Override
    public String toString() {
        return text;
    }
}
