package io.postroom.externalcall;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SIGKILL at every point of a call: whoever goes on finds it done or does it under the same key. */
class KilledExternalCallTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("create table paid (business_id text, reference text)");
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    @ParameterizedTest
    @CsvSource({
        "before begin, 0, 0",
        "in begin, 0, 0",
        "begun, 1, 0",
        "answered, 1, 1",
        "before end, 1, 1",
        "in end, 1, 1",
        "ended, 1, 1"
    })
    void chargesOnceWhereverItDies(String point, long rowsLeft, int chargesLeft) throws InterruptedException {
        String order = "order-" + point.replace(' ', '-');
        try (FakeProvider provider = FakeProvider.start()) {
            try (ChildJvm child = start(provider, order, point)) {
                assertThat(child.awaitExit(DEADLINE)).as(child.toString()).isEqualTo(CrashPoint.EXIT_CODE);
            }
            assertThat(count("postroom.external_call", order)).isEqualTo(rowsLeft);
            assertThat(provider.charges()).isEqualTo(chargesLeft);
            finish(provider, order);
        }
    }

    /** The request is on its way, the process is gone, and the provider charges all the same. */
    @Test
    void chargesOnceWhenItDiesWhileTheProviderWorks() throws InterruptedException {
        try (FakeProvider provider = FakeProvider.start()) {
            ChildJvm[] child = new ChildJvm[1];
            Object started = new Object();
            provider.atWork(() -> {
                synchronized (started) {
                    kill(child[0]);
                }
            });
            synchronized (started) {
                child[0] = start(provider, "order-sent", "none");
            }
            assertThat(child[0].awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
            finish(provider, "order-sent");
        }
    }

    private static void finish(FakeProvider provider, String order) throws InterruptedException {
        database.execute("update postroom.external_call set leased_until = clock_timestamp()" + " where business_id = '"
                + order + "' and state = 'calling'");
        ExternalCallMain.charge(database.postroom(), provider.url(), order, null);
        ExternalCall call = database.postroom()
                .externalCalls()
                .find("charge:t42:" + order + ":r1")
                .orElseThrow();
        assertThat(call.state()).isEqualTo(CallState.DONE);
        assertThat(provider.charged()).containsExactly("charge:t42:" + order + ":r1");
        assertThat(count("paid", order))
                .as("what follows from it happened once")
                .isEqualTo(1);
    }

    private static ChildJvm start(FakeProvider provider, String order, String point) {
        return ChildJvm.start(ExternalCallMain.class, List.of("-Xmx96m"), database.url(), provider.url(), order, point);
    }

    private static long count(String table, String order) {
        return database.queryLong("select count(*) from " + table + " where business_id = '" + order + "'");
    }

    private static void kill(ChildJvm child) {
        try {
            child.kill();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
