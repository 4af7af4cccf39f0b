package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.maintenance.Maintenance;
import io.postroom.postgres.DatabaseException;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Archiving that takes its time, or fails, keeps maintenance from nothing else. */
class ArchivingApartTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Retention RETENTION = Retention.USUAL.dropAfter(Duration.ofDays(9));

    private TestDatabase database;
    private PastDays days;
    private Archive archive;

    /** The oldest day is archived and to be dropped, the next to be archived. */
    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        archive = database.postroom().archive();
        days.publish(10, Messages.ofManyKeys("old", 5));
        days.publish(8, Messages.ofManyKeys("next", 5));
        days.publish(Messages.ofManyKeys("now", 5));
        archive.run(Duration.ofDays(9));
        assertThat(archive.days(false)).hasSize(1);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aDayIsDroppedThoughNoneCanBeArchived() {
        database.execute("alter function postroom.archive_step(interval) rename to archive_step_no_more");
        Maintenance maintenance = database.postroom().maintenance(RETENTION);
        assertThatThrownBy(maintenance::runOnce)
                .isInstanceOf(DatabaseException.class)
                .hasMessageContaining("archive_step");
        assertThat(archive.days(false)).isEmpty();
        assertThat(archive.days(true)).hasSize(1);
    }

    @Test
    void whatFailsKeepsNothingElseFromBeingDone() {
        database.execute("alter function postroom.keep_partitions(integer) rename to keep_partitions_no_more");
        assertThatThrownBy(() -> database.postroom().maintenance(RETENTION).runOnce())
                .hasMessageContaining("keep_partitions");
        assertThat(archive.days(false)).extracting(ArchivedDay::day).containsExactly(days.day(8));
    }

    /** An archive step that does not end, as one that looks through a very large day. */
    @Test
    void redrivesAndDropsGoOnWhileADayTakesForEver() throws SQLException {
        RecordingSink sink = new RecordingSink();
        sink.answer(message -> message.aggregateId().equals("now-1"), Outcome.rejected("no"), 1);
        deliver(sink);
        database.postroom()
                .deadLetters()
                .redrives()
                .request(RedriveRequest.redrive(DeadLetterFilter.ofOwner("all"))
                        .actor("anna")
                        .reason("is a customer now")
                        .build());
        database.execute(
                "create or replace function postroom.archive_step(older_than interval, out day date, out outcome text, out need text)"
                        + " language plpgsql as $$ begin perform pg_advisory_xact_lock(4711); end $$");
        try (Connection holder = database.begin();
                Statement statement = holder.createStatement();
                Maintenance maintenance = database.postroom().maintenance(RETENTION)) {
            statement.execute("select pg_advisory_xact_lock(4711)");
            maintenance.start();
            await(
                    "the archiver waits",
                    () -> database.queryLong(
                                    "select count(*) from pg_locks where locktype = 'advisory' and not granted")
                            == 1);
            await(
                    "the redrive is carried on",
                    () -> database.queryLong("select count(*) from postroom.dead_letter where resolution = 'redriven'")
                            == 1);
            await("the day is dropped", () -> archive.days(false).isEmpty());
            holder.rollback();
        }
    }

    /** The limit that a role has for its statements is for those that others wait for. */
    @Test
    void aLimitForStatementsEndsNoStep() throws SQLException {
        String url =
                database.url() + (database.url().contains("?") ? "&" : "?") + "options=-c%20statement_timeout=100ms";
        try (HikariDataSource limited = TestDatabase.pool(url, 2);
                Connection writer = database.begin()) {
            database.postroom().outbox().publish(writer, Messages.sample());
            assertThat(Postroom.on(limited).archive().run(Duration.ofDays(7)))
                    .as("it waits for the writer for longer than that")
                    .extracting(ArchiveStep::outcome)
                    .containsExactly(ArchiveStep.Outcome.LOCKED);
        }
    }

    private void deliver(RecordingSink sink) {
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("all").build(), sink)
                .build()) {
            relay.runOnce();
        }
    }

    private static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("not in time: " + what).isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
