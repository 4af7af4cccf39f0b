package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Received;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Projection;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * What it costs that messages take effect once: a projection beside the same SQL without us, and an inbox beside a bare insert.
 *
 * <p>The SQL is that of the documentation's read model: a row and a change of its customer's sum for each message, in JDBC batches. The
 * same effect by one statement for a whole batch is the dearest case: there is hardly anything beside which reading could be small.
 */
final class Projecting {
    private static final String SECTION = "Projection and inbox";
    private static final int LANES = 2;
    private static final int BATCH = 1_000;

    private final EmbeddedPostgres server;
    private final int backlog;

    Projecting(EmbeddedPostgres server, int backlog) {
        this.server = server;
        this.backlog = backlog;
    }

    void run(Report report, int rounds) throws Exception {
        Measure.Pair each =
                Measure.inTurn(rounds, () -> relay(Projecting::applyEach), () -> bare(Projecting::applyEach));
        report.figure(
                SECTION,
                "the same SQL, two statements for each message, batches of 1,000 from memory, two threads",
                each.second(),
                "messages/s");
        report.figure(SECTION, "projection of a stamped backlog, two lanes", each.first(), "messages/s");
        report.ratio(SECTION, "projection against the same SQL without us", each.ratio(), 0.7);
        Measure.Pair whole =
                Measure.inTurn(rounds, () -> relay(Projecting::applyAll), () -> bare(Projecting::applyAll));
        report.figure(SECTION, "the same effect, one statement for a batch, from memory", whole.second(), "messages/s");
        report.figure(SECTION, "projection with one statement for a batch", whole.first(), "messages/s");
        report.figure(SECTION, "the same behind an inbox", relay(Projecting::applyAll, true), "messages/s");
        report.note(
                SECTION,
                String.format(
                        Locale.ROOT,
                        "With one statement for a whole batch the projection has %.2f of the throughput of the effect alone: reading the"
                                + " messages, which the other finds in memory, then costs as much as applying them.",
                        whole.ratio()));
        Measure.Pair inbox = Measure.inTurn(rounds, this::accept, this::insert);
        report.figure(
                SECTION, "insert of id and hash with a primary key, batches of 1,000", inbox.second(), "messages/s");
        report.figure(SECTION, "inbox.acceptAll, batches of 1,000", inbox.first(), "messages/s");
        report.note(
                SECTION,
                String.format(
                        Locale.ROOT,
                        "Accepting is %.2f of a bare insert; a bare insert finds no duplicates and answers nothing.",
                        inbox.ratio()));
    }

    private double relay(Projection effect) throws Exception {
        return relay(effect, false);
    }

