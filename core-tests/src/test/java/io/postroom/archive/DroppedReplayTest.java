package io.postroom.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import io.postroom.fault.CapturedLog;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReplayRequest;
import io.postroom.subscription.Subscriptions;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A replay of what was dropped is refused; one of what is archived is not. */
class DroppedReplayTest {
    private static final Act ACT = new Act("tester", "to see what happens");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RecordingSink sink = new RecordingSink();
    private TestDatabase database;
    private PastDays days;
    private Subscriptions subscriptions;

    /** Ten messages on each of three old days and today, all delivered; the oldest day is dropped, the next archived. */
    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        subscriptions = database.postroom().subscriptions();
        for (int ago : new int[] {10, 9, 3}) {
            days.publish(ago, Messages.ofManyKeys("at-" + ago, 10));
        }
        days.publish(Messages.ofManyKeys("now", 10));
        deliver();
        Archive archive = database.postroom().archive();
        archive.run(Duration.ofDays(7));
        assertThat(archive.days(false)).hasSize(2);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void isRefusedBeforeAnythingIsWrittenAndSaysWhatIsKept() {
        database.postroom().archive().drop(days.day(10), ACT);
        Instant gone = days.day(10).atTime(0, 0).toInstant(ZoneOffset.UTC);
        long audited = count("audit");
        for (Point from : List.of(Point.beginning(), Point.at(1), Point.at(10), Point.since(gone))) {
            for (Runnable act : List.<Runnable>of(
                    () -> subscriptions.planReplay(request(from, null)),
                    () -> subscriptions.planReplay(request(from, Point.at(25))),
                    () -> subscriptions.replay(request(from, null), ACT, PATIENCE),
                    () -> subscriptions.planReplayCopy(request(from, null), "again"),
                    () -> subscriptions.replayCopy(request(from, null), "again", ACT))) {
                assertThatThrownBy(act::run)
                        .isInstanceOf(PostroomException.class)
                        .hasMessageStartingWith("could not replay subscription billing")
                        .hasMessageContaining(from instanceof Point.Beginning ? "the beginning" : from.toString())
                        .hasMessageContaining("messages up to position 10 are gone with the days that were dropped")
                        .hasMessageContaining("begin at position 11, stamped after " + days.day(10) + "T")
                        .hasMessageContaining("say --from 11 ")
                        .extracting("code")
                        .isEqualTo("subscription.messages-gone");
            }
        }
        assertThat(count("audit")).isEqualTo(audited);
        assertThat(count("subscription")).isOne();
        assertThat(count("subscription where drain_until is not null")).isZero();
        assertThat(count("lane where position < 40 or replay_to is not null")).isZero();
    }

    @Test
    void fromTheOldestThatIsKeptReadsTheArchiveAndPassesOverNothing() {
        database.postroom().archive().drop(days.day(10), ACT);
        Instant kept = Instant.parse(saidTime());
        assertThat(subscriptions.planReplay(request(Point.since(kept), null)).after())
                .as("the time that the refusal names")
                .isEqualTo(10);
        sink.forget();
        subscriptions.replay(request(Point.at(11), null), ACT, PATIENCE);
        try (CapturedLog log = new CapturedLog()) {
            deliver();
            assertThat(log.text()).doesNotContain("passing over");
        }
        assertThat(sink.accepted()).hasSize(30);
    }

    /** A day that is being dropped when the replay has looked already. */
    @Test
    void isRefusedIfTheDayIsDroppedUnderItsHands() throws Exception {
        try (Connection dropping = database.begin();
                Statement statement = dropping.createStatement()) {
            statement.execute("select postroom.drop_archived_day('" + days.day(10) + "')");
            CompletableFuture<?> replay =
                    CompletableFuture.runAsync(() -> subscriptions.replay(request(Point.at(1), null), ACT, PATIENCE));
            awaitWaiting();
            dropping.commit();
            assertThatThrownBy(() -> replay.get(30, TimeUnit.SECONDS))
                    .cause()
                    .extracting("code")
                    .isEqualTo("subscription.messages-gone");
        }
        assertThat(count("lane where position < 40 or replay_to is not null")).isZero();
    }

    /** The other way round: the day stays, because the replay needs it. */
    @Test
    void keepsTheDayThatItBeginsWith() {
        subscriptions.replay(request(Point.at(1), null), ACT, PATIENCE);
        assertThatThrownBy(() -> database.postroom().archive().drop(days.day(10), ACT))
                .extracting("code")
                .isEqualTo("archive.needed");
        sink.forget();
        deliver();
        assertThat(sink.accepted()).hasSize(40);
    }

    private String saidTime() {
        try {
            subscriptions.planReplay(request(Point.at(1), null));
        } catch (PostroomException e) {
            return e.getMessage().replaceAll(".*stamped after (\\S+Z):.*", "$1");
        }
        throw new AssertionError("not refused");
    }

    private void awaitWaiting() throws SQLException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (database.queryLong("select count(*) from pg_locks where not granted") == 0) {
            assertThat(System.nanoTime()).as("nobody waits for the drop").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private void deliver() {
        try (Relay relay = database.postroom()
                .relay()
                .deliver(Subscription.named("billing").lanes(2).build(), sink)
                .build()) {
            relay.runOnce();
        }
    }

    private static ReplayRequest request(Point from, @Nullable Point to) {
        return new ReplayRequest("billing", from, to, null);
    }

    private long count(String table) {
        return database.queryLong("select count(*) from postroom." + table);
    }
}
