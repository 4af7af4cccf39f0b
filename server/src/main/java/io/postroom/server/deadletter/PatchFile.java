package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.JsonPatch;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** A JSON Patch in a file. */
final class PatchFile {
    private PatchFile() {}

    static JsonPatch read(Path file) {
        try {
            // Four bytes for a character at most.
            if (Files.size(file) > 4L * JsonPatch.TEXT_LENGTH_MAX) {
                throw unreadable(
                        file, "it is " + Files.size(file) + " bytes, the limit is " + 4L * JsonPatch.TEXT_LENGTH_MAX);
            }
            return JsonPatch.parse(Files.readString(file));
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage() + ", in " + file, e);
        } catch (NoSuchFileException e) {
            throw unreadable(file, "there is no such file");
        } catch (CharacterCodingException e) {
            throw unreadable(file, "it is not UTF-8");
        } catch (IOException e) {
            throw unreadable(file, e.getClass().getSimpleName());
        }
    }

    private static CommandException unreadable(Path file, String problem) {
        return new CommandException(ExitCode.USAGE, "could not read --patch " + file + ": " + problem);
    }
}
