package io.postroom.server.terminal;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** UUIDs as people write them. */
public final class Uuids {
    private static final Pattern FORM = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");

    private Uuids() {}

    /** The UUID, or nothing if it is none: {@link UUID#fromString} takes shorter forms for others than they are. */
    public static Optional<UUID> read(String text) {
        return FORM.matcher(text).matches() ? Optional.of(UUID.fromString(text)) : Optional.empty();
    }
}
