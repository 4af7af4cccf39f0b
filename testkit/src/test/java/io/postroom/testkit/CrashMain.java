package io.postroom.testkit;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.relay.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Predicate;

/** Inserts rows 1 to 3, or sends messages 1 to 3, and dies at a point. Arguments: what, and the URL or the file. */
final class CrashMain {
    private static final Predicate<String> INSERT = sql -> sql.startsWith("insert into crash");

    private CrashMain() {}

    public static void main(String[] arguments) throws SQLException, IOException {
        String what = arguments[0];
        if (what.startsWith("sink")) {
            send(what, Path.of(arguments[1]));
        } else {
            insert(what, arguments[1]);
        }
        System.out.println("the end");
    }

    private static void insert(String what, String url) throws SQLException {
        try (HikariDataSource pool = TestDatabase.pool(url, 2)) {
            CrashingDataSource crashing = new CrashingDataSource(pool);
            switch (what) {
                case "before" -> crashing.before(INSERT, CrashPoint.kill(what, 2));
                case "after" -> crashing.after(INSERT, CrashPoint.kill(what, 2));
                case "freeze" -> crashing.after(INSERT, CrashPoint.freeze(what, 2));
                default -> crashing.committed(INSERT, CrashPoint.kill(what, 2));
            }
            try (Connection tx = crashing.getConnection()) {
                tx.setAutoCommit(what.equals("alone"));
                for (int row = 1; row <= 3; row++) {
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("insert into crash values (" + row + ")");
                    }
                    if (!what.equals("alone")) {
                        tx.commit();
                    }
                }
            }
        }
    }

    private static void send(String what, Path file) throws IOException {
        try (CrashingSink sink = new CrashingSink(envelope -> {
            append(file, envelope.message().aggregateId());
            return Outcome.acceptedStage();
        })) {
            if (what.equals("sink before")) {
                sink.before(envelope -> true, CrashPoint.kill(what, 2));
            } else {
                sink.after(envelope -> true, CrashPoint.kill(what, 2));
            }
            for (int message = 1; message <= 3; message++) {
                sink.send(Messages.firstAttempt(Messages.order("order-" + message)));
            }
        }
    }

    private static void append(Path file, String line) {
        try {
            Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
