package io.postroom.server.dev;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The PostgreSQL that a killed run left behind in its folder: running, or as a file that only says so. */
final class Orphan {
    private static final int STOP_SECONDS_MAX = 10;

    private Orphan() {}

    /** Stops it if it runs; afterwards the folder is free. The caller holds the folder's lock. */
    static void stop(Path data) throws IOException {
        Path file = data.resolve("postmaster.pid");
        if (!Files.exists(file)) {
            return;
        }
        Optional<ProcessHandle> postgres =
                process(file).filter(Orphan::isPostgres).filter(process -> isOf(data, process));
        if (postgres.isPresent()) {
            stop(postgres.get());
        }
        // Its number may belong to another process by now, and PostgreSQL would take that one for itself.
        Files.deleteIfExists(file);
    }

    private static Optional<ProcessHandle> process(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        try {
            return lines.isEmpty()
                    ? Optional.empty()
                    : ProcessHandle.of(Long.parseLong(lines.get(0).strip()));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static boolean isPostgres(ProcessHandle process) {
        return process.info()
                .command()
                .map(Path::of)
                .filter(command -> command.endsWith("postgres"))
                .isPresent();
    }

    /** Its number may have been given to a PostgreSQL of somebody else: each one works in its own data folder. */
    private static boolean isOf(Path data, ProcessHandle process) {
        try {
            return Files.isSameFile(data, Path.of("/proc", Long.toString(process.pid()), "cwd"));
        } catch (IOException e) {
            // Only Linux shows where a process works.
            return wasStartedFor(data, process);
        }
    }

    /** Whether its command line names the folder, as that of an embedded server does. */
    static boolean wasStartedFor(Path data, ProcessHandle process) {
        List<String> arguments = List.of(process.info().arguments().orElse(new String[0]));
        return arguments.contains(data.toString());
    }

    /** SIGINT asks PostgreSQL for a fast shutdown; Java itself sends only SIGTERM, which would wait for every client. */
    private static void stop(ProcessHandle postgres) throws IOException {
        new ProcessBuilder("kill", "-INT", Long.toString(postgres.pid())).start();
        try {
            postgres.onExit().orTimeout(STOP_SECONDS_MAX, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            if (!(e.getCause() instanceof TimeoutException)) {
                throw e;
            }
            postgres.destroyForcibly();
            postgres.onExit().orTimeout(STOP_SECONDS_MAX, TimeUnit.SECONDS).join();
        }
    }
}
