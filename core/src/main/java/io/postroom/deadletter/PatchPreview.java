package io.postroom.deadletter;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a patch would make of one dead letter. Carries payloads: for an operator's eyes, not for a log.
 *
 * @param after the new payload, or null if the patch does not apply
 * @param problem why it does not apply, or null if it does
 * @param diff what changes, line by line; empty if nothing does
 */
public record PatchPreview(
        long id,
        String before,
        @Nullable String after,
        @Nullable String problem,
        List<String> diff) {

    public PatchPreview {
        diff = List.copyOf(diff);
    }

    static PatchPreview of(long id, String payload, JsonPatch patch) {
        JsonPatch.Result result = patch.apply(payload);
        if (result instanceof JsonPatch.Result.Applied applied) {
            List<String> diff = LineDiff.of(
                    JsonTree.pretty(JsonTree.read(payload)), JsonTree.pretty(JsonTree.read(applied.payload())));
            return new PatchPreview(id, payload, applied.payload(), null, diff);
        }
        String reason = ((JsonPatch.Result.Inapplicable) result).reason();
        return new PatchPreview(id, payload, null, reason, List.of());
    }
}
