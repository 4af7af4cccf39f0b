package io.postroom.server.archive;

import io.postroom.archive.Archive;
import io.postroom.message.Envelope;
import io.postroom.server.message.MessageLine;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.TextFile;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.LocalDate;
import java.util.zip.GZIPOutputStream;

/** Writes an archived day as lines of JSON, as {@code tail} prints them. */
final class Export {
    private final Archive archive;
    private final LocalDate day;

    Export(Archive archive, LocalDate day) {
        this.archive = archive;
        this.day = day;
    }

    /** Writes to a file that is not there yet; packed if its name ends in {@code .gz}. Returns how many messages were written. */
    long to(Path file) {
        if (Files.exists(file)) {
            throw failed(file, new FileAlreadyExistsException("it exists already; choose another name"));
        }
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            long count;
            try (FileChannel channel = FileChannel.open(
                            part,
                            StandardOpenOption.CREATE,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.TRUNCATE_EXISTING);
                    OutputStream raw = new BufferedOutputStream(Channels.newOutputStream(channel), 65_536)) {
                boolean packed = file.toString().endsWith(".gz");
                OutputStream out = packed ? new GZIPOutputStream(raw, 65_536) : raw;
                count = to(out);
                if (out instanceof GZIPOutputStream gzip) {
                    gzip.finish();
                }
                raw.flush();
                // The day may be dropped next: it is on disk before it has its name.
                channel.force(true);
            }
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            return count;
        } catch (IOException | UncheckedIOException e) {
            throw failed(file, e);
        }
    }

    long to(OutputStream out) {
        MessageLine line = new MessageLine(false);
        return archive.read(day, item -> {
            try {
                out.write(line.encode(new Envelope(item.position(), item.message(), 1)));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static String problem(Path file, Exception e) {
        Throwable cause = e instanceof UncheckedIOException ? e.getCause() : e;
        return cause instanceof IOException failure && !(failure instanceof FileAlreadyExistsException)
                ? TextFile.problem(file, failure)
                : String.valueOf(e.getMessage());
    }

    private CommandException failed(Path file, Exception e) {
        return new CommandException(
                ExitCode.FAILURE,
                "could not export archived day " + day + " to " + file + ": "
                        + problem(file, e)
                        + (e instanceof FileAlreadyExistsException ? "" : "; nothing of that name was written"),
                e);
    }
}
