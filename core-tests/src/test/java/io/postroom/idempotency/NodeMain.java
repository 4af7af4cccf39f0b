package io.postroom.idempotency;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A node of the shop in a process of its own, which does what it is told on standard input. {@code NodeMain crowd URL THREADS} asks for
 * the keys of some points, {@code ROUND KEYS POINT…}, with many threads at once, and says what all of them were answered. {@code NodeMain
 * victim URL KEYS POINT:TIME…} has one client for each point once it is told {@code go}, which stands still the chosen time that it comes
 * there, while its leases are renewed.
 */
final class NodeMain {
    static final Duration LEASE = Duration.ofSeconds(1);
    static final KeyPolicy POLICY = KeyPolicy.STANDARD.lease(LEASE).patience(Duration.ofMinutes(1));
    static final int POOL = 10;

    private NodeMain() {}

    public static void main(String[] arguments) throws Exception {
        boolean victim = arguments[0].equals("victim");
        try (HikariDataSource pool = TestDatabase.pool(arguments[1], victim ? POOL + 2 * arguments.length : POOL);
                BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            // It is ready when it has spoken to the database.
            pool.getConnection().close();
            System.out.println("ready");
            if (victim) {
                orders.readLine();
                for (String point : List.of(arguments).subList(3, arguments.length)) {
                    new Thread(() -> die(pool, point.split(":"), Integer.parseInt(arguments[2]))).start();
                }
                // Until its parent dies, if nobody kills it before.
                orders.readLine();
                Runtime.getRuntime().halt(1);
            } else {
                survive(
                        new Crowd(Client.of(pool, new Work(pool, null, false)), Integer.parseInt(arguments[2])),
                        orders);
            }
        }
    }

    private static void die(DataSource pool, String[] words, int keys) {
        Point point = Point.valueOf(words[0]);
        CrashPoint crash = CrashPoint.hold(point.name(), Integer.parseInt(words[1]));
        Work work = new Work(pool, point.file == null ? crash : null, true);
        Client client = Client.of(point.on(new CrashingDataSource(pool), crash), work);
        try {
            if (point.kind == Kind.COMPLETED) {
                client.complete(point);
            }
            for (int key = 0; key < keys; key++) {
                client.ask(point, key);
            }
            System.out.println("not reached: " + point);
        } catch (SQLException | RuntimeException e) {
            System.out.println("not reached: " + point + ": " + e);
        }
    }

