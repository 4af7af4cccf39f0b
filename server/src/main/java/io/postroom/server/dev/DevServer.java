package io.postroom.server.dev;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * A PostgreSQL whose data stays in a folder. One process at a time may use the folder; the operating system forgets the lock of
 * a process that was killed, and the server such a process left running is stopped by the next one.
 */
final class DevServer implements AutoCloseable {
    private static final Duration START_PATIENCE = Duration.ofSeconds(60);

    private final FileChannel lock;
    private final EmbeddedPostgres postgres;

    private DevServer(FileChannel lock, EmbeddedPostgres postgres) {
        this.lock = lock;
        this.postgres = postgres;
    }

    /** Starts a server; {@code port} 0 takes any that is free, {@code fresh} begins without data. */
    static DevServer start(Path folder, int port, boolean fresh) {
        Path data = folder.resolve("postgres");
        FileChannel lock = null;
        try {
            lock = claim(folder);
            Orphan.stop(data);
            require(port);
            if (fresh) {
                delete(data);
            }
            return new DevServer(lock, postgres(folder, data, port));
        } catch (IOException | IllegalStateException e) {
            close(lock);
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not start PostgreSQL in " + folder + ": see " + folder.resolve("postgres.log")
                            + "; --fresh begins without the data there, --port takes another port",
                    e);
        } catch (CommandException e) {
            close(lock);
            throw e;
        }
    }

    private static EmbeddedPostgres postgres(Path folder, Path data, int port) throws IOException {
        ProcessBuilder.Redirect log =
                ProcessBuilder.Redirect.appendTo(folder.resolve("postgres.log").toFile());
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                // Not at the same time as everything else ends: it goes last.
                .setRegisterShutdownHook(false)
                .setOutputRedirector(log)
                .setErrorRedirector(log)
                .setPGStartupWait(START_PATIENCE)
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("max_connections", "100");
        return (port == 0 ? builder : builder.setPort(port)).start();
    }

    /** Makes the folder if it is not there, and takes it for this process. */
    private static FileChannel claim(Path folder) {
        try {
            Files.createDirectories(folder);
            return lock(folder);
        } catch (IOException e) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not use folder " + folder + ": "
                            + (Files.isRegularFile(folder)
                                    ? "it is a file"
                                    : "it cannot be made or written, "
                                            + e.getClass().getSimpleName())
                            + "; choose another with --data",
                    e);
        }
    }

    /** PostgreSQL would say it only in its log. */
    private static void require(int port) {
        if (port == 0) {
            return;
        }
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not start PostgreSQL: --port is " + port
                            + ", and another program listens there or this user may not; choose another, or leave it out",
                    e);
        }
    }

    private static FileChannel lock(Path folder) throws IOException {
        Path file = folder.resolve("lock");
        FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileLock taken = channel.tryLock();
        if (taken == null) {
            String owner = Files.readString(file).strip();
            channel.close();
            throw new CommandException(
                    ExitCode.FAILURE,
                    "could not use folder " + folder + ": another postroom dev runs there"
                            + (owner.isEmpty() ? "" : ", process " + owner)
                            + "; end it, or choose another with --data");
        }
        channel.truncate(0);
        channel.write(StandardCharsets.US_ASCII.encode(ProcessHandle.current().pid() + "\n"));
        return channel;
    }

    private static void delete(Path data) throws IOException {
        if (!Files.exists(data)) {
            return;
        }
        try (Stream<Path> files = Files.walk(data)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.delete(file);
            }
        }
    }

    int port() {
        return postgres.getPort();
    }

    DataSource dataSource() {
        return postgres.getPostgresDatabase();
    }

    @Override
    public void close() {
        try {
            postgres.close();
        } catch (IOException e) {
            throw new CommandException(ExitCode.FAILURE, "could not stop PostgreSQL; it may still run", e);
        } finally {
            close(lock);
        }
    }

    private static void close(@org.jspecify.annotations.Nullable FileChannel lock) {
        if (lock == null) {
            return;
        }
        try {
            lock.close();
        } catch (IOException e) {
            // The operating system lets go of it with the process.
        }
    }
}
