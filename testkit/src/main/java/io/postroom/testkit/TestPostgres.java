package io.postroom.testkit;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server for tests: the one that {@code POSTROOM_TEST_URL} names, or an embedded one started on first use and stopped
 * with the JVM.
 */
public final class TestPostgres implements AutoCloseable {
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static @Nullable TestPostgres shared;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final @Nullable EmbeddedPostgres embedded;
    private final @Nullable Path directory;
    private final String base;
    private String binaries = "";

    private TestPostgres(EmbeddedPostgres embedded, Path directory) {
        this(embedded, directory, embedded.getJdbcUrl("postgres", "postgres"));
    }

    private TestPostgres(@Nullable EmbeddedPostgres embedded, @Nullable Path directory, String base) {
        this.embedded = embedded;
        this.directory = directory;
        this.base = base;
    }

    /** The server that all tests of this JVM share. */
    public static TestPostgres shared() {
        LOCK.lock();
        try {
            if (shared == null) {
                String url = System.getenv("POSTROOM_TEST_URL");
                shared = url == null ? start() : new TestPostgres(null, null, url);
            }
            return shared;
        } finally {
            LOCK.unlock();
        }
    }

    /** A server of one's own, to be stopped by the test; what it has committed survives {@link #kill}. */
    public static TestPostgres start() {
        return start(Map.of());
    }

    /** A server of one's own with settings of one's own. */
    public static TestPostgres start(Map<String, String> settings) {
        try {
            Path directory = Scratch.directory("postroom-pg");
            EmbeddedPostgres.Builder builder = builder(directory);
            settings.forEach(builder::setServerConfig);
            return new TestPostgres(builder.start(), directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static EmbeddedPostgres.Builder builder(Path directory) {
        return EmbeddedPostgres.builder()
                .setDataDirectory(directory)
                .setPort(FreePort.find())
                .setServerConfig("max_prepared_transactions", "20")
                .setServerConfig("max_connections", "200")
                .setServerConfig("shared_buffers", "256MB")
                .setServerConfig("max_wal_size", "1GB")
                .setServerConfig("synchronous_commit", "on")
                .setPGStartupWait(PATIENCE);
    }

    /**
     * A standby of this server, which streams from it: asynchronously, unless {@code synchronous_standby_names} says otherwise. To be closed
     * by the test.
     */
    public TestPostgres standby() {
        try {
            Path copy = Scratch.directory("postroom-pg");
            // What is written while the copy is made must still be there when it begins to stream.
            execute("alter system set wal_keep_size = '1GB'");
            execute("select pg_reload_conf()");
            BaseBackup.take(url("postgres"), directory(), copy);
            Files.createFile(copy.resolve("standby.signal"));
            Files.writeString(
                    copy.resolve("postgresql.auto.conf"),
                    "primary_conninfo = 'host=localhost port=" + port() + " user=postgres'\n",
                    StandardOpenOption.APPEND);
            return new TestPostgres(builder(copy).setCleanDataDirectory(false).start(), copy);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets a standby take over: it takes writes when this returns. */
    public void promote() {
        execute("select pg_promote()");
    }

    /** SIGKILL for the postmaster: every connection breaks, nothing is flushed. Returns when all its processes are gone. */
    public void kill() throws InterruptedException {
        ProcessHandle postmaster = postmaster();
        binaries = postmaster
                .info()
                .command()
                .map(command -> Path.of(command).resolveSibling("").toString())
                .orElseThrow();
        // Backends leave by themselves when the postmaster is gone; a new one cannot start before the last of them has.
        List<ProcessHandle> all = new ArrayList<>(postmaster.descendants().toList());
        all.add(postmaster);
        postmaster.destroyForcibly();
        try {
            for (ProcessHandle process : all) {
                process.onExit().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("a process of the killed server is still there", e);
        }
    }

    /** Starts a killed server again, on the same data and the same port; returns when it takes connections. */
    public void restart() throws InterruptedException {
        List<String> command = new ArrayList<>();
        if (LinuxUtils.isUnshareAvailable()) {
            // PostgreSQL refuses to run as root: in a user namespace of its own it is somebody else.
            command.addAll(List.of("unshare", "-U"));
        }
        Path log = directory().resolve("restart.log");
        command.addAll(List.of(
                Path.of(binaries, "pg_ctl").toString(),
                "-D",
                directory().toString(),
                "-w",
                "-t",
                Long.toString(PATIENCE.toSeconds()),
                "-l",
                log.toString(),
                "restart"));
        try {
            Process restarting = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (restarting.waitFor() != 0) {
                throw new IllegalStateException("could not start PostgreSQL again: " + Files.readString(log));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ProcessHandle postmaster() {
        try {
            String pid =
                    Files.readAllLines(directory().resolve("postmaster.pid")).get(0);
            return ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path directory() {
        if (directory == null) {
            throw new IllegalStateException("the server of POSTROOM_TEST_URL is not ours to stop");
        }
        return directory;
    }

    /** Whether it ends with this process, and all that is in it. */
    boolean isEmbedded() {
        return embedded != null;
    }

    /** The JDBC URL of one of its databases. */
    public String url(String database) {
        return base.replaceFirst("(jdbc:postgresql://[^/]+/)[^?]*", "$1" + database);
    }

    /** The port it listens on, where it is an embedded one. */
    public int port() {
        if (embedded == null) {
            throw new IllegalStateException("the server of POSTROOM_TEST_URL is not ours to look into");
        }
        return embedded.getPort();
    }

    /** Runs one statement in the database {@code postgres}. */
    public void execute(String sql) {
        try (Connection connection = DriverManager.getConnection(url("postgres"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        if (embedded != null) {
            try {
                embedded.close();
                BaseBackup.delete(directory());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
