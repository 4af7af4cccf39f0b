package io.postroom.server.overview;

import org.jspecify.annotations.Nullable;

/**
 * Something that somebody should look at.
 *
 * @param weight how bad it is; more is worse
 * @param what in a few words
 * @param why the facts
 * @param path where to look closer, with its query
 * @param command what does the same from a terminal
 */
public record Trouble(
        Level level,
        long weight,
        String what,
        String why,
        String path,
        @Nullable String command) {

    /** How bad. */
    public enum Level {
        /** Messages do not arrive until somebody does something. */
        BAD,
        /** It will hurt, or hurts a little. */
        WARNING,
        /** Somebody wanted it so. */
        NOTE;

        public String word() {
            return switch (this) {
                case BAD -> "stuck";
                case WARNING -> "warning";
                case NOTE -> "note";
            };
        }

        /** For the style sheet. */
        public String style() {
            return switch (this) {
                case BAD -> "bad";
                case WARNING -> "warn";
                case NOTE -> "note";
            };
        }
    }
}
