package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.idempotency.http.Dialect;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * SIGKILL at every point of a request over real HTTP: the client asks another server again, and there is one order and one answer. An
 * adapter's test extends it, and says which main class {@linkplain #serveUntilKilled serves until it is killed}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class KilledServerContract {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private TestDatabase database;
    private ChildJvm survivor;

    /** Starts a server, as {@link KeyedHttpContract#serve} does. */
    @FunctionalInterface
    public interface Serving {
        KeyedHttpContract.Served serve(KeyedShop shop, KeyedRoutes routes) throws Exception;
    }

    private enum Moment {
        BEFORE,
        AFTER,
        COMMITTED
    }

    /** Where a server dies. Statements are told by a piece of their text. */
    enum Point {
        NONE("", false, Moment.BEFORE, ""),
        CLAIMED("/orders", false, Moment.AFTER, "pg_try_advisory_xact_lock"),
        ORDERED("/orders", false, Moment.AFTER, "insert into orders"),
        BEFORE_THE_ANSWER_IS_STORED("/orders", false, Moment.BEFORE, "completed_at, expires_at)"),
        // The commit goes with the statement.
        STORED("/orders", true, Moment.AFTER, "completed_at, expires_at)"),
        STEPS_BEGUN("/steps", false, Moment.COMMITTED, "leased_until, fence, recovery)"),
        STEP_ORDERED("/steps", false, Moment.AFTER, "insert into orders"),
        STEP_DONE("/steps", false, Moment.COMMITTED, "recovery_point = recovery_point + 1"),
        STEPS_BEFORE_THE_ANSWER_IS_STORED("/steps", false, Moment.BEFORE, "leased_until = null"),
        STEPS_STORED("/steps", true, Moment.COMMITTED, "leased_until = null");

        private final String path;
        private final boolean stored;
        private final Moment moment;
        private final String piece;

        Point(String path, boolean stored, Moment moment, String piece) {
            this.path = path;
            this.stored = stored;
            this.moment = moment;
            this.piece = piece;
        }

        private void on(CrashingDataSource database) {
            CrashPoint point = CrashPoint.kill(name());
            Predicate<String> which = text -> text.contains(piece);
            switch (moment) {
                case BEFORE -> database.before(which, point);
                case AFTER -> database.after(which, point);
                default -> database.committed(which, point);
            }
        }
    }

    /** A main class that calls {@link #serveUntilKilled} with its arguments. */
    protected abstract Class<?> main();

    /** Serves a shop until this process is killed. Arguments: URL of the database, and the point at which it dies. */
    public static void serveUntilKilled(String[] arguments, Serving serving) throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 4)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            Point point = Point.valueOf(arguments[1]);
            if (point != Point.NONE) {
                point.on(database);
            }
            try (KeyedHttpContract.Served server =
                    serving.serve(new KeyedShop(), KeyedRoutes.of(Postroom.on(database), Dialect.SEEDS))) {
                System.out.println("port " + server.port());
                new CountDownLatch(1).await();
            }
        }
    }

    @BeforeAll
    final void create() {
        database = TestDatabase.create();
        database.execute("create table orders (id bigint generated always as identity, body text)");
        survivor = server(Point.NONE);
    }

    @AfterAll
    final void drop() {
        survivor.close();
        database.close();
    }

    private ChildJvm server(Point point) {
        return ChildJvm.start(main(), List.of("-Xmx128m"), database.url(), point.name());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void anotherServerAnswersOnce(Point point) throws Exception {
        String body = "{\"do\":\"order\",\"point\":\"" + point + "\"}";
        try (ChildJvm dying = server(point)) {
            HttpRequest request = request(dying, point, body);
            assertThatThrownBy(() -> HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()))
                    .isInstanceOf(IOException.class);
            assertThat(dying.awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
            assertThat(dying.lines()).contains(CrashPoint.lineOf(point.name()));
        }
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        HttpResponse<String> answer = send(point, body);
        while (answer.statusCode() == 425 && System.nanoTime() < deadline) {
            // Its lease, or PostgreSQL, which has not noticed yet that its client is gone.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            answer = send(point, body);
        }
        assertThat(answer.statusCode()).isEqualTo(201);
        assertThat(answer.headers().firstValue("Idempotent-Replayed").isPresent())
                .isEqualTo(point.stored);
        assertThat(send(point, body).body()).isEqualTo(answer.body());
        assertThat(database.queryLong("select count(*) from orders where body = '" + body + "'"))
                .isEqualTo(1);
    }

    private HttpResponse<String> send(Point point, String body) throws Exception {
        return HttpClient.newHttpClient().send(request(survivor, point, body), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(ChildJvm server, Point point, String body) throws InterruptedException {
        String port = server.awaitLine("port ", DEADLINE).substring("port ".length());
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + point.path))
                .header("X-Tenant", "t1")
                .header("Idempotency-Key", '"' + point.name() + '"')
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }
}
