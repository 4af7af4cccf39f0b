package io.postroom.externalcall;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.function.Predicate;

/**
 * Charges for orders in a process of its own, on a thread for each, and stands still on the way until it is killed. Arguments: URL of the
 * database, URL of the provider, and for each order its name and the point at which its thread stands still.
 */
final class ExternalCallMain {
    static final Duration LEASE = Duration.ofSeconds(1);

    private ExternalCallMain() {}

    private enum Moment {
        BEFORE,
        AFTER,
        COMMITTED,
        WITHIN
    }

    /** What the process does. */
    enum Act {
        CHARGE,
        /** There is no answer, and it says so. */
        LOSE_THE_ANSWER,
        /** The answer tells nothing. */
        PARK,
        RECONCILE,
        PARK_OVERDUE
    }

    /** Where it dies. */
    enum Point {
        NONE(Act.CHARGE, Moment.WITHIN, ""),
        BEFORE_BEGIN(Act.CHARGE, Moment.BEFORE, "insert.sql"),
        IN_BEGIN(Act.CHARGE, Moment.AFTER, "insert.sql"),
        BEGUN(Act.CHARGE, Moment.COMMITTED, "insert.sql"),
        IN_TAKE(Act.CHARGE, Moment.AFTER, "take.sql"),
        TAKEN(Act.CHARGE, Moment.COMMITTED, "take.sql"),
        ANSWERED(Act.CHARGE, Moment.WITHIN, ""),
        /** It does not die, but stands still, and goes on too late. */
        FROZEN(Act.CHARGE, Moment.WITHIN, ""),
        BEFORE_END(Act.CHARGE, Moment.BEFORE, "settle.sql"),
        IN_END(Act.CHARGE, Moment.AFTER, "settle.sql"),
        ENDED(Act.CHARGE, Moment.COMMITTED, "settle.sql"),
        BEFORE_LET_GO(Act.LOSE_THE_ANSWER, Moment.BEFORE, "let_go.sql"),
        LET_GO(Act.LOSE_THE_ANSWER, Moment.COMMITTED, "let_go.sql"),
        BEFORE_PARK(Act.PARK, Moment.BEFORE, "park.sql"),
        PARKED(Act.PARK, Moment.COMMITTED, "park.sql"),
        IN_RECONCILE(Act.RECONCILE, Moment.AFTER, "reconcile.sql"),
        RECONCILED(Act.RECONCILE, Moment.COMMITTED, "reconcile.sql"),
        BEFORE_PARK_OVERDUE(Act.PARK_OVERDUE, Moment.BEFORE, "park_overdue.sql"),
        PARKED_OVERDUE(Act.PARK_OVERDUE, Moment.COMMITTED, "park_overdue.sql");

        final Act act;
        private final Moment moment;
        private final String file;

        Point(Act act, Moment moment, String file) {
            this.act = act;
            this.moment = moment;
            this.file = file;
        }

        private void on(CrashingDataSource database, CrashPoint point) {
            if (file.isEmpty()) {
                return;
            }
            Predicate<String> which =
                    Schema.POSTROOM.sql(ExternalCallTable.class, file).text()::equals;
            switch (moment) {
                case BEFORE -> database.before(which, point);
                case AFTER -> database.after(which, point);
                default -> database.committed(which, point);
            }
        }
    }

    public static void main(String[] arguments) throws IOException {
        HikariDataSource pool = TestDatabase.pool(arguments[0], arguments.length);
        for (int i = 2; i < arguments.length; i += 2) {
            String order = arguments[i];
            Point point = Point.valueOf(arguments[i + 1]);
            new Thread(() -> charge(pool, arguments[1], order, point)).start();
        }
        // Until its parent dies, if nobody kills it before.
        System.in.read();
        Runtime.getRuntime().halt(1);
    }

    private static void charge(HikariDataSource pool, String provider, String order, Point point) {
        CrashPoint crash =
                point == Point.FROZEN ? CrashPoint.freeze(point.name(), 1) : CrashPoint.hold(point.name(), 1);
        CrashingDataSource database = new CrashingDataSource(pool);
        point.on(database, crash);
        boolean within = point == Point.ANSWERED || point == Point.FROZEN;
        try {
            act(point.act, Postroom.on(database), provider, order, within ? crash : null);
            System.out.println("went on: " + order);
        } catch (InterruptedException | RuntimeException e) {
            System.out.println("went on: " + order + ": " + e);
        }
    }

    static void act(Act act, Postroom postroom, String provider, String order, CrashPoint answered)
            throws InterruptedException {
        ExternalCalls calls = postroom.externalCalls().lease(LEASE);
        switch (act) {
            case LOSE_THE_ANSWER, PARK ->
                calls.perform(operation(order), ExternalCallsTest.HASH, key -> {
                    FakeProvider.charge(provider, key, ExternalCallsTest.BODY);
                    return act == Act.PARK
                            ? ProviderAnswer.unclear("it says so each time")
                            : ProviderAnswer.unknown("no answer");
                });
            case RECONCILE ->
                calls.reconcile(operation(order).key(), CallState.DONE, "looked-up", "anna", "it is on their list");
            case PARK_OVERDUE -> calls.parkOverdue();
            default -> charge(postroom, provider, order, answered);
        }
    }

    static ExternalOperation operation(String order) {
        return ExternalOperation.of("charge", "t42", order);
    }

    /** Returns whether it was its turn. */
    static boolean charge(Postroom postroom, String provider, String order, CrashPoint answered)
            throws InterruptedException {
        ExternalCalls calls = postroom.externalCalls().lease(LEASE);
        Turn turn = calls.begin(operation(order), ExternalCallsTest.HASH);
        if (!(turn instanceof Turn.Yours yours)) {
            return false;
        }
        ProviderAnswer answer = FakeProvider.charge(provider, yours.key(), ExternalCallsTest.BODY);
        if (answered != null) {
            answered.reach();
        }
        String reference = ((ProviderAnswer.Done) answer).reference();
        postroom.database().transact(tx -> {
            try (PreparedStatement paid = tx.prepareStatement("insert into paid values (?, ?)")) {
                paid.setString(1, order);
                paid.setString(2, reference);
                paid.executeUpdate();
            }
            return calls.done(tx, yours, reference);
        });
        return true;
    }
}
