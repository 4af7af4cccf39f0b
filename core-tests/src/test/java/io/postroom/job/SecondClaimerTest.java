package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.JacksonCodec;
import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a second thread claims. Nobody runs what was claimed here: the threads of the crew are not started. */
class SecondClaimerTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** More than one claim takes: the crew wants more after it. */
    private static final int THREADS = 3 * Claiming.CLAIM_MAX;

    private static Workshop shop;

    private final Kind kind = Kind.of("work", job -> JobOutcome.done());
    private final AtomicInteger asked = new AtomicInteger();
    private final Held held = new Held();
    private Database database;
    private WorkerSettings settings;
    private Settler settler;
    private ClaimTable table;
    private Crew crew;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void begin() {
        shop.clear();
        shop.enqueueAll(
                Collections.nCopies(2 * Claiming.CLAIM_MAX, Job.of("work", "1").build()));
        database = shop.postroom.database();
        settings = new WorkerSettings(
                UUID.randomUUID(),
                "tester",
                List.of("default"),
                Duration.ofMinutes(5),
                Duration.ofSeconds(1),
                Duration.ofMillis(1),
                Duration.ofMillis(1),
                new JacksonCodec());
        settler = new Settler(new SettleTable(Schema.POSTROOM), "tester");
        table = new ClaimTable(Schema.POSTROOM, settings.id(), List.of(kind));
        WorkerTable workers = new WorkerTable(Schema.POSTROOM);
        Completer completer = new Completer(database, settler, held, limit -> {}, Telemetry.NONE, "tester");
        Runner runner = new Runner(Map.of("work", kind), database, workers, completer, settings, since -> true);
        crew = new Crew("default", THREADS, runner, completer, () -> {});
    }

    @Test
    void claimsNothingUnlessItIsAllowedTo() {
        AtomicBoolean allowed = new AtomicBoolean();
        SecondClaimer second = new SecondClaimer(
                new Claiming(database, held, Telemetry.NONE),
                () -> {
                    asked.incrementAndGet();
                    return allowed.get();
                },
                e -> {
                    throw new AssertionError(e);
                });
        second.add(crew, new Front("default", table));
        second.start("tester");
        try {
            second.wake();
            Workshop.await(() -> "it asks", () -> asked.get() > 0 && !second.isBusy());
            assertThat(running()).isZero();
            allowed.set(true);
            second.wake();
            Workshop.await(() -> "it claims", () -> running() == 2L * Claiming.CLAIM_MAX);
        } finally {
            second.stop(PATIENCE);
        }
    }

    @Test
    void isNotAllowedToWhileEndsDoNotKeepUp() {
        Claimer claimer = new Claimer(
                database,
                table,
                settler,
                new Gate(database, settler),
                held,
                settings,
                () -> true,
                () -> asked.incrementAndGet() < 0,
                Telemetry.NONE);
        claimer.add(crew);
        claimer.start();
        try {
            Workshop.await(() -> "the claimer wakes the other, which asks", () -> asked.get() > 0);
        } finally {
            claimer.stop(PATIENCE);
        }
    }

    private static long running() {
        return shop.database.queryLong("select count(*) from postroom.job where state = 'running'");
    }
}
