package io.postroom.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The examples of docs/locks.md, compiled and run. */
class LockExampleTest {
    private static final Map<Long, String> SENT = new ConcurrentHashMap<>();

    @Test
    void theExamplesWork() throws Exception {
        try (TestDatabase database = TestDatabase.create()) {
            database.execute("create table escalation (id bigint generated always as identity, day text)");
            Postroom postroom = database.postroom();
            scan(postroom);
            assertThat(database.queryLong("select count(*) from escalation")).isEqualTo(1);
            export(postroom);
            assertThat(database.queryLong("select count(*) from escalation")).isEqualTo(2);
            assertThat(SENT).containsValue("the file");
            try (OneNode poller = poll(postroom)) {
                Patience.await("it runs", poller::isRunning);
                Patience.await("it works", () -> database.queryLong("select count(*) from escalation") > 4);
            }
        }
    }

    private static void scan(Postroom postroom) {
        // docs begin
        Locks locks = postroom.locks();

        postroom.database().transact(tx -> {
            if (!locks.tryHold(tx, "escalation-scan")) {
                return false; // another node is at it
            }
            insertEscalations(tx);
            return true; // the lock ends with the transaction
        });
        // docs end
    }

    private static void export(Postroom postroom) throws IOException {
        Locks locks = postroom.locks();
        // docs begin
        Optional<Lease> free = locks.tryLease("nightly-export", Duration.ofSeconds(30));
        if (free.isPresent()) {
            try (Lease lease = free.get()) { // renewed while this process lives
                String file = writeFile(); // minutes, without a transaction
                upload(file, lease.fence()); // the store refuses a fence smaller than it has seen
                postroom.database().transact(tx -> {
                    insertEscalations(tx);
                    lease.requireHeld(tx); // throws if another has taken over: nothing is committed
                    return true;
                });
            }
        }
        // docs end
    }

    private static OneNode poll(Postroom postroom) {
        Locks locks = postroom.locks();
        // docs begin
        OneNode poller = locks.oneNode("mail-poller", Duration.ofSeconds(15), lease -> {
            while (!Thread.currentThread().isInterrupted()) {
                postroom.database().transact(tx -> {
                    insertEscalations(tx);
                    lease.requireHeld(tx);
                    return true;
                });
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            }
        });
        // docs end
        return poller;
    }

    private static void insertEscalations(Connection tx) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("insert into escalation (day) values ('today')")) {
            insert.executeUpdate();
        }
    }

    private static String writeFile() {
        return "the file";
    }

    private static void upload(String file, long fence) throws IOException {
        if (SENT.keySet().stream().anyMatch(seen -> seen > fence)) {
            throw new IOException("stale");
        }
        SENT.put(fence, file);
    }

    @Test
    void theExamplesInTheDocsAreTheseWordForWord() throws IOException {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("core-tests"))) {
            root = root.getParent();
        }
        String source =
                Files.readString(root.resolve("core-tests/src/test/java/io/postroom/lock/LockExampleTest.java"));
        String docs = Files.readString(root.resolve("docs/locks.md"));
        List<String> examples = Pattern.compile("(?s) {8}// docs begin\n(.*?) {8}// docs end\n")
                .matcher(source)
                .results()
                .map(match -> match.group(1).replaceAll("(?m)^ {8}", ""))
                .toList();
        assertThat(examples).hasSize(3);
        assertThat(examples).allSatisfy(example -> assertThat(docs).contains("```java\n" + example + "```"));
    }
}
