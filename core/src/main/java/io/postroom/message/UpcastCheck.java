package io.postroom.message;

import org.jspecify.annotations.Nullable;

/**
 * Whether {@link Upcasters} can read a version that is stored.
 *
 * @param newest the version readers see, or null for an event type nobody has registered, which is read as it is
 * @param problem why it cannot be read, or null if it can
 */
public record UpcastCheck(
        StoredVersion stored,
        @Nullable Integer newest,
        @Nullable String problem) {

    public boolean isCovered() {
        return problem == null;
    }

    /** The version in which readers see it, or null if they do not. */
    public @Nullable Integer readAs() {
        return problem != null ? null : newest == null ? Integer.valueOf(stored.eventVersion()) : newest;
    }

    /** One line for a person: {@code order.placed version 4: newer than 3, the newest known here; 312 messages}. */
    public String line() {
        return stored.eventType() + " version " + stored.eventVersion() + ": " + found() + "; "
                + count(stored.messages(), "message")
                + (stored.deadLetters() == 0 ? "" : ", " + count(stored.deadLetters(), "dead letter"));
    }

    private static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    private String found() {
        if (problem != null) {
            return problem;
        }
        Integer version = readAs();
        return version == null || version == stored.eventVersion() ? "read as it is" : "read as version " + version;
    }
}
