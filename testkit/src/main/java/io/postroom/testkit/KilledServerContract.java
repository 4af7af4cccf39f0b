package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.idempotency.http.Dialect;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * SIGKILL at every point of a request over real HTTP: the client asks another server again, and there is one order and one answer. An
 * adapter's test extends it, and says which main class {@linkplain #serveUntilKilled serves until it is killed}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class KilledServerContract {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final HttpClient client = HttpClient.newHttpClient();
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

        /** It is for the one request that comes while it is the point that was asked for. */
        private void on(CrashingDataSource database, Supplier<@Nullable Point> asked) {
            CrashPoint point = CrashPoint.hold(name(), 1);
            Predicate<String> which = text -> asked.get() == this && text.contains(piece);
            switch (moment) {
                case BEFORE -> database.before(which, point);
                case AFTER -> database.after(which, point);
                default -> database.committed(which, point);
            }
        }
    }

    /** A main class that calls {@link #serveUntilKilled} with its arguments. */
    protected abstract Class<?> main();

    /**
     * Serves a shop until this process is killed. Its argument is the URL of the database. Told the name of a point on standard input, it lets
     * the next request that comes there stand still.
     */
    public static void serveUntilKilled(String[] arguments, Serving serving) throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2 * Point.values().length)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            AtomicReference<@Nullable Point> asked = new AtomicReference<>();
            for (Point point : Point.values()) {
                point.on(database, asked::get);
            }
            try (KeyedHttpContract.Served server =
                            serving.serve(new KeyedShop(), KeyedRoutes.of(Postroom.on(database), Dialect.SEEDS));
                    BufferedReader told =
                            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                System.out.println("port " + server.port());
                for (String name = told.readLine(); name != null; name = told.readLine()) {
                    asked.set(Point.valueOf(name));
                    System.out.println("waits at " + name);
                }
            }
        }
        Runtime.getRuntime().halt(1);
    }

    @BeforeAll
    final void create() {
        database = TestDatabase.create();
        database.execute("create table orders (id bigint generated always as identity, body text)");
        survivor = server();
    }

    @AfterAll
    final void drop() {
        survivor.close();
        database.close();
    }

    private ChildJvm server() {
        return ChildJvm.start(main(), List.of("-Xmx128m"), database.url());
    }

    /** One server comes to every point, with a request each, and is killed there: processes are slow to start. */
    @Test
    void anotherServerAnswersOnce() throws Exception {
        Map<Point, CompletableFuture<HttpResponse<String>>> begun = new EnumMap<>(Point.class);
        try (ChildJvm dying = server()) {
            for (Point point : Point.values()) {
                dying.awaitLine("port ", DEADLINE);
                dying.say(point.name());
                dying.awaitLine("waits at " + point.name(), DEADLINE);
                begun.put(point, client.sendAsync(request(dying, point), HttpResponse.BodyHandlers.ofString()));
                dying.awaitLine(CrashPoint.lineOf(point.name()), DEADLINE);
            }
            assertThat(begun.values()).noneMatch(CompletableFuture::isDone);
            dying.kill();
        }
        begun.forEach((point, answer) ->
                assertThat(answer).as(point.name()).failsWithin(DEADLINE).withThrowableThat());
        for (Point point : Point.values()) {
            assertAnsweredOnce(point);
        }
    }

    private void assertAnsweredOnce(Point point) throws Exception {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        HttpResponse<String> answer = send(point);
        while (answer.statusCode() == 425 && System.nanoTime() < deadline) {
            // Its lease, or PostgreSQL, which has not noticed yet that its client is gone.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            answer = send(point);
        }
        assertThat(answer.statusCode()).as(point.name()).isEqualTo(201);
        assertThat(answer.headers().firstValue("Idempotent-Replayed").isPresent())
                .as(point.name())
                .isEqualTo(point.stored);
        assertThat(send(point).body()).as(point.name()).isEqualTo(answer.body());
        assertThat(database.queryLong("select count(*) from orders where body = '" + body(point) + "'"))
                .as(point.name())
                .isEqualTo(1);
    }

    private static String body(Point point) {
        return "{\"do\":\"order\",\"point\":\"" + point + "\"}";
    }

    private HttpResponse<String> send(Point point) throws Exception {
        return client.send(request(survivor, point), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(ChildJvm server, Point point) throws InterruptedException {
        String port = server.awaitLine("port ", DEADLINE).substring("port ".length());
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + point.path))
                .header("X-Tenant", "t1")
                .header("Idempotency-Key", '"' + point.name() + '"')
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body(point)))
                .build();
    }
}
