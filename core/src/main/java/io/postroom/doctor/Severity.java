package io.postroom.doctor;

/** How bad a finding is, the worst first. */
public enum Severity {
    /** Messages are lost, stuck or open to others, or soon will be. */
    ERROR,
    /** It will hurt, or hurts a little. */
    WARNING,
    /** Worth knowing; nothing suffers by it. */
    NOTE;

    /** As it is written in output that programs read. */
    public String word() {
        return switch (this) {
            case ERROR -> "error";
            case WARNING -> "warning";
            case NOTE -> "note";
        };
    }
}
