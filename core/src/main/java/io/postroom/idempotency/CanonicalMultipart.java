package io.postroom.idempotency;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A multipart body as canonical JSON, so that the boundary, which is another one each time, does not count.
 *
 * <p>It is an object: the name of each part, and the list of what came under it in its order. A part without a file name is its
 * text; one with a file name, or that is not UTF-8, is {@code {"filename":…,"sha256":…,"type":…}}.
 */
final class CanonicalMultipart {
    private CanonicalMultipart() {}

    static String of(String contentType, byte[] body) {
        Map<String, List<String>> values = new LinkedHashMap<>();
        for (MultipartPart part : MultipartPart.read(contentType, body)) {
            StringBuilder name = new StringBuilder();
            CanonicalJson.quote(name, part.name());
            values.computeIfAbsent(name.toString(), ignored -> new ArrayList<>())
                    .add(value(part));
        }
        // Names and values are JSON already; reading them once more sorts the names.
        List<String> members = new ArrayList<>();
        values.forEach((name, list) -> members.add(name + ":[" + String.join(",", list) + "]"));
        return CanonicalJson.of(("{" + String.join(",", members) + "}").getBytes(StandardCharsets.US_ASCII));
    }

    private static String value(MultipartPart part) {
        String text = part.text();
        StringBuilder value = new StringBuilder();
        if (text != null) {
            CanonicalJson.quote(value, text);
            return value.toString();
        }
        String file = part.fileName();
        CanonicalJson.quote(value.append("{\"filename\":"), file == null ? "" : file);
        value.append(",\"sha256\":\"").append(CanonicalHash.hex(CanonicalHash.sha256(part.content())));
        CanonicalJson.quote(
                value.append("\",\"type\":"),
                CanonicalHash.mediaType(part.headers().get("content-type")));
        return value.append('}').toString();
    }
}
