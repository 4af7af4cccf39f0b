package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.PostroomException;
import io.postroom.deadletter.Cause;
import io.postroom.maintenance.Maintenance;
import io.postroom.retry.Fault;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What jobs leave behind is kept for a week and goes by whole days. */
class JobRetentionTest {
    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
        for (String table : List.of("job_done", "job_attempt")) {
            partitions(table).forEach(partition -> shop.database.execute("drop table " + partition));
        }
    }

    private static void day(String table, int daysAgo) {
        String day =
                shop.text("select to_char((clock_timestamp() at time zone 'utc')::date - " + daysAgo + ", 'YYYYMMDD')");
        shop.database.execute("create table postroom." + table + "_" + day + " partition of postroom." + table
                + " for values from ('" + day + "') to ('"
                + shop.text("select to_char('" + day + "'::date + 1, 'YYYYMMDD')")
                + "')");
    }

    private static void ended(long id, int daysAgo, String ended) {
        shop.database.execute(
                "insert into postroom.job_done (id, day, queue, kind, priority, payload, state, run_at, attempt, fence,"
                        + " created_at, ended_at, ended_by) select " + id
                        + ", (clock_timestamp() at time zone 'utc')::date - " + daysAgo
                        + ", 'default', 'work', 100, '{}', 'done', at, 1, 1, at, at, 'me' from (select clock_timestamp() - interval '"
                        + ended + "' as at) as t");
    }

    private static List<String> partitions(String table) {
        return shop.rows("select inhrelid::regclass from pg_inherits where inhparent = 'postroom." + table
                + "'::regclass and (select clock_timestamp()::date - 2) > to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD')"
                + " and inhrelid::regclass::text !~ 'default'");
    }

    @Test
    void oldDaysAreDroppedAndYoungOnesStay() {
        for (int daysAgo : new int[] {30, 9, 8, 7, 6}) {
            day("job_done", daysAgo);
            ended(daysAgo, daysAgo, daysAgo + " days");
        }
        day("job_attempt", 20);
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select id from postroom.job_done order by id")).containsExactly("6", "7");
        assertThat(partitions("job_done")).hasSize(2);
        assertThat(partitions("job_attempt")).isEmpty();
    }

    @Test
    void endedJobsAreKeptForAsLongAsMaintenanceIsTold() {
        for (int daysAgo : new int[] {31, 29, 9}) {
            day("job_done", daysAgo);
            ended(daysAgo, daysAgo, daysAgo + " days");
        }
        shop.postroom.maintenance(Duration.ofDays(30)).runOnce();
        assertThat(shop.rows("select id from postroom.job_done order by id")).containsExactly("9", "29");
    }

    @Test
    void theyAreKeptForLongerThanAJobMayBeUnique() {
        assertThatThrownBy(() -> shop.postroom.maintenance(Duration.ofDays(6)))
                .isInstanceOf(PostroomException.class)
                .hasMessage(
                        "could not set up maintenance: jobs-kept is 6 days, the range is 7 to 36500 days; a job may be unique"
                                + " within 6 days, and is compared with those that have ended");
        assertThat(Maintenance.JOBS_KEPT_MIN).isGreaterThan(JobRules.UNIQUE_WITHIN_MAX);
    }

    @Test
    void aBatchKeepsInMindThatOneOfItsJobsWasCancelled() {
        day("job_done", 9);
        for (String name : List.of("of a day", "of no day", "done")) {
            shop.postroom.database().transact(tx -> shop.jobs.batch(tx, name));
        }
        ended(1, 9, "9 days");
        ended(2, 40, "40 days");
        ended(3, 9, "9 days");
        shop.database.execute(
                "update postroom.job_done as d set batch = b.id, state = case when b.name = 'done' then 'done' else 'cancelled'"
                        + " end from (select id, name, row_number() over (order by id) as n from postroom.job_batch) as b where b.n = d.id");
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select id from postroom.job_done")).isEmpty();
        assertThat(shop.rows("select name from postroom.job_batch where cancelled_at is not null order by id"))
                .containsExactly("of a day", "of no day");
    }

    @Test
    void aBatchGoesWhenNothingIsLeftOfItAndNobodyWaits() {
        for (String name : List.of("ended", "young", "open", "needed", "buried")) {
            shop.postroom.database().transact(tx -> shop.jobs.batch(tx, name));
        }
        String id = "(select id from postroom.job_batch where name = '%s')";
        shop.enqueue(Job.of("work", "{}").batch(shop.database.queryLong(id.formatted("buried"))));
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        Fault fault = Fault.of("broken", "it is broken");
        hand.settle(List.of(new Ended(
                hand.claim(1).get(0),
                new Verdict.GiveUp(Cause.REJECTED, 1, fault, new Verdict.Note("failed", fault)),
                0)));
        shop.enqueue(Job.of("work", "{}").batch(shop.database.queryLong(id.formatted("open"))));
        shop.database.execute(
                "insert into postroom.job_need (of_batch, need, job_id, any_end) values (true, "
                        + id.formatted("needed") + ", 1, false)",
                "update postroom.job_batch set created_at = created_at - interval '31 days' where name <> 'young'");
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select name from postroom.job_batch order by id"))
                .containsExactly("young", "open", "needed", "buried");
    }

    @Test
    void whatLiesOutsideOfDailyPartitionsGoesRowByRow() {
        ended(1, 40, "40 days");
        ended(2, 3, "3 days");
        assertThat(shop.database.queryLong("select count(*) from postroom.job_done_default"))
                .isEqualTo(2);
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select id from postroom.job_done")).containsExactly("2");
    }

    /** Somebody writes into an old day: what was looked at before the lock may be wrong by then. */
    @Test
    void aDayIntoWhichSomebodyWroteLatelyIsLeftAlone() {
        day("job_done", 12);
        ended(1, 12, "1 hour");
        shop.postroom.maintenance().runOnce();
        assertThat(shop.rows("select id from postroom.job_done")).containsExactly("1");
    }

    @Test
    void aDayThatSomebodyHasLockedWaitsAndHoldsUpNobody() throws SQLException {
        day("job_done", 12);
        day("job_done", 11);
        ended(1, 12, "12 days");
        ended(2, 11, "11 days");
        try (Connection reader = shop.database.begin();
                Statement statement = reader.createStatement()) {
            statement.execute("select from postroom.job_done where id = 1 and day < clock_timestamp()::date - 11");
            shop.postroom.maintenance().runOnce();
            long id = shop.enqueue(Job.of("work", "{}"));
            new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()))
                    .complete(new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done())).claim(1));
            assertThat(shop.state(id)).isEqualTo("done");
            reader.rollback();
        }
        assertThat(shop.rows("select id from postroom.job_done where id < 10")).contains("1");
        shop.postroom.maintenance().runOnce();
        assertThat(partitions("job_done")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"'job', '1 day'", "null, '1 day'", "'job_done', '1 minute'", "'job_done', null"})
    void nonsenseIsRefused(String arguments) {
        assertThatThrownBy(() -> shop.database.execute("select * from postroom.forget_job_day(" + arguments + ")"))
                .hasStackTraceContaining("could not forget days of");
    }
}
