package io.postroom.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.Stream;

/** The processor time of all processes of a PostgreSQL on this machine, as Linux counts it; nothing is known elsewhere. */
final class ServerCpu {
    /** What /proc counts in, whatever the kernel's own clock. */
    static final double TICKS_PER_SECOND = 100;
    /** After the command's closing parenthesis comes the state, which proc(5) numbers 3. */
    private static final int FIRST_FIELD = 3;

    private static final int UTIME = 14;
    private static final int STIME = 15;
    private static final int CUTIME = 16;
    private static final int CSTIME = 17;

    /** Empty where the system does not show it. */
    private final Optional<ProcessHandle> postmaster;

    private ServerCpu(Optional<ProcessHandle> postmaster) {
        this.postmaster = postmaster;
    }

    /** Of the server that a database belongs to. */
    static ServerCpu of(BenchDatabase database) {
        return new ServerCpu(
                ProcessHandle.of(database.queryLong("select pg_backend_pid()")).flatMap(ProcessHandle::parent));
    }

    /** Seconds so far, if they are known. A process that has ended counts with the postmaster, which waited for it. */
    OptionalDouble seconds() {
        if (postmaster.isEmpty()) {
            return OptionalDouble.empty();
        }
        OptionalLong own = ticks(postmaster.get(), UTIME, STIME, CUTIME, CSTIME);
        if (own.isEmpty()) {
            return OptionalDouble.empty();
        }
        try (Stream<ProcessHandle> others = postmaster.get().descendants()) {
            // One may end while they are counted, as a worker of autovacuum does.
            long theirs = others.mapToLong(other -> ticks(other, UTIME, STIME).orElse(0))
                    .sum();
            return OptionalDouble.of((own.getAsLong() + theirs) / TICKS_PER_SECOND);
        }
    }

    /** Of one process so far; empty if it is gone, or the system does not show it. */
    static OptionalLong ticks(long pid) {
        return ProcessHandle.of(pid)
                .map(process -> ticks(process, UTIME, STIME))
                .orElse(OptionalLong.empty());
    }

    private static OptionalLong ticks(ProcessHandle process, int... fields) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
            // The command may hold spaces and parentheses of its own.
            List<String> rest =
                    List.of(stat.substring(stat.lastIndexOf(')') + 2).split(" "));
            long ticks = 0;
            for (int field : fields) {
                ticks += Long.parseLong(rest.get(field - FIRST_FIELD));
            }
            return OptionalLong.of(ticks);
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }
}
