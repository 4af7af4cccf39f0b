package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.archive.Archive;
import io.postroom.archive.ArchiveStep;
import io.postroom.archive.ArchivedDay;
import io.postroom.archive.PastDays;
import io.postroom.relay.Relay;
import io.postroom.subscription.Act;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Read models that are made from days that were archived. */
class ArchivedReadModelTest {
    private static final Act ACT = new Act("tester", "to see what happens");
    private static final Duration WEEK = Duration.ofDays(7);

    private TestDatabase database;
    private PastDays days;
    private Archive archive;
    private ReadModels models;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        days = new PastDays(database);
        archive = database.postroom().archive();
        models = database.postroom().readModels();
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void aRebuildFromTheArchiveIsTheFoldOfAllMessages() {
        for (int ago : new int[] {12, 11, 10, 4, 2}) {
            days.publish(ago, Sales.orders(70));
        }
        days.publish(Sales.orders(70));
        once();
        assertThat(archive.run(WEEK)).hasSize(3);
        assertThat(models.rebuild("sales", null, ACT).beganAfter()).isZero();
        assertThat(archive.days(false)).hasSize(3);
        once();
        once();
        assertThat(database.queryLong("select count(*) from sales_g2.sale")).isEqualTo(420);
        assertThat(Sales.wrong(database)).isEqualTo(Map.of(1, 0L, 2, 0L));
        assertThat(models.compare("sales", null, 5, Duration.ofSeconds(30)).isSame())
                .isTrue();
        models.swap("sales", null, false, ACT);
    }

    @Test
    void aGenerationThatIsBeingRebuiltHoldsItsDaysInTheArchive() {
        for (int ago : new int[] {12, 11, 2}) {
            days.publish(ago, Sales.orders(70));
        }
        days.publish(Sales.orders(7));
        once();
        archive.run(WEEK);
        models.rebuild("sales", null, ACT);
        assertThatThrownBy(() -> archive.drop(days.day(12), ACT))
                .hasMessageContaining("it is needed by generation sales 2 at 0")
                .extracting("code")
                .isEqualTo("archive.needed");
        once();
        once();
        archive.drop(days.day(12), ACT);
        assertThat(archive.days(false)).extracting(ArchivedDay::day).containsExactly(days.day(11));
        models.retire("sales", 2, ACT, Duration.ofSeconds(30));
        assertThatThrownBy(() -> models.rebuild("sales", null, ACT))
                .hasMessageContaining("messages up to position 70 are gone with the days that were dropped")
                .extracting("code")
                .isEqualTo("projection.messages-gone");
    }

    @Test
    void aFirstGenerationThatCouldNotBeMadeHoldsNoDay() {
        for (int ago : new int[] {12, 11, 2}) {
            days.publish(ago, Sales.orders(70));
        }
        days.publish(Sales.orders(7));
        database.postroom().journal().stampAll();
        assertThatThrownBy(() -> once(
                        Sales.builder().tables("create table x (y nonsense)").build()))
                .hasMessageContaining("nonsense");
        assertThat(models.show("sales").building()).isPresent();
        assertThat(archive.run(WEEK)).extracting(ArchiveStep::outcome).containsOnly(ArchiveStep.Outcome.ARCHIVED);
        archive.drop(days.day(12), ACT);
        assertThat(archive.days(false)).extracting(ArchivedDay::day).containsExactly(days.day(11));
        once();
        assertThat(database.queryLong("select count(*) from sales.sale"))
                .as("made from what is kept")
                .isEqualTo(147);
    }

    private void once() {
        once(Sales.model());
    }

    private void once(ReadModel model) {
        try (Relay relay =
                database.postroom().relay().serve(models.roster(model)).build()) {
            relay.runOnce();
        }
    }
}
