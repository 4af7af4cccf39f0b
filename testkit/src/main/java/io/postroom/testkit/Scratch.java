package io.postroom.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Directories for what servers of tests write; whoever makes one deletes it.
 *
 * <p>In memory where there is plenty: to make and drop databases and topics, which every test does, takes a tenth of the time. Files there
 * outlive processes, so that a killed server finds all that it has written.
 */
public final class Scratch {
    /** A server may write this much to memory, and leave as much to everybody else. */
    private static final long MEMORY_MIN = 8L << 30;

    private Scratch() {}

    /** A new directory whose name begins with the prefix. */
    public static Path directory(String prefix) throws IOException {
        Path memory = Path.of("/dev/shm");
        boolean plenty = Files.isWritable(memory)
                && Files.getFileStore(memory).getUsableSpace() > MEMORY_MIN
                && availableMemory() > MEMORY_MIN;
        return plenty ? Files.createTempDirectory(memory, prefix) : Files.createTempDirectory(prefix);
    }

    private static long availableMemory() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("MemAvailable:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                    .findFirst()
                    .orElse(0);
        }
    }
}
