package io.postroom.server.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.job.JobOutcome;
import io.postroom.job.Kind;
import io.postroom.server.CommandRun;
import io.postroom.testkit.JobProbe;
import io.postroom.testkit.TestDatabase;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JobCommandTest {
    private static TestDatabase database;
    private static Postroom postroom;

    private final AtomicBoolean well = new AtomicBoolean();
    private final Kind kind =
            Kind.of("mail.send", job -> well.get() ? JobOutcome.done() : JobOutcome.failed("no mail server"));

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        postroom = database.postroom();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @BeforeEach
    void clear() {
        database.execute("truncate postroom.job, postroom.job_done, postroom.job_attempt, postroom.job_queue,"
                + " postroom.dead_letter, postroom.redrive, postroom.audit restart identity cascade");
    }

    private static CommandRun run(String... arguments) {
        return CommandRun.of(
                Map.of("POSTROOM_URL", database.url()),
                Stream.concat(Stream.of("job"), Stream.of(arguments)).toArray(String[]::new));
    }

    private static JsonNode json(CommandRun run) {
        return JsonMapper.shared().readTree(run.out());
    }

    @Test
    void enqueuesListsAndShows() {
        CommandRun enqueued = run("enqueue", "mail.send", "{\"to\":\"ann\"}", "--queue", "mail", "--unique", "ann");
        assertThat(enqueued.exitCode()).as(enqueued.err()).isZero();
        long id = Long.parseLong(enqueued.out().strip());
        CommandRun again = run("enqueue", "mail.send", "--unique", "ann", "-o", "json");
        assertThat(json(again).get("skipped").asBoolean()).isTrue();
        assertThat(again.err()).contains("job " + id + " has the unique key already");
        JsonNode list = json(run("list", "--queue", "mail", "--state", "ready", "-o", "json"));
        assertThat(list).hasSize(1);
        assertThat(list.get(0).get("id").asLong()).isEqualTo(id);
        assertThat(json(run("list", "--queue", "other", "-o", "json"))).isEmpty();
        assertThat(run("list").out()).startsWith("ID").contains("mail.send");
        JsonNode shown = json(run("show", "" + id, "-o", "json"));
        assertThat(shown.get("payload").get("to").asString()).isEqualTo("•••");
        assertThat(shown.get("uniqueKey").asString()).isEqualTo("ann");
        assertThat(run("show", "" + id, "--reveal", "--reason", "ticket 1").out())
                .contains("PAYLOAD")
                .contains("{\"to\":\"ann\"}");
    }

    @Test
    void retriesWhatFailedAndCancelsWhatWaits() {
        long failed = postroom.database()
                .transact(tx ->
                        postroom.jobs().enqueue(tx, Job.of("mail.send", "{}").build()));
        new JobProbe(postroom).runDue(kind);
        assertThat(run("show", "" + failed).out()).contains("no mail server").contains("failed");
        CommandRun retried = run("retry", "" + failed, "--reason", "it is back", "--actor", "ann");
        assertThat(retried.err()).contains("job " + failed + " comes back");
        assertThat(retried.exitCode()).isZero();
        CommandRun cancelled = run("cancel", "" + failed, "987654", "--reason", "not wanted", "--actor", "ann");
        assertThat(cancelled.exitCode()).as("one of two").isEqualTo(5);
        assertThat(cancelled.err()).contains("job " + failed + " is cancelled").contains("there is none with this id");
        assertThat(run("cancel", "987654", "--reason", "r").exitCode()).isEqualTo(3);
        assertThat(database.queryLong("select count(*) from postroom.audit where actor = 'ann'"))
                .isPositive();
    }

    @Test
    void pausesAndResumesAQueue() {
        assertThat(run("queue", "pause", "mail", "--reason", "down").err()).contains("queue mail is paused; what runs");
        assertThat(run("queue", "pause", "mail", "--reason", "down").err()).contains("is paused already");
        assertThat(json(run("queue", "list", "-o", "json"))
                        .get(0)
                        .get("pauseReason")
                        .asString())
                .isEqualTo("down");
        assertThat(run("queue", "resume", "mail", "--reason", "up").err()).contains("queue mail goes on");
        assertThat(run("queue", "resume", "mail", "--reason", "up").err()).contains("is not paused");
        run("enqueue", "mail.send", "--queue", "mail");
        assertThat(run("queue", "pause", "mial", "--reason", "down").err())
                .contains("no job or worker has named queue mial so far; did you mean mail?");
        assertThat(run("queue", "resume", "mial", "--reason", "up").err()).contains("goes on");
    }

    @Test
    void refusesWhatItCannotRead() {
        for (CommandRun wrong : new CommandRun[] {
            run("list", "--state", "runing"),
            run("list", "--limit", "0"),
            run("enqueue", "mail send"),
            run("enqueue", "mail.send", "{"),
            run("enqueue", "mail.send", "--run-at", "tomorrow"),
            run("cancel", "1"),
            run("queue", "pause", "Mail", "--reason", "r")
        }) {
            assertThat(wrong.exitCode()).as(wrong.err()).isEqualTo(2);
            assertThat(wrong.out()).isEmpty();
        }
        assertThat(run("list", "--state", "runing").err()).contains("running");
        assertThat(run("show", "1").exitCode()).isEqualTo(3);
    }
}
