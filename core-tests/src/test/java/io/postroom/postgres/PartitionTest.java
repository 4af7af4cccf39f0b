package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** keep_partitions, and what happens when nobody calls it. */
class PartitionTest {
    static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyyMMdd");

    TestDatabase database;
    Postroom postroom;
    LocalDate today;

    @BeforeEach
    void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
        today = LocalDate.now(ZoneOffset.UTC);
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void areMadeFromYesterdayToAWeekAhead() throws SQLException {
        assertThat(partitionsOf("outbox")).isEqualTo(days("outbox", -1, 7, "outbox_default"));
        assertThat(partitionsOf("journal")).isEqualTo(days("journal", -1, 7));
        assertThat(keep(20))
                .containsExactlyElementsOf(joined(List.of(
                        days("attempt", 8, 20),
                        days("inbox", 8, 20),
                        days("job_attempt", 8, 20),
                        days("job_done", 8, 20),
                        days("journal", 8, 20),
                        days("outbox", 8, 20))));
        assertThat(keep(20)).isEmpty();
        assertThat(keep(3)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "367", "null"})
    void refuseALeadOutOfRange(String lead) {
        assertThatThrownBy(() -> database.execute("select postroom.keep_partitions(" + lead + ")"))
                .hasStackTraceContaining("lead_days is " + lead + ", the range is 1 to 366");
    }

