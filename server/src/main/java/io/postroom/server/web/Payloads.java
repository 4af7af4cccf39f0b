package io.postroom.server.web;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How much of what messages and jobs carry is shown. */
public enum Payloads {
    /** All of it, to whoever may look. */
    SHOWN,
    /** Names without values. Operators and admins reveal one at a time, with a reason, and the audit tells. */
    MASKED,
    /** Nothing, and nobody reveals any. */
    HIDDEN;

    /** What is shown of something that a message or a job carries; null if nothing is. */
    public @Nullable String carried(@Nullable String json) {
        if (json == null || this == HIDDEN) {
            return null;
        }
        return this == MASKED ? JsonMask.of(json) : json;
    }

    /** The same as people read it: the word for it where nothing is shown. */
    public String readable(String json) {
        String carried = carried(json);
        return carried == null ? word() : carried;
    }

    /** As it is written in the settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
