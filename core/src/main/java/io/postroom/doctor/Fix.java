package io.postroom.doctor;

import java.util.List;

/**
 * The SQL that mends something. Nobody runs it but whoever reads it first.
 *
 * @param statements in their order, each complete and without a semicolon, each a transaction of its own
 */
public record Fix(Risk risk, List<String> statements) {
    public static final Fix NONE = new Fix(Risk.HARMLESS, List.of());

    /** What it may do besides, the least first. */
    public enum Risk {
        /** Waits for nobody and takes nothing from anybody. */
        HARMLESS("disturbs nobody"),
        /** Reads and writes much, or takes a lock for a moment. */
        HEAVY("may take its time; nobody waits for it for long"),
        /** Somebody loses a right, a session or a setting of theirs. */
        TAKES("takes something from somebody: read it twice"),
        /** Is true only after the server was restarted. */
        RESTART("takes effect when the server is restarted"),
        /** Only somebody who knows more can decide: the statements are alternatives, and none is right by itself. */
        DECISION("needs a decision: take the comment marks off the one that is right");

        private final String words;

        Risk(String words) {
            this.words = words;
        }

        public String words() {
            return words;
        }
    }

    public Fix {
        statements = List.copyOf(statements);
    }

    static Fix of(Risk risk, String... statements) {
        return new Fix(risk, List.of(statements));
    }

    public boolean isEmpty() {
        return statements.isEmpty();
    }
}
