package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TestDatabaseTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Those that come first in the end of a process are not known: the server may stop, or be stopped, before the template is dropped. */
    @Test
    void saysNothingWhenTheServerEndsBeforeTheTests() throws Exception {
        TestPostgres server = TestPostgres.start();
        try (ChildJvm tests = ChildJvm.start(
                TestDatabaseMain.class, List.of(), Map.of("POSTROOM_TEST_URL", server.url("postgres")))) {
            tests.awaitLine("made", PATIENCE);
            server.close();
            tests.say("end");
            assertThat(tests.awaitExit(PATIENCE)).isZero();
            assertThatThrownBy(() -> tests.awaitLine("drop-template", PATIENCE))
                    .hasMessageContaining("and the process ended");
        } finally {
            server.close();
        }
    }

    @Test
    void leavesNothingBehindInAServerThatIsNotItsOwn() throws Exception {
        try (TestPostgres server = TestPostgres.start();
                TestDatabase look = TestDatabase.empty(server);
                ChildJvm tests = ChildJvm.start(
                        TestDatabaseMain.class, List.of(), Map.of("POSTROOM_TEST_URL", server.url("postgres")))) {
            tests.awaitLine("made", PATIENCE);
            tests.say("end");
            assertThat(tests.awaitExit(PATIENCE)).isZero();
            assertThat(
                            look.queryLong(
                                    "select count(*) from pg_database where datname like 'test%' and datname <> current_database()"))
                    .isZero();
        }
    }
}
