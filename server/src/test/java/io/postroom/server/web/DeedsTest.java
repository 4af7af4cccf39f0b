package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.job.JobOutcome;
import io.postroom.job.Kind;
import io.postroom.postgres.DatabaseException;
import io.postroom.server.postgres.Connections;
import io.postroom.testkit.JobProbe;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DeedsTest {
    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static Deeds deeds(Postroom postroom) {
        return new Deeds(postroom, source -> Postroom.builder(source).build());
    }

    private static Deeds deeds() {
        return deeds(database.postroom());
    }

    private static Deeds.Work pause(String queue) {
        return acting -> String.valueOf(acting.jobBoard().pause(queue, "anna", "why"));
    }

    private static long count(String from) {
        return database.queryLong("select count(*) from postroom." + from);
    }

    @Test
    void anotherProcessKnowsWhatTheFirstHasDone() {
        String key = UUID.randomUUID().toString();
        assertThat(deeds().once("anna", key, "pause", pause("known"))).isEqualTo("true");
        database.postroom().jobBoard().resume("known", "berta", "why");
        assertThat(deeds().once("anna", key, "pause", pause("known"))).isEqualTo("true");
        assertThat(count("job_queue where name = 'known' and paused_at is not null"))
                .isZero();
        assertThatThrownBy(() -> deeds().once("anna", key, "resume", pause("known")))
                .hasMessageContaining("something else");
        assertThat(deeds().once("berta", key, "pause", pause("known"))).isEqualTo("true");
    }

    @Test
    void theActItsAuditAndItsKeyAreThereOrNoneIs() {
        Deeds.Work dies = acting -> {
            acting.jobBoard().pause("half", "anna", "half");
            acting.database().run(tx -> {
                throw new SQLException("the process dies here", "08006");
            });
            return "";
        };
        assertThatThrownBy(() -> deeds().once("anna", "half", "pause", dies)).isInstanceOf(DatabaseException.class);
        assertThat(count("job_queue where name = 'half'")).isZero();
        assertThat(count("audit where reason = 'half'")).isZero();
        assertThat(deeds().once("anna", "half", "pause", pause("half"))).isEqualTo("true");
    }

    @Test
    void whatAnActRollsBackItselfIsGoneAndTheRestStays() {
        deeds().once("anna", "parts", "parts", acting -> {
            acting.jobBoard().pause("whole", "anna", "why");
            assertThatThrownBy(() -> acting.database().transact(tx -> {
                        tx.createStatement().execute("insert into postroom.job_queue (name) values ('part')");
                        throw new SQLException("no", "22000");
                    }))
                    .isInstanceOf(DatabaseException.class);
            return "done";
        });
        assertThat(count("job_queue where name = 'whole'")).isEqualTo(1);
        assertThat(count("job_queue where name = 'part'")).isZero();
    }

    @Test
    void retriesAFailedJobOnce() {
        Postroom postroom = database.postroom();
        long id = postroom.database()
                .transact(tx ->
                        postroom.jobs().enqueue(tx, Job.of("mail.send", "{}").build()));
        new JobProbe(postroom).runDue(Kind.of("mail.send", job -> JobOutcome.failed("no mail server")));
        Deeds.Work retry = acting -> acting.jobBoard().retry(id, "anna", "why").name();
        assertThat(deeds().once("anna", "retry", "retry", retry)).isEqualTo("REDRIVEN");
        assertThat(deeds().once("anna", "retry", "retry", retry)).isEqualTo("REDRIVEN");
        assertThat(count("redrive")).isEqualTo(1);
        assertThat(count("job where id = " + id)).isEqualTo(1);
    }

    @Test
    void whoAsksWhileItIsBeingDoneIsToldSo() throws SQLException {
        try (HikariDataSource pool =
                        Connections.acting(database.dataSource(), 1, Duration.ofMinutes(1), Duration.ofMillis(50));
                Connection first = database.begin()) {
            first.createStatement()
                    .execute("insert into postroom.act (actor, key, asked) values ('anna', 'slow', sha256('x'))");
            assertThatThrownBy(() -> deeds(Postroom.on(pool)).once("anna", "slow", "pause", pause("slow")))
                    .hasMessageContaining("at the moment");
            first.rollback();
            assertThat(deeds(Postroom.on(pool)).once("anna", "slow", "pause", pause("slow")))
                    .isEqualTo("true");
        }
    }

    @Test
    void keysAreForgottenAfterADay() {
        deeds().once("carl", "old", "pause", pause("old"));
        deeds().once("carl", "new", "pause", pause("old"));
        database.execute("update postroom.act set at = at - interval '25 hours' where actor = 'carl' and key = 'old'");
        deeds().once("carl", "newest", "pause", pause("old"));
        assertThat(count("act where actor = 'carl'")).isEqualTo(2);
    }
}
