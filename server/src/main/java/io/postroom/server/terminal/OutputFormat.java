package io.postroom.server.terminal;

import java.util.Locale;

/** How a listing is written. */
public enum OutputFormat {
    /** Columns for people. */
    TABLE,
    /** One array. */
    JSON,
    /** One object a line. */
    JSONL;

    /** As it is written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
