package io.postroom.message;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Headers that Postroom itself adds on the way to a receiver: their names begin with {@code postroom-}, in any case.
 *
 * <p>Receivers draw conclusions from them, so no publisher can write one: {@code publish} refuses them, in Java and in SQL, and in
 * rows that were inserted by hand they are not read.
 */
public final class OwnHeaders {
    static final String PREFIX = "postroom-";

    /** Tells a message that was delivered before from one that was not; the value is the last position of the replay. */
    public static final String REPLAY = PREFIX + "replay";

    /** See {@link PayloadHash}. */
    public static final String PAYLOAD_HASH = PREFIX + "payload-sha256";

    private OwnHeaders() {}

    public static boolean has(String name) {
        return name.length() >= PREFIX.length()
                && name.substring(0, PREFIX.length()).toLowerCase(Locale.ROOT).equals(PREFIX);
    }

    /** The headers that somebody else wrote. */
    public static Map<String, String> without(Map<String, String> headers) {
        if (headers.keySet().stream().noneMatch(OwnHeaders::has)) {
            return headers;
        }
        Map<String, String> others = new LinkedHashMap<>(headers);
        others.keySet().removeIf(OwnHeaders::has);
        return others;
    }
}
