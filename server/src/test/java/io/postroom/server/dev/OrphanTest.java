package io.postroom.server.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OrphanTest {
    @TempDir
    private Path folder;

    private EmbeddedPostgres server;
    private Path data;
    private ProcessHandle postmaster;

    @BeforeEach
    void start() throws IOException {
        data = folder.resolve("server");
        server = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                .start();
        String pid = Files.readAllLines(data.resolve("postmaster.pid")).get(0);
        postmaster = ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
    }

    @AfterEach
    void stop() throws Exception {
        if (postmaster.isAlive()) {
            server.close();
            postmaster.destroyForcibly();
        }
        postmaster.onExit().get(30, TimeUnit.SECONDS);
    }

    @Test
    void isStoppedInItsOwnFolder() throws Exception {
        assertThat(Orphan.wasStartedFor(data, postmaster)).isTrue();
        Orphan.stop(data);
        assertThat(postmaster.isAlive()).isFalse();
        assertThat(data.resolve("postmaster.pid")).doesNotExist();
    }

    @Test
    void isNotThePostgresThatGotItsNumberAfterwards() throws Exception {
        Path mine = Files.createDirectory(folder.resolve("mine"));
        Files.writeString(mine.resolve("postmaster.pid"), postmaster.pid() + "\n" + mine + "\n");
        assertThat(Orphan.wasStartedFor(mine, postmaster)).isFalse();
        Orphan.stop(mine);
        assertThat(postmaster.isAlive()).isTrue();
        assertThat(isAnswering()).isTrue();
        assertThat(mine.resolve("postmaster.pid")).doesNotExist();
    }

    private boolean isAnswering() throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            return connection.isValid(5);
        }
    }
}
