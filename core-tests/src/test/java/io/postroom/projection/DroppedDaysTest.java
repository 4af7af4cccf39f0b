package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import io.postroom.fault.CapturedLog;
import io.postroom.relay.Relay;
import io.postroom.relay.Start;
import io.postroom.relay.Subscription;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Generations that cannot have what the live one has: its messages are gone, or it began later. */
class DroppedDaysTest {
    private static final Act ACT = new Act("tester", "to see what happens");

    private TestDatabase database;
    private ReadModels models;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        models = database.postroom().readModels();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aRebuildOfWhatIsGoneIsRefusedUnlessItIsToldToBeginLater() {
        OldDay old = new OldDay(database);
        Sales.publish(database, Sales.orders(30));
        once(Sales.model());
        old.take(20);
        Sales.publish(database, Sales.orders(10));
        once(Sales.model());
        assertThat(database.postroom().journal().keptAfter()).isZero();
        assertThat(models.planRebuild("sales", null)).isEqualTo(new Rebuild("sales", 2, 1, 0, false));

        old.drop();
        assertThat(database.postroom().journal().keptAfter()).isEqualTo(20);
        for (Runnable rebuild : List.<Runnable>of(
                () -> models.planRebuild("sales", null),
                () -> models.rebuild("sales", null, ACT),
                () -> models.rebuild("sales", Point.beginning(), ACT),
                () -> models.rebuild("sales", Point.at(20), ACT))) {
            assertThatThrownBy(rebuild::run)
                    .isInstanceOf(PostroomException.class)
                    .hasMessageContaining("messages up to position 20 are gone with the days that were dropped")
                    .hasMessageEndingWith("say --from 21")
                    .extracting("code")
                    .isEqualTo("projection.messages-gone");
        }
        assertThat(database.queryLong("select count(*) from postroom.generation"))
                .isEqualTo(1);

        assertThat(models.rebuild("sales", Point.at(21), ACT)).isEqualTo(new Rebuild("sales", 2, 1, 20, false));
        once(Sales.model());
        assertThat(database.queryLong("select count(*) from sales_g2.sale")).isEqualTo(20);
        assertThat(models.planSwap("sales", null).problems())
                .containsExactly("it began after position 20, 1 after position 0: what lies between is not in it");
        assertThatThrownBy(() -> models.swap("sales", null, false, ACT))
                .extracting("code")
                .isEqualTo("projection.not-ready");
        models.swap("sales", null, true, ACT);
        assertThat(models.planRollback("sales").problems())
                .as("the former one has more")
                .isEmpty();
    }

    /** It is not refused: whoever wants what is left has nothing else to say. */
    @Test
    void aNewSubscriptionThatDoesNotGetEverythingIsToldSo() {
        OldDay old = new OldDay(database);
        Sales.publish(database, Sales.orders(30));
        database.postroom().journal().stampAll();
        old.take(20);
        old.drop();
        try (CapturedLog log = new CapturedLog()) {
            for (int time = 0; time < 2; time++) {
                once(Sales.model());
                try (Relay relay = database.postroom()
                        .relay()
                        .project(Subscription.named("plain").build(), (tx, batch) -> {})
                        .project(Subscription.named("later").start(Start.now()).build(), (tx, batch) -> {})
                        .build()) {
                    relay.runOnce();
                }
            }
            assertThat(log.text().lines())
                    .filteredOn(line -> line.contains("but messages up to position 20 are gone"))
                    .satisfiesExactlyInAnyOrder(
                            line -> assertThat(line).contains("subscription sales.g1 begins after position 0"),
                            line -> assertThat(line).contains("subscription plain begins after position 0"));
        }
        assertThat(database.queryLong("select count(*) from sales.sale")).isEqualTo(10);
    }

    @Test
    void messagesInTheDefaultPartitionAreNotGone() {
        OldDay old = new OldDay(database);
        Sales.publish(database, Sales.orders(5));
        database.postroom().journal().stampAll();
        old.takeAside(3);
        assertThat(database.postroom().journal().keptAfter()).isZero();
        database.execute("delete from postroom.outbox_default where seq = 2");
        assertThat(database.postroom().journal().keptAfter()).isEqualTo(2);
    }

    @Test
    void aRebuildBeginsWhereTheLiveOneDidUnlessTold() {
        Sales.publish(database, Sales.orders(10));
        ReadModel later = Sales.builder()
                .messages(messages -> Sales.settings(1).apply(messages).start(Start.now()))
                .build();
        once(later);
        Sales.publish(database, Sales.orders(5));
        once(later);
        assertThat(models.planRebuild("sales", null).beganAfter()).isEqualTo(10);
        assertThat(models.planRebuild("sales", Point.beginning()).beganAfter()).isZero();
        assertThat(models.rebuild("sales", null, ACT).beganAfter()).isEqualTo(10);
        once(later);
        assertThat(database.queryLong("select count(*) from sales_g2.sale")).isEqualTo(5);
        assertThat(models.planSwap("sales", null).problems()).isEmpty();
    }

    private void once(ReadModel model) {
        try (Relay relay =
                database.postroom().relay().serve(models.roster(model)).build()) {
            relay.runOnce();
        }
    }
}
