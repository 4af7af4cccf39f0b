package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.postgres.Grants;
import io.postroom.postgres.Schema;
import io.postroom.server.web.WebSettings;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The console with just the rights that the printed grants give. */
class ConsoleGrantsTest {
    private static final String[] PAGES = {
        "/",
        "/messages",
        "/subscriptions",
        "/subscriptions/shipping",
        "/dead-letters",
        "/dead-letters/list",
        "/dead-letters/1",
        "/redrives",
        "/redrives/new?subscription=shipping",
        "/jobs",
        "/jobs/1",
        "/queues",
        "/schedules",
        "/schedules/nightly",
        "/read-models",
        "/idempotency-keys",
        "/audit",
        "/database"
    };

    @Test
    void aReaderSeesEveryPageAndAnOperatorDoesEveryAct() throws Exception {
        TestDatabase database = TestDatabase.create();
        Grants grants = Grants.of(new Schema(database.name()));
        database.execute(grants.print(Schema.POSTROOM));
        try (HikariDataSource reader = as(database, grants.reader());
                HikariDataSource operator = as(database, grants.operator())) {
            ConsoleUnderTest looks = ConsoleUnderTest.start(database, WebSettings.local(0), Hostile::fill, reader);
            looks.enter();
            for (String page : PAGES) {
                assertThat(looks.get(page).statusCode()).as(page).isEqualTo(200);
            }
            awaitFigures(looks);
            looks.stop();
            ConsoleUnderTest acts = ConsoleUnderTest.start(database, WebSettings.local(0), none -> {}, operator);
            acts.enter();
            for (String page : PAGES) {
                assertThat(acts.get(page).statusCode()).as(page).isEqualTo(200);
            }
            for (String path : new String[] {
                "/subscriptions/casework/resume",
                "/subscriptions/shipping/pause",
                "/queues/mail/resume",
                "/queues/mail/pause",
                "/schedules/nightly/resume",
                "/schedules/nightly/run",
                "/schedules/nightly/pause",
                "/jobs/1/retry",
                "/jobs/1/cancel",
                "/dead-letters/1/reveal",
                "/redrives"
            }) {
                String filter = path.equals("/redrives") ? "\"subscription\":\"shipping\",\"rate\":1," : "";
                assertThat(acts.call(path, "key" + path.replace('/', '.'), "{" + filter + "\"reason\":\"why\"}")
                                .body())
                        .as(path)
                        .doesNotContain("\"status\":");
            }
            assertThat(acts.submit("/subscriptions/shipping", "/subscriptions/shipping/resume", Map.of("reason", "why"))
                            .statusCode())
                    .isEqualTo(302);
            acts.stop();
        } finally {
            for (String role : grants.roles()) {
                database.execute(
                        "reassign owned by " + role + " to current_user", "drop owned by " + role, "drop role " + role);
            }
            database.close();
        }
    }

    private static HikariDataSource as(TestDatabase database, String role) {
        String url = database.url();
        return TestDatabase.pool(url + (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role, 20);
    }

    /** A look at the database is over soon after the start; if it were refused the figures would say so for ever. */
    private static void awaitFigures(ConsoleUnderTest console) throws Exception {
        long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (!console.get("/metrics").body().contains("postroom_db_oldest_xmin_age{")
                && System.nanoTime() < deadline) {
            LockSupport.parkNanos(20_000_000);
        }
        assertThat(console.get("/metrics").body())
                .contains(
                        "postroom_db_up{schema=\"postroom\"} 1.0",
                        "postroom_db_dead_tuples{schema=",
                        "postroom_db_oldest_xmin_age{schema=");
    }
}
