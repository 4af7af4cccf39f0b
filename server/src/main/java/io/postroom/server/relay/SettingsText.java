package io.postroom.server.relay;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The text of a file of settings. */
public final class SettingsText {
    private SettingsText() {}

    /** Reads it, or says why not. */
    public static String of(Path config) {
        try {
            return Files.readString(config);
        } catch (NoSuchFileException e) {
            throw new CommandException(ExitCode.USAGE, "could not read " + config + ": there is no such file", e);
        } catch (MalformedInputException e) {
            throw new CommandException(ExitCode.USAGE, "could not read " + config + ": it is not UTF-8 text", e);
        } catch (IOException e) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not read " + config + ": " + e.getClass().getSimpleName() + "; check its rights",
                    e);
        }
    }
}
