package io.postroom.server.dev;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import io.postroom.server.Program;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DevTest {
    private static final Pattern URL = Pattern.compile("PostgreSQL +(jdbc:postgresql:\\S+)");

    @TempDir
    private Path folder;

    @Test
    void flowsStopsInSecondsAndKeepsItsDataEvenWhenKilled() throws Exception {
        long position;
        try (Program dev = dev();
                BufferedReader lines = dev.lines()) {
            String url = url(lines);
            await(lines, "audit [1-9]\\d*/s");
            assertThat(query(url, "select count(*) from demo.orders")).isPositive();
            assertThat(query(
                            url,
                            "select count(*) from postroom.job_done where kind = 'receipt.send' and state = 'done'"))
                    .isPositive();
            assertThat(query(url, "select count(*) from postroom.schedule where name = 'stock-count'"))
                    .isEqualTo(1);
            assertThat(query(url, "select count(distinct tenant_id) from postroom.outbox"))
                    .isGreaterThan(1);
            try (Program second = dev()) {
                assertThat(second.awaitExit()).isEqualTo(1);
                assertThat(second.said()).contains("another postroom dev runs there, process ");
            }
            position = query(url, "select max(position) from postroom.journal");
            dev.terminate();
            assertThat(dev.awaitExit(Duration.ofSeconds(15))).isZero();
            assertThat(dev.said()).contains("stopped; the data is in");
        }
        assertThat(folder.resolve("postgres").resolve("postmaster.pid")).doesNotExist();

        try (Program dev = dev("--rate", "20");
                BufferedReader lines = dev.lines()) {
            String url = url(lines);
            await(lines, "audit [1-9]\\d*/s");
            assertThat(query(url, "select max(position) from postroom.journal")).isGreaterThan(position);
            assertThat(query(url, "select min(position) from postroom.lane")).isPositive();
            dev.kill();
        }
        // PostgreSQL itself was not killed and still runs.
        assertThat(folder.resolve("postgres").resolve("postmaster.pid")).exists();

        try (Program dev = dev("--rate", "20");
                BufferedReader lines = dev.lines()) {
            String url = url(lines);
            assertThat(query(url, "select max(position) from postroom.journal")).isGreaterThan(position);
            // As if the step had been another one when this folder was made.
            query(url, "update postroom.migration set checksum = repeat('0', 64) where version = 3 returning version");
            dev.interrupt();
            assertThat(dev.awaitExit(Duration.ofSeconds(15))).isZero();
            assertThat(dev.said()).contains("stopped; the data is in");
        }

        try (Program dev = dev()) {
            assertThat(dev.awaitExit()).isEqualTo(1);
            assertThat(dev.said())
                    .contains("is of another version of Postroom", "version 3 (journal)", "postroom dev --fresh");
        }
        assertThat(folder.resolve("postgres").resolve("postmaster.pid")).doesNotExist();

        try (Program dev = dev("--fresh", "--rate", "0");
                BufferedReader lines = dev.lines()) {
            String url = url(lines);
            await(lines, "published 0/s");
            assertThat(query(url, "select count(*) from postroom.journal")).isZero();
            dev.terminate();
            assertThat(dev.awaitExit(Duration.ofSeconds(15))).isZero();
        }
    }

    @Test
    void refusesAFolderOrAPortThatItCannotHave() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "");
        CommandRun noFolder = CommandRun.of("dev", "--data", file.toString());
        assertThat(noFolder.exitCode()).isEqualTo(1);
        assertThat(noFolder.err())
                .contains("could not use folder " + file + ": it is a file; choose another with --data");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CommandRun noPort =
                    CommandRun.of("dev", "--data", folder.toString(), "--port", Integer.toString(taken.getLocalPort()));
            assertThat(noPort.exitCode()).isEqualTo(1);
            assertThat(noPort.err())
                    .contains("--port is " + taken.getLocalPort() + ", and another program listens there");
        }
    }

    private Program dev(String... more) {
        String[] all = new String[more.length + 5];
        List.of("dev", "--port", "0", "--data", folder.toString()).toArray(all);
        System.arraycopy(more, 0, all, 5, more.length);
        return Program.start(all);
    }

    private static String url(BufferedReader lines) throws IOException {
        Matcher matcher = await(lines, URL.pattern());
        return matcher.group(1);
    }

    private static Matcher await(BufferedReader lines, String pattern) throws IOException {
        Pattern wanted = Pattern.compile(pattern);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Matcher matcher = wanted.matcher(line);
            if (matcher.find()) {
                assertThat(line).doesNotContain("\u001b");
                return matcher;
            }
        }
        throw new AssertionError("it ended without " + pattern);
    }

    private static long query(String url, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getLong(1);
        }
    }
}
