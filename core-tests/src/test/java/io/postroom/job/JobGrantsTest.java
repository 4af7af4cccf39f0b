package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.schedule.Schedule;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** With just the rights that the printed grants give. */
class JobGrantsTest {
    private static Workshop shop;
    private static Grants grants;

    @BeforeAll
    static void open() {
        shop = new Workshop();
        grants = Grants.of(new Schema(shop.database.name()));
        shop.database.execute(grants.print(Schema.POSTROOM));
    }

    @AfterAll
    static void close() {
        for (String role : grants.roles()) {
            shop.database.execute(
                    "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
        }
        shop.close();
    }

    private static HikariDataSource as(String role) {
        String url = shop.database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 8);
    }

    @Test
    void anApplicationEnqueuesAWorkerWorksAReaderLooksAndAnOperatorDecides() throws Exception {
        AtomicBoolean well = new AtomicBoolean();
        try (HikariDataSource writer = as(grants.writer());
                HikariDataSource relay = as(grants.relay());
                HikariDataSource reader = as(grants.reader());
                HikariDataSource operator = as(grants.operator());
                Workers workers = Postroom.on(relay)
                        .jobs()
                        .workers()
                        .lease(Duration.ofSeconds(1))
                        .queue("default", 2)
                        .handle("work", job -> well.get() ? JobOutcome.done() : JobOutcome.failed("not yet"))
                        .build()) {
            Postroom application = Postroom.on(writer);
            long id = application
                    .database()
                    .transact(tx ->
                            application.jobs().enqueue(tx, Job.of("work", "{}").build()));
            long waiting = application
                    .database()
                    .transact(tx -> application
                            .jobs()
                            .enqueueAll(
                                    tx,
                                    List.of(Job.of("work", "{}")
                                            .runAfter(Duration.ofHours(1))
                                            .build()))
                            .get(0));
            execute(writer, "select postroom.enqueue('work', run_after => '1 hour')");
            long bound = application.database().transact(tx -> {
                application.jobs().declare(tx, Limit.ofConcurrency("tenant", 1).rate(10, Duration.ofSeconds(1), 5));
                long batch = application.jobs().batch(tx, "b");
                Job.Builder part = Job.of("work", "{}").batch(batch).limit("tenant", "a");
                long first = application.jobs().enqueue(tx, part.unique("u").build());
                application
                        .schedules()
                        .put(
                                tx,
                                Schedule.withDelay(
                                        "s",
                                        Duration.ofDays(1),
                                        Job.of("work", "{}").build()));
                return application
                        .jobs()
                        .enqueue(tx, Job.of("work", "{}").afterEnd(first).build());
            });
            execute(
                    writer,
                    "select postroom.enqueue('work', unique_key => 'v', limit_name => 'tenant', limit_key => 'b')");
            workers.start();
            shop.awaitState(id, "failed");
            shop.awaitState(bound, "failed");
            Postroom.on(relay).schedules().runOnce();
            Postroom.on(operator).schedules().runNow("s", "ann", "now");
            assertThat(Postroom.on(operator).schedules().pause("s", "ann", "enough"))
                    .isTrue();
            assertThat(Postroom.on(reader).schedules().list()).hasSize(1);
            JobBoard seen = Postroom.on(reader).jobBoard();
            assertThat(seen.find(id).orElseThrow().state()).isEqualTo(JobState.FAILED);
            assertThat(seen.attempts(id)).hasSize(1);
            assertThatThrownBy(() -> seen.cancel(waiting, "r", "r")).hasMessageContaining("permission denied");
            assertThatThrownBy(() -> execute(writer, "select payload from postroom.job"))
                    .hasMessageContaining("permission denied");
            for (String forged : List.of("state", "fence", "worker", "turn", "id")) {
                assertThatThrownBy(() -> execute(
                                writer,
                                "insert into postroom.job (kind, queue, payload, " + forged
                                        + ") overriding system value values ('a', 'b', '{}', null)"))
                        .as(forged)
                        .hasMessageContaining("permission denied");
            }
            JobBoard board = Postroom.on(operator).jobBoard();
            assertThat(board.cancel(waiting, "ann", "not wanted")).isEqualTo(Cancellation.CANCELLED);
            assertThat(board.pause("other", "ann", "full")).isTrue();
            assertThat(board.resume("other", "ann", "empty")).isTrue();
            well.set(true);
            assertThat(board.retry(bound, "ann", "fixed")).isEqualTo(Retried.REDRIVEN);
            Redrives redrives = Postroom.on(operator).deadLetters().redrives();
            UUID redrive = UUID.randomUUID();
            redrives.request(new RedriveRequest(
                    redrive, RedriveAction.REDRIVE, DeadLetterFilter.ALL, null, null, null, "ann", "fixed"));
            assertThat(redrives.run(redrive, progress -> {}).done()).isPositive();
            shop.awaitState(id, "done");
            Postroom.on(relay).maintenance().runOnce();
        }
    }

    private static void execute(HikariDataSource as, String sql) throws SQLException {
        try (Connection connection = as.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
