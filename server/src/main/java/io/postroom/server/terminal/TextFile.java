package io.postroom.server.terminal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A file that somebody names, and what is wrong with it in words: the exceptions of the JDK often say no more than its name. */
public final class TextFile {
    private TextFile() {}

    /** All of it, as UTF-8; a {@link CommandException} that begins with {@code could not read} and the given name if that cannot be. */
    public static String read(String name, Path file, int bytesMax) {
        try (InputStream stream = Files.newInputStream(file)) {
            byte[] bytes = stream.readNBytes(bytesMax + 1);
            if (bytes.length > bytesMax) {
                throw unreadable(name, "it has more than " + bytesMax + " bytes, the limit", null);
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw unreadable(name, "it is not UTF-8 text", e);
        } catch (IOException e) {
            throw unreadable(name, problem(file, e), e);
        }
    }

    /** Why a file could not be read or written. */
    public static String problem(Path file, Exception e) {
        if (Files.isDirectory(file)) {
            return "it is a folder, not a file";
        }
        if (e instanceof NoSuchFileException) {
            Path folder = file.toAbsolutePath().getParent();
            return folder == null || Files.isDirectory(folder)
                    ? "there is no such file"
                    : "there is no such file, and no folder " + folder;
        }
        if (e instanceof AccessDeniedException) {
            return "access is denied; check its rights";
        }
        if (e instanceof FileAlreadyExistsException || e instanceof NotDirectoryException) {
            return "a file of that name is in the way; choose another name";
        }
        String reason = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
        return reason == null ? e.getClass().getSimpleName() : reason;
    }

    private static CommandException unreadable(String name, String problem, @Nullable Exception e) {
        return new CommandException(ExitCode.USAGE, "could not read " + name + ": " + problem, e);
    }
}
