package io.postroom.externalcall;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import java.sql.PreparedStatement;

/**
 * Charges for one order in a process of its own, and may be killed on the way. Arguments: URL of the database, URL of the provider,
 * the order, and the name of the point at which it dies, or none.
 */
final class ExternalCallMain {
    private ExternalCallMain() {}

    public static void main(String[] arguments) throws InterruptedException {
        String order = arguments[2];
        CrashPoint point = CrashPoint.kill(arguments[3]);
        try (HikariDataSource pool = TestDatabase.pool(arguments[0], 2)) {
            CrashingDataSource database = new CrashingDataSource(pool);
            String insert = text("insert.sql");
            String settle = text("settle.sql");
            switch (arguments[3]) {
                case "before begin" -> database.before(insert::equals, point);
                case "in begin" -> database.after(insert::equals, point);
                case "begun" -> database.committed(insert::equals, point);
                case "before end" -> database.before(settle::equals, point);
                case "in end" -> database.after(settle::equals, point);
                case "ended" -> database.committed(settle::equals, point);
                default -> {}
            }
            charge(Postroom.on(database), arguments[1], order, arguments[3].equals("answered") ? point : null);
        }
    }

    static void charge(Postroom postroom, String provider, String order, CrashPoint answered)
            throws InterruptedException {
        ExternalCalls calls = postroom.externalCalls();
        ExternalOperation operation = ExternalOperation.of("charge", "t42", order);
        Turn turn = calls.begin(operation, ExternalCallsTest.HASH);
        if (turn instanceof Turn.Yours yours) {
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
        }
    }

    private static String text(String file) {
        return Schema.POSTROOM.sql(ExternalCallTable.class, file).text();
    }
}
