package io.postroom.server.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.schedule.Cron;
import io.postroom.schedule.Schedule;
import io.postroom.server.CommandRun;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ScheduleCommandTest {
    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        Postroom postroom = database.postroom();
        Schedule nightly = Schedule.of(
                "nightly",
                Cron.parse("30 2 * * *", "Europe/Berlin"),
                Job.of("report", "{}").build());
        postroom.database().transact(tx -> postroom.schedules().put(tx, nightly));
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(
                Map.of("POSTROOM_URL", database.url()),
                Stream.concat(Stream.of("schedule"), Stream.of(arguments)).toArray(String[]::new));
    }

    private static JsonNode json(CommandRun run) {
        return JsonMapper.shared().readTree(run.out());
    }

    @Test
    void listsLooksAheadRunsPausesAndResumes() {
        assertThat(run("list").out()).contains("nightly").contains("at 02:30 every day, Europe/Berlin");
        JsonNode next = json(run("next", "nightly", "--count", "3", "-o", "json"));
        assertThat(next).hasSize(3);
        assertThat(json(run("list", "-o", "json")).get(0).get("nextAt").asString())
                .isEqualTo(next.get(0).get("fireAt").asString());
        CommandRun now = run("run", "nightly", "--reason", "numbers were wrong");
        assertThat(now.exitCode()).as(now.err()).isZero();
        assertThat(database.queryLong("select count(*) from postroom.job where id = "
                        + now.out().strip()))
                .isEqualTo(1);
        assertThat(run("pause", "nightly", "--reason", "holidays").err()).contains("schedule nightly is paused");
        assertThat(run("next", "nightly").err()).contains("it fires at none of these");
        assertThat(run("resume", "nightly", "--reason", "back").err()).contains("schedule nightly goes on");
        assertThat(run("run", "nightli", "--reason", "r").exitCode()).isEqualTo(3);
        assertThat(run("next", "nightly", "--count", "0").exitCode()).isEqualTo(2);
        assertThat(run("pause", "nightly").exitCode()).isEqualTo(2);
    }

    @Test
    void showsTheLastTimesThatNobodySaw() {
        database.execute(
                "insert into postroom.schedule_run (schedule, fire_at, skipped, missed) values ('nightly', '2026-01-01Z', true, 3),"
                        + " ('nightly', '2026-02-01Z', true, 7), ('nightly', '2026-03-01Z', false, 0)");
        JsonNode nightly = json(run("list", "-o", "json")).get(0);
        assertThat(nightly.get("missedAt").asString()).isEqualTo("2026-02-01T00:00:00Z");
        assertThat(nightly.get("missedTimes").asInt()).isEqualTo(7);
        database.execute("delete from postroom.schedule_run where missed > 0");
        assertThat(json(run("list", "-o", "json")).get(0).get("missedAt").isNull())
                .isTrue();
    }

    @Test
    void removesWhatNobodyDeclaresAnyMore() {
        Postroom postroom = database.postroom();
        Schedule former = Schedule.of(
                "former", Cron.parse("0 3 * * *", "UTC"), Job.of("report", "{}").build());
        postroom.database().transact(tx -> postroom.schedules().put(tx, former));
        assertThat(run("run", "former", "--reason", "once more").exitCode()).isZero();
        assertThat(run("remove", "former").exitCode()).isEqualTo(2);
        assertThat(run("remove", "former", "--reason", "nobody reads it").err()).contains("schedule former is removed");
        assertThat(database.queryLong("select count(*) from postroom.schedule where name = 'former'"))
                .isZero();
        assertThat(
                        database.queryLong(
                                "select count(*) from postroom.audit where action = 'schedule remove' and subject = 'schedule former'"))
                .isEqualTo(1);
        CommandRun again = run("remove", "former", "--reason", "nobody reads it");
        assertThat(again.err()).contains("could not remove schedule 'former': there is none of this name");
        assertThat(again.exitCode()).isEqualTo(3);
    }
}