    /** Until its parent closes its standard input, or kills it. */
    private static void survive(Crowd crowd, BufferedReader orders) throws IOException, InterruptedException {
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            List<String> words = List.of(order.split(" "));
            crowd.run(
                    words.get(0),
                    Integer.parseInt(words.get(1)),
                    words.subList(2, words.size()).stream().map(Point::valueOf).toList());
        }
    }

    /** Somebody who asks a node. */
    record Client(DataSource database, Idempotency idempotency, Work work) {
        static Client of(DataSource database, Work work) {
            return new Client(database, Postroom.on(database).idempotency(), work);
        }

        Outcome ask(Point point, int key) throws SQLException {
            Request request = point.request(key);
            return switch (point.kind) {
                case ONCE, EXPIRED -> idempotency.once(request, POLICY, work.command(point.key(key), 201));
                case REFUSED -> idempotency.once(request, POLICY, work.command(point.key(key), 409));
                case JOINED -> work.joined(database, idempotency, request);
                default -> idempotency.steps(request, POLICY, work.procedure(point.kind));
            };
        }

        /** A completer instead of a client. */
        private void complete(Point point) {
            try (Completer completer = idempotency.completer(point.scope(), POLICY, work.procedure(point.kind))) {
                completer.runOnce();
            }
        }
    }

    /** Where a node dies, and in what kind of request. */
    enum Point {
        ONCE_BEFORE_CLAIM(Kind.ONCE, Moment.BEFORE, "claim.sql"),
        ONCE_CLAIMED(Kind.ONCE, Moment.AFTER, "claim.sql"),
        ONCE_IN_COMMAND(Kind.ONCE, Moment.WITHIN, null),
        ONCE_BEFORE_COMMIT(Kind.ONCE, Moment.BEFORE, "store_and_commit.sql"),
        ONCE_COMMITTED(Kind.ONCE, Moment.COMMITTED, "store_and_commit.sql"),
        EXPIRED_FORGOTTEN(Kind.EXPIRED, Moment.AFTER, "forget_expired.sql"),
        EXPIRED_ANEW(Kind.EXPIRED, Moment.COMMITTED, "store_and_commit.sql"),
        REFUSED_UNDONE(Kind.REFUSED, Moment.AFTER, "claim.sql"),
        REFUSED_BEFORE_COMMIT(Kind.REFUSED, Moment.BEFORE, "store_and_commit.sql"),
        REFUSED_COMMITTED(Kind.REFUSED, Moment.COMMITTED, "store_and_commit.sql"),
        JOINED_CLAIMED(Kind.JOINED, Moment.AFTER, "claim.sql"),
        JOINED_STORED(Kind.JOINED, Moment.AFTER, "store.sql"),
        JOINED_COMMITTED(Kind.JOINED, Moment.COMMITTED, "store.sql"),
        STEPS_BEFORE_BEGIN(Kind.STEPS, Moment.BEFORE, "begin.sql"),
        STEPS_BEGINNING(Kind.STEPS, Moment.AFTER, "begin.sql"),
        STEPS_BEGUN(Kind.STEPS, Moment.COMMITTED, "begin.sql"),
        STEPS_IN_STEP(Kind.STEPS, Moment.WITHIN, null),
        STEPS_ADVANCING(Kind.STEPS, Moment.AFTER, "advance.sql"),
        STEPS_ADVANCED(Kind.STEPS, Moment.COMMITTED, "advance.sql"),
        STEPS_BEFORE_FINISH(Kind.STEPS, Moment.BEFORE, "finish.sql"),
        STEPS_FINISHED(Kind.STEPS, Moment.COMMITTED, "finish.sql"),
        LAST_FINISHING(Kind.LAST, Moment.AFTER, "finish.sql"),
        LAST_FINISHED(Kind.LAST, Moment.COMMITTED, "finish.sql"),
        CALLED_NOT_NOTED(Kind.CALLED, Moment.WITHIN, null),
        RENEWING(Kind.SLOW, Moment.BEFORE, "renew.sql"),
        RENEWED(Kind.SLOW, Moment.COMMITTED, "renew.sql"),
        GIVING_UP(Kind.FAILING, Moment.AFTER, "give_up.sql"),
        GAVE_UP(Kind.FAILING, Moment.COMMITTED, "give_up.sql"),
        BEFORE_TAKING_OVER(Kind.LEFT, Moment.BEFORE, "take_over.sql"),
        TAKING_OVER(Kind.LEFT, Moment.AFTER, "take_over.sql"),
        TAKEN_OVER(Kind.LEFT, Moment.COMMITTED, "take_over.sql"),
        COMPLETER_TAKEN_OVER(Kind.COMPLETED, Moment.COMMITTED, "take_over.sql"),
        COMPLETER_ADVANCED(Kind.COMPLETED, Moment.COMMITTED, "advance.sql"),
        COMPLETER_FINISHED(Kind.COMPLETED, Moment.COMMITTED, "finish.sql");

        final Kind kind;
        private final Moment moment;
        private final @Nullable String file;

        Point(Kind kind, Moment moment, @Nullable String file) {
            this.kind = kind;
            this.moment = moment;
            this.file = file;
        }

        /** So that keys of one point never meet those of another, nor a completer's those of requests. */
        Request request(int n) {
            return new Request(IdempotencyKey.of(scope(), key(n)), Shop.hash(name()), "input");
        }

        String scope() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }

        String key(int n) {
            return scope() + "-" + n;
        }

        private DataSource on(CrashingDataSource database, CrashPoint crash) {
            if (file == null) {
                return database;
            }
            String text = Schema.POSTROOM.sql(KeyTable.class, file).text();
            Predicate<String> which = text::equals;
            return switch (moment) {
                case BEFORE -> database.before(which, crash);
                case AFTER -> database.after(which, crash);
                default -> database.committed(which, crash);
            };
        }
    }

    enum Kind {
        ONCE,
        /** Its key has an answer that has expired. */
        EXPIRED,
        REFUSED,
        /** In a transaction of the caller's. */
        JOINED,
        STEPS,
        LAST,
        CALLED,
        /** The victim's procedure takes longer than a lease. */
        SLOW,
        /** The victim's procedure throws. */
        FAILING,
        /** Somebody has left it in the middle. */
        LEFT,
        /** The same; the victim is no client but a completer. */
        COMPLETED;

        boolean isInSteps() {
            return ordinal() >= STEPS.ordinal();
        }

        boolean isLeft() {
            return this == LEFT || this == COMPLETED;
        }
    }

    private enum Moment {
        BEFORE,
        AFTER,
        COMMITTED,
        WITHIN
    }
}
