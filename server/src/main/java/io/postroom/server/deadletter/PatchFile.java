package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.JsonPatch;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.TextFile;
import java.nio.file.Path;

/** A JSON Patch in a file. */
final class PatchFile {
    private PatchFile() {}

    static JsonPatch read(Path file) {
        // Four bytes for a character at most.
        String text = TextFile.read("--patch " + file, file, 4 * JsonPatch.TEXT_LENGTH_MAX);
        try {
            return JsonPatch.parse(text);
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage() + ", in " + file, e);
        }
    }
}