    private double relay(Projection effect, boolean behindInbox) throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            Postroom postroom = database.migrated();
            prepare(database);
            database.execute(Sample.backlog(backlog), "vacuum analyze postroom.outbox");
            postroom.journal().stampAll();
            database.execute("vacuum analyze postroom.journal", "checkpoint");
            AtomicLong seen = new AtomicLong();
            CountDownLatch all = new CountDownLatch(1);
            Projection ledger = (tx, batch) -> {
                effect.apply(tx, batch);
                if (seen.addAndGet(batch.size()) >= backlog) {
                    all.countDown();
                }
            };
            double rate;
            long began = System.nanoTime();
            try (Relay relay = postroom.relay()
                    .project(
                            Subscription.named("ledger").lanes(LANES).build(),
                            behindInbox ? ledger.behind(postroom.inbox(), "ledger") : ledger)
                    .build()) {
                relay.start();
                if (!all.await(10, TimeUnit.MINUTES)) {
                    throw new IllegalStateException("only " + seen + " of " + backlog + " messages came");
                }
                rate = backlog / Drain.seconds(began);
            }
            require(database);
            return rate;
        }
    }

    /** The effect alone: the messages are in memory, shared between as many threads as there are lanes. */
    private double bare(Projection effect) throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            prepare(database);
            List<List<Envelope>> batches = new ArrayList<>();
            for (int batch = 0; batch < backlog / BATCH; batch++) {
                // As lanes do, threads have keys of their own: else they would wait for each other's customers.
                int first = batch / LANES * BATCH * LANES + batch % LANES;
                batches.add(IntStream.range(0, BATCH)
                        .mapToObj(i -> Sample.envelope(first + (long) i * LANES))
                        .toList());
            }
            database.execute("checkpoint");
            AtomicReference<Throwable> broken = new AtomicReference<>();
            long began = System.nanoTime();
            List<Thread> threads = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                int mine = lane;
                Thread thread = new Thread(() -> {
                    try (Connection tx = database.connection(false)) {
                        for (int i = mine; i < batches.size(); i += LANES) {
                            effect.apply(tx, batches.get(i));
                            tx.commit();
                        }
                    } catch (Exception e) {
                        broken.set(e);
                    }
                });
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            if (broken.get() != null) {
                throw new IllegalStateException(broken.get());
            }
            double rate = backlog / Drain.seconds(began);
            require(database);
            return rate;
        }
    }

    private static void prepare(BenchDatabase database) throws SQLException {
        database.execute(
                "create table ledger (id uuid, customer text, version bigint)",
                "create table customer (customer text primary key, messages bigint not null) with (fillfactor = 50)");
    }

    /** Two statements for each message. */
    private static void applyEach(Connection tx, List<Envelope> batch) throws SQLException {
        try (PreparedStatement entry = tx.prepareStatement("insert into ledger (id, customer) values (?, ?)");
                PreparedStatement sum =
                        tx.prepareStatement("insert into customer as c (customer, messages) values (?, 1)"
                                + " on conflict (customer) do update set messages = c.messages + 1")) {
            for (Envelope envelope : batch) {
                entry.setObject(1, envelope.message().id());
                entry.setString(2, envelope.message().aggregateId());
                entry.addBatch();
                sum.setString(1, envelope.message().aggregateId());
                sum.addBatch();
            }
            entry.executeBatch();
            sum.executeBatch();
        }
    }

    /** The same by one statement. */
    private static void applyAll(Connection tx, List<Envelope> batch) throws SQLException {
        Object[] ids = new Object[batch.size()];
        String[] customers = new String[batch.size()];
        for (int i = 0; i < ids.length; i++) {
            Message message = batch.get(i).message();
            ids[i] = message.id();
            customers[i] = message.aggregateId();
        }
        try (PreparedStatement statement = tx.prepareStatement(
                "with entry as (insert into ledger (id, customer) select id, customer from unnest(?::uuid[], ?::text[]) as e (id, customer)"
                        + " returning customer)"
                        + " insert into customer (customer, messages) select customer, count(*) from entry group by customer order by customer"
                        + " on conflict (customer) do update set messages = customer.messages + excluded.messages")) {
            statement.setArray(1, tx.createArrayOf("uuid", ids));
            statement.setArray(2, tx.createArrayOf("text", customers));
            statement.executeUpdate();
        }
    }

    private void require(BenchDatabase database) throws SQLException {
        long sum = database.queryLong("select sum(messages) from customer");
        if (sum != backlog) {
            throw new IllegalStateException("the sum is " + sum + ", not " + backlog);
        }
    }

    private double accept() throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            Inbox inbox = database.migrated().inbox();
            List<List<Received>> batches = received();
            database.execute("checkpoint");
            long began = System.nanoTime();
            try (Connection tx = database.connection(false)) {
                for (List<Received> batch : batches) {
                    inbox.acceptAll(tx, "bench", batch);
                    tx.commit();
                }
            }
            return backlog / Drain.seconds(began);
        }
    }

    private double insert() throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            database.execute("create table bare (consumer text, id uuid, hash bytea not null, at timestamptz default"
                    + " clock_timestamp(), primary key (consumer, id))");
            List<List<Received>> batches = received();
            database.execute("checkpoint");
            long began = System.nanoTime();
            try (Connection tx = database.connection(false);
                    PreparedStatement statement = tx.prepareStatement(
                            "insert into bare (consumer, id, hash) select 'bench', id, hash from unnest(?::uuid[], ?::bytea[]) as r (id, hash)")) {
                for (List<Received> batch : batches) {
                    statement.setArray(
                            1,
                            tx.createArrayOf(
                                    "uuid", batch.stream().map(Received::id).toArray()));
                    statement.setArray(
                            2,
                            tx.createArrayOf(
                                    "bytea",
                                    batch.stream().map(Received::payloadHash).toArray(byte[][]::new)));
                    statement.executeUpdate();
                    tx.commit();
                }
            }
            return backlog / Drain.seconds(began);
        }
    }

    private List<List<Received>> received() {
        List<List<Received>> batches = new ArrayList<>();
        for (int i = 0; i < backlog; i += BATCH) {
            batches.add(Sample.messages(i, BATCH).stream().map(Received::of).toList());
        }
        return batches;
    }
}
