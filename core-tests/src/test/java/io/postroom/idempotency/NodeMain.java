package io.postroom.idempotency;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A node of the shop in a process of its own. {@code NodeMain crash URL KEY POINT TIME} does one request and dies at a point;
 * {@code NodeMain run URL THREADS KEYS} lets many threads ask for the same keys, and says what all of them were answered.
 */
final class NodeMain {
    static final Duration LEASE = Duration.ofSeconds(1);
    static final KeyPolicy POLICY = KeyPolicy.STANDARD.lease(LEASE).patience(Duration.ofMinutes(1));

    private NodeMain() {}

    public static void main(String[] arguments) throws Exception {
        try (HikariDataSource pool = TestDatabase.pool(arguments[1], 10)) {
            if (arguments[0].equals("run")) {
                new Crowd(pool, Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3])).run();
                return;
            }
            Point point = Point.valueOf(arguments[3]);
            CrashPoint crash = CrashPoint.kill(point.name(), Integer.parseInt(arguments[4]));
            DataSource database = point.on(new CrashingDataSource(pool), crash);
            Idempotency idempotency = Postroom.on(database).idempotency();
            Request request = Shop.request(arguments[2]);
            point.ask(idempotency, request, new Work(pool, point.file == null ? crash : null));
        }
    }

    /** Where a node dies, and in what kind of request. */
    enum Point {
        ONCE_BEFORE_CLAIM(Kind.ONCE, Moment.BEFORE, "claim.sql"),
        ONCE_CLAIMED(Kind.ONCE, Moment.AFTER, "claim.sql"),
        ONCE_IN_COMMAND(Kind.ONCE, Moment.WITHIN, null),
        ONCE_BEFORE_COMMIT(Kind.ONCE, Moment.BEFORE, "store_and_commit.sql"),
        ONCE_COMMITTED(Kind.ONCE, Moment.COMMITTED, "store_and_commit.sql"),
        REFUSED_UNDONE(Kind.REFUSED, Moment.AFTER, "claim.sql"),
        REFUSED_COMMITTED(Kind.REFUSED, Moment.COMMITTED, "store_and_commit.sql"),
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
        TAKING_OVER(Kind.STEPS, Moment.AFTER, "take_over.sql"),
        TAKEN_OVER(Kind.STEPS, Moment.COMMITTED, "take_over.sql");

        final Kind kind;
        private final Moment moment;
        final @Nullable String file;

        Point(Kind kind, Moment moment, @Nullable String file) {
            this.kind = kind;
            this.moment = moment;
            this.file = file;
        }

        /** The one that it needs to be left in the middle, to be taken over. */
        boolean needsOneThatDiedBefore() {
            return this == TAKING_OVER || this == TAKEN_OVER;
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

        Outcome ask(Idempotency idempotency, Request request, Work work) throws SQLException {
            return switch (kind) {
                case ONCE ->
                    idempotency.once(request, POLICY, work.command(request.key().key(), 201));
                case REFUSED ->
                    idempotency.once(request, POLICY, work.command(request.key().key(), 409));
                default -> idempotency.steps(request, POLICY, work.procedure(kind));
            };
        }
    }

    enum Kind {
        ONCE,
        REFUSED,
        STEPS,
        LAST,
        CALLED
    }

    private enum Moment {
        BEFORE,
        AFTER,
        COMMITTED,
        WITHIN
    }

    /** What is asked for. {@code crash} is reached in the middle of it. */
    static final class Work {
        private final DataSource provider;
        private final @Nullable CrashPoint crash;

        Work(DataSource provider, @Nullable CrashPoint crash) {
            this.provider = provider;
            this.crash = crash;
        }

        Command<SQLException> command(String key, int status) {
            return tx -> {
                Shop.insert(tx, key, "effect");
                reach();
                return Answer.of(status, UUID.randomUUID().toString());
            };
        }

        Procedure<SQLException> procedure(Kind kind) {
            return steps -> {
                String key = steps.key().key();
                String reserved = steps.step("reserve", tx -> {
                    Shop.insert(tx, key, "reserve");
                    if (kind == Kind.STEPS) {
                        reach();
                    }
                    return UUID.randomUUID().toString();
                });
                charge("charge:" + key + ":r1");
                if (kind == Kind.CALLED) {
                    reach();
                }
                if (kind == Kind.LAST) {
                    return steps.answer(tx -> {
                        Shop.insert(tx, key, "note");
                        return Answer.of(201, reserved);
                    });
                }
                steps.step("note", tx -> {
                    Shop.insert(tx, key, "note");
                    return "";
                });
                return Answer.of(201, reserved);
            };
        }

        /** Somebody else, who knows a call again by its key. */
        private void charge(String key) throws SQLException {
            try (Connection connection = provider.getConnection();
                    PreparedStatement statement = connection.prepareStatement(
                            "insert into charged (key, calls) values (?, 1) on conflict (key) do update set calls = charged.calls + 1")) {
                statement.setString(1, key);
                statement.executeUpdate();
            }
        }

        private void reach() {
            if (crash != null) {
                crash.reach();
            }
        }
    }
}
