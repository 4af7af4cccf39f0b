package io.postroom.postgres;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.TestDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What no statement may make of a job or of an idempotency key, whoever runs it. */
class StateRuleTest {
    private static TestDatabase database;

    @BeforeAll
    static void fill() {
        database = TestDatabase.create();
        database.execute(
                "insert into postroom.job (queue, kind, payload) values ('default', 'work', '{}')",
                "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response, completed_at,"
                        + " expires_at) values ('', 'order', 'k', sha256(''), 'completed', 200, '', now(), now())");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "state = 'running'",
                "state = 'done'",
                "worker = gen_random_uuid()",
                "attempt = -1",
                "state = 'running', worker = gen_random_uuid(), claimed_at = now(), deadline_at = now(), waits = 'time'"
            })
    void aJobHasAWorkerIfAndOnlyIfItRuns(String change) {
        assertThatThrownBy(() -> database.execute("update postroom.job set " + change))
                .hasStackTraceContaining("ERROR: job 1 ")
                .hasStackTraceContaining("cannot be");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "state = 'running'",
                "state = 'failed'",
                "status_code = 100, state = 'completed'",
                "status_code = null, state = 'running'",
                "leased_until = now()",
                "recovery_point = 1"
            })
    void aKeyHasAnAnswerOrALease(String change) {
        assertThatThrownBy(() -> database.execute("update postroom.idempotency_key set " + change))
                .hasStackTraceContaining("ERROR: idempotency key k ")
                .hasStackTraceContaining("cannot be");
    }
}