    @Test
    void areMadeOnceByManyAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Callable<List<String>>> four = java.util.Collections.nCopies(4, () -> keep(25));
            List<String> made = new ArrayList<>();
            for (Future<List<String>> each : threads.invokeAll(four)) {
                made.addAll(each.get());
            }
            assertThat(made).doesNotHaveDuplicates().hasSize(108);
        } finally {
            threads.shutdownNow();
        }
        assertThat(partitionsOf("outbox")).hasSize(28);
    }

    @Test
    void waitForNoOpenWriterAndHoldUpNone() throws SQLException {
        try (Connection writer = database.begin();
                Connection keeper = database.begin()) {
            postroom.outbox().publish(writer, Messages.order("before"));
            execute(keeper, "set local statement_timeout = '10s'");
            execute(keeper, "select count(*) from postroom.keep_partitions(20)");
            // Made but not committed: nobody who writes needs to know.
            try (Connection other = database.begin()) {
                execute(other, "set local statement_timeout = '5s'");
                postroom.outbox().publish(other, Messages.order("meanwhile"));
                other.commit();
            }
            postroom.outbox().publish(writer, Messages.order("after"));
            keeper.commit();
            assertThat(partitionsOf("outbox")).contains("outbox_" + DAY.format(today.plusDays(20)));
            writer.commit();
        }
        assertThat(delivered("all")).containsExactlyInAnyOrder("before", "meanwhile", "after");
    }

    /** A dump reads the default partition too, and holds a lock on it for as long as it takes. */
    @Test
    void leaveALongReaderAloneAndLetDeliveryGoOn() throws SQLException {
        try (Connection dump = database.begin()) {
            execute(dump, "select count(*) from postroom.outbox");
            try (Connection keeper = database.dataSource().getConnection();
                    Statement statement = keeper.createStatement()) {
                statement.execute("set statement_timeout = '10s'");
                List<String> made = new ArrayList<>();
                try (ResultSet rows = statement.executeQuery("select postroom.keep_partitions(20)")) {
                    while (rows.next()) {
                        made.add(rows.getString(1));
                    }
                }
                assertThat(made)
                        .isEqualTo(joined(List.of(
                                days("attempt", 8, 20),
                                days("inbox", 8, 20),
                                days("job_attempt", 8, 20),
                                days("job_done", 8, 20),
                                days("journal", 8, 20))));
                SQLWarning warning = statement.getWarnings();
                assertThat(warning.getMessage())
                        .contains("outbox_" + DAY.format(today.plusDays(8)))
                        .contains("it will be tried again");
                statement.execute("reset statement_timeout");
            }
            publish("while dumping");
            assertThat(delivered("all")).containsExactly("while dumping");
            dump.commit();
        }
        assertThat(keep(20)).isEqualTo(days("outbox", 8, 20));
    }

    @Test
    void theDefaultPartitionCatchesWhatHasNoOtherAndSaysSo() throws SQLException {
        List<Boolean> strays = new ArrayList<>();
        Postroom watched = Postroom.builder(database.dataSource())
                .telemetry(new Telemetry() {
                    @Override
                    public void strays(boolean any) {
                        strays.add(any);
                    }
                })
                .build();
        publish("in time");
        watched.maintenance().runOnce();
        assertThat(delivered("all")).containsExactly("in time");

        dropFromTodayOn("outbox");
        publish("too late", "far too late");
        assertThat(database.queryLong("select count(*) from postroom.outbox_default"))
                .isEqualTo(2);
        assertThat(delivered("all")).containsExactly("too late", "far too late");

        // Today's stays with the default partition, which has its messages; the other days get their own.
        assertThat(keep(14))
                .containsExactlyElementsOf(joined(List.of(
                        days("attempt", 8, 14),
                        days("inbox", 8, 14),
                        days("job_attempt", 8, 14),
                        days("job_done", 8, 14),
                        days("journal", 8, 14),
                        days("outbox", 1, 14))));
        publish("still today");
        assertThat(database.queryLong("select count(*) from postroom.outbox_default"))
                .isEqualTo(3);
        watched.maintenance().runOnce();
        assertThat(strays).containsExactly(false, true);
        assertThat(delivered("all")).containsExactly("still today");
        assertThat(delivered("another")).containsExactly("too late", "far too late", "still today");
    }

    /** PostgreSQL would read all of it, locked against those who publish, for each day. */
    @Test
    void areNotMadeBesideADefaultPartitionThatIsFullAndInUseUntilItIsKnownWhatItHas() throws SQLException {
        dropFromTodayOn("outbox");
        publish("too late");
        database.execute("""
                insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, event_version, payload, occurred_at)
                select gen_random_uuid(), 'order', 'any', 'Filled', 1, to_json((
                           select string_agg(md5(random()::text || n || part), '') from generate_series(1, 56) as part)), clock_timestamp()
                from generate_series(1, 36000) as n""");
        assertThat(database.queryLong("select pg_relation_size('postroom.outbox_default')"))
                .isGreaterThan(64 * 1_024 * 1_024);
        try (Connection keeper = database.begin();
                Statement statement = keeper.createStatement()) {
            statement.execute("select count(*) from postroom.keep_partitions(7)");
            assertThat(statement.getWarnings().getMessage()).contains("outbox_" + DAY.format(today.plusDays(1)), "has");
            // Whatever it did is not committed, and nobody waits for that.
            try (Connection tx = database.begin()) {
                execute(tx, "set local lock_timeout = '1s'");
                postroom.outbox().publish(tx, Messages.order("meanwhile"));
                tx.commit();
            }
            keeper.commit();
        }
        assertThat(partitionsOf("outbox")).isEqualTo(days("outbox", -1, -1, "outbox_default"));

        database.execute(
                "alter table postroom.outbox_default add constraint outbox_default_ahead check (day < date '"
                        + today.plusDays(1) + "') not valid",
                "alter table postroom.outbox_default validate constraint outbox_default_ahead");
        assertThat(keep(7)).isEqualTo(days("outbox", 1, 7));
        database.execute("alter table postroom.outbox_default drop constraint outbox_default_ahead");
        publish("after");
        assertThat(delivered("all")).contains("too late", "meanwhile", "after");
    }

    @Test
    void ofADayThatHasStraysAreNotTriedAgain() throws SQLException {
        dropFromTodayOn("outbox");
        publish("too late");
        assertThat(keep(7)).isEqualTo(days("outbox", 1, 7));
        // A lock that an attempt at it would have to wait for.
        try (Connection reader = database.begin();
                Connection keeper = database.dataSource().getConnection();
                Statement statement = keeper.createStatement()) {
            execute(reader, "select count(*) from postroom.outbox");
            statement.execute("select count(*) from postroom.keep_partitions(7)");
            assertThat((Throwable) statement.getWarnings()).isNull();
        }
    }

    @Test
    void aStampMakesTheJournalsDaysWhenMaintenanceWasDown() throws SQLException {
        publish("early");
        assertThat(delivered("all")).containsExactly("early");
        // As after a day and more without anybody: the last stamp was yesterday, and there is nothing for today.
        database.execute("truncate postroom.journal", "update postroom.tick set day = day - 1");
        dropFromTodayOn("journal");
        publish("late");
        assertThat(delivered("all")).containsExactly("late");
        assertThat(partitionsOf("journal")).isEqualTo(days("journal", -1, 7));
    }

    private static List<String> joined(List<List<String>> lists) {
        return lists.stream().flatMap(List::stream).toList();
    }

    private void publish(String... aggregateIds) throws SQLException {
        try (Connection tx = database.begin()) {
            for (String each : aggregateIds) {
                postroom.outbox().publish(tx, Messages.order(each));
            }
            tx.commit();
        }
    }

    /** What a subscription gets now. */
    private List<String> delivered(String subscription) {
        List<String> seen = new ArrayList<>();
        try (Relay relay = postroom.relay()
                .handle(
                        Subscription.named(subscription).lanes(1).build(),
                        envelope -> seen.add(envelope.message().aggregateId()))
                .build()) {
            relay.runOnce();
        }
        return seen;
    }

    private void dropFromTodayOn(String table) throws SQLException {
        for (String partition : partitionsOf(table)) {
            String day = partition.substring(table.length() + 1);
            if (!day.equals("default") && day.compareTo(DAY.format(today)) >= 0) {
                database.execute("drop table postroom." + partition);
            }
        }
    }

    private List<String> keep(int lead) throws SQLException {
        return strings("select postroom.keep_partitions(" + lead + ")");
    }

    private List<String> partitionsOf(String table) throws SQLException {
        return strings("select inhrelid::regclass::text from pg_inherits where inhparent = 'postroom." + table
                        + "'::regclass")
                .stream()
                .map(name -> name.substring(name.indexOf('.') + 1))
                .sorted()
                .toList();
    }

    private List<String> days(String table, int first, int last, String... more) {
        return Stream.concat(
                        IntStream.rangeClosed(first, last)
                                .mapToObj(day -> table + "_" + DAY.format(today.plusDays(day))),
                        Stream.of(more))
                .toList();
    }

    private static void execute(Connection tx, String sql) throws SQLException {
        try (Statement statement = tx.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> strings(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }
}
