package io.postroom.server.web;

import java.util.Locale;

/** How much of what messages and jobs carry is shown. */
public enum Payloads {
    /** All of it, to whoever may look. */
    SHOWN,
    /** Names without values. Operators and admins reveal one at a time, with a reason, and the audit tells. */
    MASKED,
    /** Nothing, and nobody reveals any. */
    HIDDEN;

    /** As it is written in the settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
