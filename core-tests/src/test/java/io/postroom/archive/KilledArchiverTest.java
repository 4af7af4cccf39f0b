package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SIGKILL after each step, before and after its commit: whole days remain, and any other process goes on. */
class KilledArchiverTest {
    private static final Duration WEEK = Duration.ofDays(7);
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    /** Two days take six steps. */
    private static final int STEPS = 6;

    TestDatabase database;
    PastDays days;
    Archive archive;
    List<Message> published;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        archive = database.postroom().archive();
        published = new ArrayList<>();
        for (int ago : new int[] {10, 9, 2}) {
            List<Message> messages = Messages.ofManyKeys("at-" + ago, 50);
            days.publish(ago, messages);
            published.addAll(messages);
        }
        List<Message> now = Messages.ofManyKeys("now", 50);
        days.publish(now);
        published.addAll(now);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void anyProcessGoesOnWhereAKilledOneStopped() throws InterruptedException {
        int readers = 0;
        for (int step = 1; step <= STEPS; step++) {
            for (String moment : List.of("after", "committed")) {
                // The one before has committed nothing, so each dies at its first step.
                kill(moment, 1);
                assertThat(database.queryLong("select count(*) from postroom.archive_day"))
                        .isEqualTo(database.queryLong("select count(*) from pg_inherits where inhparent ="
                                + " 'postroom.outbox_archive'::regclass"))
                        .isEqualTo(database.queryLong("select count(*) from pg_inherits where inhparent ="
                                + " 'postroom.journal_archive'::regclass"))
                        .isEqualTo(moment.equals("after") ? (step - 1) / 3 : step / 3);
                assertThat(delivered("reader" + readers++))
                        .containsExactlyInAnyOrderElementsOf(published.stream()
                                .map(message -> message.id().toString())
                                .toList());
            }
        }
        assertThat(archive.run(WEEK)).isEmpty();
        assertThat(archive.days(false)).hasSize(2);
        assertThat(database.queryLong("select count(*) from pg_constraint where conname = 'archive_bound'"))
                .isZero();
    }

    @Test
    void aKilledDropIsWholeOrNothing() throws InterruptedException {
        archive.run(WEEK);
        kill("drop-after", 1);
        assertThat(archive.days(false)).hasSize(2);
        assertThat(database.queryLong("select count(*) from postroom.archived_message"))
                .isEqualTo(100);
        kill("drop-committed", 1);
        assertThat(archive.days(false)).hasSize(1);
        assertThat(database.queryLong("select count(*) from postroom.archived_message"))
                .isEqualTo(50);
        assertThat(database.postroom().journal().keptAfter()).isEqualTo(50);
    }

    private void kill(String moment, int time) throws InterruptedException {
        try (ChildJvm child =
                ChildJvm.start(ArchiveMain.class, List.of("-Xmx96m"), database.url(), moment, Integer.toString(time))) {
            assertThat(child.awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
        }
        // The server ends what the process left open as soon as it notices.
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (database.queryLong("select count(*) from pg_stat_activity where datname = current_database()"
                        + " and state like 'idle in transaction%'")
                > 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
    }

    private List<String> delivered(String subscription) {
        RecordingSink sink = new RecordingSink();
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named(subscription).lanes(2).build(), sink)
                .build()) {
            relay.runOnce();
        }
        return sink.accepted().stream().map(message -> message.id().toString()).toList();
    }
}
