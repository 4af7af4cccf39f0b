package io.postroom.projection;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What docs/read-models.md shows, compiled and run. */
class ReadModelExampleTest {
    @Test
    void theExampleWorks() {
        Map<String, Duration> ages = new ConcurrentHashMap<>();
        try (TestDatabase database = TestDatabase.create()) {
            Postroom postroom = Postroom.builder(database.dataSource())
                    .telemetry(new Telemetry() {
                        @Override
                        public void readModelAge(String readModel, Duration age, Duration ageMax) {
                            ages.put(readModel, age);
                        }
                    })
                    .build();
            Sales.publish(database, Sales.orders(10));
            ReadModel sales = Sales.model();
            try (Relay relay =
                    postroom.relay().serve(postroom.readModels().roster(sales)).build()) {
                relay.runOnce();
            }
            assertThat(told(postroom)).isEqualTo("the totals");
            assertThat(ages).containsOnlyKeys("sales");
            ReadModels models = postroom.readModels();
            Act act = new Act("ann", "totals were rounded");
            models.rebuild("sales", Point.beginning(), act);
            try (Relay relay =
                    postroom.relay().serve(postroom.readModels().roster(sales)).build()) {
                relay.runOnce();
            }
            models.swap("sales", null, false, act);
            models.rollback("sales", false, act);
            database.execute(
                    "create schema report",
                    "create materialized view report.monthly as select customer, amount from sales.customer_total",
                    "create unique index on report.monthly (customer)");
            keep(postroom);
        }
    }

    private static String told(Postroom postroom) {
        // shown
        Age age = postroom.readModels().age("sales");
        if (!age.isFresh()) {
            return "the totals are " + age.age().toMinutes() + " minutes old, please come back later";
        }
        // shown
        return "the totals";
    }

    private static void keep(Postroom postroom) {
        // shown
        try (MaterializedViews views = postroom.materializedViews()) {
            views.keep("report.monthly", Duration.ofHours(1));
            views.start(); // until it is closed; any number of processes may
        }
        // shown
    }

    @Test
    void theDocumentShowsWhatIsCompiledHere() throws IOException {
        Path here = Path.of("src/test/java/io/postroom/projection");
        String sources = plain(Files.readString(here.resolve("ReadModelExampleTest.java")))
                + plain(Files.readString(here.resolve("Sales.java")));
        var blocks = Pattern.compile("(?s)```java\n(.*?)```")
                .matcher(Files.readString(Path.of("../docs/read-models.md")))
                .results()
                .map(match -> plain(match.group(1)))
                .toList();
        assertThat(blocks)
                .hasSizeGreaterThan(3)
                .allSatisfy(block -> assertThat(sources).contains(block));
    }

    /** Without what differs by where it stands, and by how it is formatted. */
    private static String plain(String text) {
        return text.replaceAll("\\s+", "");
    }
}
