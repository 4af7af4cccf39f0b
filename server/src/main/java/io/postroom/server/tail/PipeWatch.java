package io.postroom.server.tail;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Notices that the reader of a pipe on standard output is gone even while nothing is written, so that {@code tail | head -5}
 * ends with the fifth line and not with the first that nobody reads.
 *
 * <p>Java cannot ask a pipe about its reader, but Linux shows who has it open. A reader that was never seen, perhaps because it
 * belongs to another user, is never missed; then, and on other systems, the next line that is written notices.
 */
final class PipeWatch {
    private static final Path PROCESSES = Path.of("/proc");
    private static final int ACCESS_MODE = 3;
    private static final int WRITE_ONLY = 1;

    /** As in {@code pipe:[4711]}; null if standard output is no pipe. */
    private final @Nullable Path pipe = pipe();

    private @Nullable Path reader;
    private boolean seen;

    /** Whether somebody read standard output before and nobody does now. */
    boolean isReaderGone() {
        if (pipe == null || reader != null && isReader(reader)) {
            return false;
        }
        reader = findReader().orElse(null);
        seen |= reader != null;
        return seen && reader == null;
    }

    private Optional<Path> findReader() {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (Path process : processes) {
                Optional<Path> found = findReader(process);
                if (found.isPresent()) {
                    return found;
                }
            }
        } catch (IOException e) {
            // Nothing is shown here.
        }
        return Optional.empty();
    }

    private Optional<Path> findReader(Path process) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path descriptor : descriptors) {
                if (isReader(descriptor)) {
                    return Optional.of(descriptor);
                }
            }
        } catch (IOException e) {
            // Ended meanwhile, or not ours to look into.
        }
        return Optional.empty();
    }

    private boolean isReader(Path descriptor) {
        try {
            if (!Files.readSymbolicLink(descriptor).equals(pipe)) {
                return false;
            }
            Path details = descriptor.resolveSibling("../fdinfo").resolve(descriptor.getFileName());
            return Files.readAllLines(details).stream()
                    .filter(line -> line.startsWith("flags:"))
                    .mapToInt(line ->
                            Integer.parseInt(line.substring("flags:".length()).strip(), 8))
                    .anyMatch(flags -> (flags & ACCESS_MODE) != WRITE_ONLY);
        } catch (IOException | NumberFormatException e) {
            return false;
        }
    }

    private static @Nullable Path pipe() {
        try {
            Path target = Files.readSymbolicLink(PROCESSES.resolve("self/fd/1"));
            return target.toString().startsWith("pipe:") ? target : null;
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }
}
