package io.postroom.subscription;

import static io.postroom.subscription.Office.ACT;
import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.Reaction;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A destination that wants no more, for good: its subscription is paused by the relay, and stays so. */
@Timeout(120)
class GoneDestinationTest {
    private static final int MESSAGES = 20;
    private static final int LANES = 2;

    private static TestDatabase database;

    private final RecordingSink sink = new RecordingSink();
    private Office office;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void empty() {
        office = new Office(database);
        sink.answer(message -> true, Outcome.gone("it wants no more"));
        office.publish(Messages.ofManyKeys("any", MESSAGES));
    }

    @Test
    void aRestartSendsNothingUntilSomebodyResumes() {
        try (Relay relay = office.relay("first", partner(), sink)) {
            relay.start();
            awaitPaused();
            office.await("its lanes are given back", () -> office.count("lane where owner is not null") == 0);
        }
        assertThat(sink.attempts())
                .as("one for each lane that was about to send")
                .hasSizeBetween(1, LANES);
        Pause pause = office.subscriptions.find("partner").orElseThrow().pause();
        assertThat(pause.by()).isEqualTo("relay first");
        assertThat(pause.reason()).isEqualTo("gone: it wants no more");
        assertThat(office.strings(
                        "select actor || ', ' || action || ', ' || subject || ', ' || reason || ', ' || details"
                                + " from postroom.audit"))
                .containsExactly("relay first, subscription pause, subscription partner, gone: it wants no more,"
                        + " {\"errorClass\": \"gone\"}");

        RecordingSink mended = new RecordingSink();
        for (int restart = 0; restart < 3; restart++) {
            office.deliver(partner(), mended);
        }
        assertThat(mended.attempts()).isEmpty();

        office.subscriptions.resume("partner", ACT);
        office.deliver(partner(), mended);
        assertThat(mended.accepted()).hasSize(MESSAGES).doesNotHaveDuplicates();
        assertThat(office.count("attempt")).as("none is counted").isZero();
        assertThat(office.count("dead_letter")).isZero();
    }

    @Test
    void theSameRelayGoesOnWhenSomebodyResumes() {
        try (Relay relay = office.relay("same", partner(), sink)) {
            relay.start();
            for (int time = 0; time < 2; time++) {
                awaitPaused();
                int attempts = sink.attempts().size();
                office.subscriptions.resume("partner", ACT);
                office.await("it is asked again", () -> sink.attempts().size() > attempts);
            }
            awaitPaused();
            sink.mend();
            office.subscriptions.resume("partner", ACT);
            office.await("all is delivered", () -> sink.accepted().size() == MESSAGES);
            assertThat(office.subscriptions.find("partner").orElseThrow().pause())
                    .isNull();
        }
        assertThat(sink.accepted()).extracting(Message::id).doesNotHaveDuplicates();
        assertThat(office.count("audit where action = 'subscription pause'")).isEqualTo(3);
    }

    @Test
    void goesOnWhenSomebodyResumesBeforeItsLanesAreGivenBack() {
        // Nobody is quicker than a trigger.
        database.execute(
                """
                create function resume_at_once() returns trigger language plpgsql as $$
                begin
                    new.paused_at := null; new.paused_by := null; new.pause_reason := null;
                    return new;
                end $$""",
                "create trigger resume_at_once before update on postroom.subscription for each row"
                        + " when (new.paused_at is not null) execute function resume_at_once()");
        try (Relay relay = office.relay("quick", partner(), sink)) {
            relay.start();
            office.await("it is asked again", () -> sink.attempts().size() > LANES);
            sink.mend();
            office.await("all is delivered", () -> sink.accepted().size() == MESSAGES);
        } finally {
            database.execute("drop function resume_at_once() cascade");
        }
    }

    @Test
    void whoeverHasTheRowDoesNotHoldUpTheLeases() throws Exception {
        AtomicInteger told = new AtomicInteger();
        sink.breakDown();
        try (Connection operator = database.begin();
                Statement statement = operator.createStatement();
                Relay relay = office.relay("beating", partner(), sink)) {
            relay.start();
            office.await("it has a lane", () -> !sink.attempts().isEmpty());
            // Not before: a relay that starts brings the row up to date.
            statement.execute("select from postroom.subscription for update");
            sink.answer(message -> told.incrementAndGet() > 0, Outcome.gone("it wants no more"));
            office.await("it is told", () -> told.get() > 0);
            String beat = "select extract(epoch from leased_until)::text from postroom.relay where name = 'beating'";
            for (int beats = 0; beats < 3; beats++) {
                String last = office.strings(beat).get(0);
                office.await("the next beat", () -> !office.strings(beat).get(0).equals(last));
            }
            assertThat(office.count("subscription where paused_at is not null")).isZero();
            operator.rollback();
            awaitPaused();
        }
        assertThat(told.get()).as("no probes meanwhile").isBetween(1, LANES);
    }

    @Test
    void aPolicyMayTakeItForAnOutage() {
        RetryPolicy outage =
                RetryPolicy.builder().on("gone", Reaction.unavailable()).build();
        Subscription patient =
                Subscription.named("partner").lanes(LANES).retry(outage).build();
        try (Relay relay = office.relay("patient", patient, sink)) {
            relay.start();
            office.await("it is probed", () -> office.count("circuit where failures >= 2") == 1);
            sink.mend();
            office.await("all is delivered", () -> sink.accepted().size() == MESSAGES);
        }
        assertThat(office.count("audit")).isZero();
    }

    private void awaitPaused() {
        office.await("it is paused", () -> office.count("subscription where paused_at is not null") == 1);
    }

    private static Subscription partner() {
        return Subscription.named("partner").lanes(LANES).build();
    }
}
