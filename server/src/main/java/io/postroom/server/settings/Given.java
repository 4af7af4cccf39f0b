package io.postroom.server.settings;

import java.util.List;

/**
 * A setting that was given to this process: where it stands among the blocks, its value as it may be shown, and whence it came.
 *
 * @param path the names of its blocks and its own; names of the user's own may have dots
 */
public record Given(List<String> path, String value, String origin) {
    /** What stands for a secret. */
    public static final String MASK = "••••••";

    public Given {
        path = List.copyOf(path);
    }

    String name() {
        return String.join(".", path);
    }
}
