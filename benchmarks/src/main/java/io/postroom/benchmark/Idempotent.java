package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.Idempotency;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.Outcome;
import io.postroom.idempotency.Request;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** What a key costs a command: the same command in the same kind of transaction, with one and without. */
final class Idempotent {
    private static final String SECTION = "Idempotent command";
    private static final int WRITERS = 8;

    private final Postroom postroom;
    private final Idempotency idempotency;

    Idempotent(BenchDatabase database, Postroom postroom) {
        this.postroom = postroom;
        this.idempotency = postroom.idempotency();
        Booking.createTables(database);
    }

    void run(Report report, int rounds, int commands) throws Exception {
        Measure.Pair one = Measure.inTurn(rounds, () -> once(commands), () -> bare(commands));
        report.figure(SECTION, "bare command: two statements and a commit, one client", one.second(), "commands/s");
        report.figure(SECTION, "the same with a key", one.first(), "commands/s");
        report.ratio(SECTION, "command with a key against the bare command", one.ratio(), 0.6);
        Measure.Pair many = Measure.inTurn(
                rounds, () -> clients(() -> once(commands / 2)), () -> clients(() -> bare(commands / 2)));
        report.figure(SECTION, "bare command, eight clients", many.second(), "commands/s");
        report.figure(SECTION, "the same with a key, eight clients", many.first(), "commands/s");
        replays(commands);
        report.figure(SECTION, "replays, one client", replays(commands), "replays/s");
        report.note(
                SECTION,
                String.format(
                        Locale.ROOT,
                        "The key adds one round trip, the claim; the answer is stored in the round trip of the commit. Both take a"
                                + " connection from a pool for each command. With eight clients, where the processors are the limit"
                                + " and not the disk, two more statements for a command of two leave %.2f of the throughput.",
                        many.ratio()));
    }

    private double bare(int count) {
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            postroom.database().transact(Idempotent::book);
        }
        return count / Drain.seconds(began);
    }

    private double once(int count) throws SQLException {
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            Outcome outcome = idempotency.once(request(UUID.randomUUID()), Idempotent::book);
            if (!(outcome instanceof Outcome.Executed)) {
                throw new IllegalStateException("was " + outcome);
            }
        }
        return count / Drain.seconds(began);
    }

    private double replays(int count) throws SQLException {
        Request request = request(UUID.randomUUID());
        idempotency.once(request, Idempotent::book);
        long began = System.nanoTime();
        for (int i = 0; i < count; i++) {
            idempotency.once(request, Idempotent::book);
        }
        return count / Drain.seconds(began);
    }

    private static Request request(UUID key) {
        return new Request(IdempotencyKey.of("booking.create", key.toString()), new byte[Request.HASH_BYTES]);
    }

    private static Answer book(Connection tx) throws SQLException {
        return Answer.json(201, Booking.book(tx).json());
    }

    /** The rates of all clients together. */
    private static double clients(Measure.Round each) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(WRITERS);
        double[] rates = new double[WRITERS];
        for (int i = 0; i < WRITERS; i++) {
            int client = i;
            pool.submit(() -> rates[client] = each.run());
        }
        pool.shutdown();
        if (!pool.awaitTermination(5, TimeUnit.MINUTES)) {
            throw new IllegalStateException("clients did not finish");
        }
        double sum = 0;
        for (double rate : rates) {
            if (rate == 0) {
                throw new IllegalStateException("a client failed");
            }
            sum += rate;
        }
        return sum;
    }
}
