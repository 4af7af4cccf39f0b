package io.postroom.server.relay;

import io.postroom.server.terminal.TextFile;
import java.nio.file.Path;

/** The text of a file of settings. */
public final class SettingsText {
    private SettingsText() {}

    /** Reads it, or says why not. */
    public static String of(Path config) {
        // Four bytes for a character at most.
        return TextFile.read(config.toString(), config, 4 * Yaml.TEXT_LENGTH_MAX);
    }
}
