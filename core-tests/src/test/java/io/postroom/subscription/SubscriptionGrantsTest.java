package io.postroom.subscription;

import static io.postroom.subscription.Office.ACT;
import static io.postroom.subscription.Office.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Message;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.relay.OnBurial;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give. */
class SubscriptionGrantsTest {
    private final RecordingSink sink = new RecordingSink();
    private TestDatabase database;
    private Grants grants;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        String name = database.name();
        grants = Grants.of(new Schema(name));
        database.execute(grants.print(Schema.POSTROOM));
    }

    @AfterEach
    void drop() {
        for (String role : grants.roles()) {
            database.execute(
                    "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
        }
        database.close();
    }

    @Test
    void anOperatorDoesEverythingAndARelayChangesLanes() {
        try (HikariDataSource operators = as(grants.operator());
                HikariDataSource relays = as(grants.relay());
                HikariDataSource readers = as(grants.reader())) {
            Subscriptions operator = Postroom.on(operators).subscriptions();
            List<Message> bad = Messages.sequence("bad", 3);
            List<Message> worse = Messages.sequence("worse", 2);
            sink.answer(message -> message.id().equals(bad.get(0).id()), Outcome.retry("not now"));
            sink.answer(message -> message.id().equals(worse.get(0).id()), Outcome.rejected("never"));
            Office office = new Office(database);
            office.publish(bad);
            office.publish(worse);
            runOnce(relays);
            operator.pause("billing", ACT);
            operator.resume("billing", ACT);
            operator.skipMessage("billing", bad.get(0).id(), ACT);
            operator.release(
                    "billing", operator.heldKeys("billing", 0, 1).get(0).deadLetter(), ACT);
            assertThat(operator.changeLanes("billing", 3, ACT).lanes()).isEqualTo(3);
            runOnce(relays);
            operator.replay(new ReplayRequest("billing", Point.beginning(), null, null), ACT, PATIENCE);
            operator.skip("billing", Point.now(), ACT, PATIENCE);
            sink.mend();
            operator.replayCopy(new ReplayRequest("billing", Point.at(2), null, null), "copy", ACT);
            runOnce(relays);
            assertThat(operator.find("copy").orElseThrow().isDone()).isTrue();
            operator.remove("copy", true, ACT);
            try (Relay relay = relay(relays)) {
                relay.runOnce();
                assertThat(operator.changeLanes("billing", 2, ACT).wanted()).isEqualTo(2);
                relay.runOnce();
                relay.runOnce();
                assertThat(operator.find("billing").orElseThrow().lanes()).isEqualTo(2);
            }
            Subscriptions reader = Postroom.on(readers).subscriptions();
            assertThat(reader.list()).hasSize(1);
            assertThat(reader.show("billing").lanes()).hasSize(2);
            assertThat(reader.heldKeys("billing", 0, 5)).isEmpty();
            assertThatThrownBy(() -> reader.pause("billing", ACT)).hasMessageContaining("permission denied");
            operator.remove("billing", true, ACT);
            assertThat(reader.list()).isEmpty();
            assertThat(office.count("audit")).isEqualTo(11);
        }
    }

    private void runOnce(HikariDataSource as) {
        try (Relay relay = relay(as)) {
            relay.runOnce();
        }
    }

    private Relay relay(HikariDataSource as) {
        return Postroom.on(as)
                .relay()
                .deliver(
                        Subscription.named("billing")
                                .lanes(4)
                                .retry(RetryPolicy.named("linear"))
                                .onBurial(OnBurial.HOLD)
                                .build(),
                        sink)
                .build();
    }

    private HikariDataSource as(String role) {
        String url = database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 8);
    }
}
