package io.postroom.testkit;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** A copy of a running server's data, from which a standby can begin. The embedded binaries have no {@code pg_basebackup}. */
final class BaseBackup {
    /** Only the folders are copied: what is in them belongs to the running server. */
    private static final Set<String> EMPTY = Set.of(
            "pg_wal",
            "pg_replslot",
            "pg_dynshmem",
            "pg_notify",
            "pg_serial",
            "pg_snapshots",
            "pg_stat_tmp",
            "pg_subtrans");

    private static final Set<String> LEFT_OUT = Set.of("postmaster.pid", "postmaster.opts", "epg-lock");

    private BaseBackup() {}

    /** Copies {@code data} to {@code copy}, an empty folder, while the server at {@code url} goes on. */
    static void take(String url, Path data, Path copy) throws IOException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("select pg_backup_start('standby', true)");
            Files.walkFileTree(data, new Copying(data, copy));
            try (ResultSet row = statement.executeQuery("select labelfile from pg_backup_stop(false)")) {
                row.next();
                Files.writeString(copy.resolve("backup_label"), row.getString(1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Deletes a folder with all that is in it, if it is there. */
    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> all;
        try (Stream<Path> found = Files.walk(folder)) {
            all = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : all) {
            Files.deleteIfExists(each);
        }
    }

    private static final class Copying extends SimpleFileVisitor<Path> {
        private final Path data;
        private final Path copy;

        private Copying(Path data, Path copy) {
            this.data = data;
            this.copy = copy;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
            Path target = copy.resolve(data.relativize(folder).toString());
            if (!folder.equals(data)) {
                Files.copy(folder, target, StandardCopyOption.COPY_ATTRIBUTES);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Path relative = data.relativize(file);
            if (!EMPTY.contains(relative.getName(0).toString()) && !LEFT_OUT.contains(relative.toString())) {
                try {
                    Files.copy(file, copy.resolve(relative.toString()));
                } catch (NoSuchFileException e) {
                    // The server has deleted it meanwhile; what it is about is in the write-ahead log.
                    return FileVisitResult.CONTINUE;
                }
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw e;
        }
    }
}
