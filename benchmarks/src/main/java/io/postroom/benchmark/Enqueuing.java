package io.postroom.benchmark;

import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import io.postroom.Postroom;
import io.postroom.job.Job;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;

/** What a job costs the transaction that enqueues it. */
final class Enqueuing {
    private static final String SECTION = "Jobs: enqueue in a business transaction";
    private static final String BULK = "Jobs: bulk enqueue";
    private static final Set<String> LEFT_TO_THE_OWNER = Set.of("close", "commit", "rollback", "setAutoCommit");

    private final EmbeddedPostgres server;
    private final BenchDatabase database;
    private final Postroom postroom;

    Enqueuing(EmbeddedPostgres server, BenchDatabase database, Postroom postroom) {
        this.server = server;
        this.database = database;
        this.postroom = postroom;
        Booking.createTables(database);
        DbScheduler.createTable(database);
    }

    /** Adds a job to a transaction. */
    @FunctionalInterface
    private interface Addition {
        void add(Connection tx, Booking booking) throws Exception;
    }

    void run(Report report, int rounds, int transactions) throws Exception {
        Addition job = (tx, booking) ->
                postroom.jobs().enqueue(tx, Job.of("confirm", booking.json()).build());
        // What comes later is compared with what comes first, which must not pay for what the compiler has yet to do.
        against(rounds / 2, transactions, job);
        Measure.Pair ours = against(rounds, transactions, job);
        report.figure(SECTION, "transaction of two statements", ours.second(), "transactions/s");
        report.figure(SECTION, "the same with a job", ours.first(), "transactions/s");
        report.ratio(SECTION, "with a job against without", ours.ratio(), 0.7);
        Measure.Pair peer = against(rounds, transactions, schedule());
        report.figure(SECTION, "the same with a db-scheduler task", peer.first(), "transactions/s");
        report.note(
                SECTION,
                String.format(
                        Locale.ROOT,
                        "A db-scheduler task in the same transaction leaves %.2f of it. JobRunr without a framework enqueues on a"
                                + " connection of its own, so a rollback leaves the job; it is not compared.",
                        peer.ratio()));
        nodePeers(report, rounds, transactions);
        Measure.Pair bulk = bulk(rounds);
        report.figure(BULK, "raw multi-row insert of the same rows", bulk.second(), "jobs/s");
        report.figure(BULK, "enqueueAll, batches of 1,000", bulk.first(), "jobs/s");
        Connection holder = database.holdSnapshot();
        try (holder) {
            again(report, rounds, transactions, job, ours, "a held snapshot", 0.8);
        }
        Burning.letWait(database, Burning.MILLION);
        database.execute("vacuum analyze postroom.job", "checkpoint");
        again(report, rounds, transactions, job, ours, "a million waiting", 0.9);
    }

    /** Queues for Node.js take a job by a statement of theirs, which any client may run: here the same one runs both. */
    private void nodePeers(Report report, int rounds, int transactions) throws Exception {
        if (!NodePeer.install()) {
            report.note(SECTION, "graphile-worker and pg-boss were not measured: npm could not fetch them.");
            return;
        }
        NodePeer.prepare(database, "graphile.js");
        Measure.Pair graphile =
                against(rounds, transactions, by("select graphile_worker.add_job('confirm', ?::json)", "%s"));
        report.figure(
                SECTION,
                "the same with a job of graphile-worker 0.18, its add_job",
                graphile.first(),
                "transactions/s");
        String insert = NodePeer.prepare(database, "pgboss.js").replace("$1", "?");
        Measure.Pair boss = against(rounds, transactions, by(insert, "[{\"data\":%s}]"));
        report.figure(SECTION, "the same with a job of pg-boss 12.35, its own insert", boss.first(), "transactions/s");
        report.note(
                SECTION,
                String.format(
                        Locale.ROOT,
                        "A job of graphile-worker leaves %.2f of the transaction, one of pg-boss %.2f.",
                        graphile.ratio(),
                        boss.ratio()));
    }

    private static Addition by(String sql, String payload) {
        return (tx, booking) -> {
            try (PreparedStatement add = tx.prepareStatement(sql)) {
                add.setString(1, payload.replace("%s", booking.json()));
                add.execute();
            }
        };
    }

    /** The same under worse conditions, against what it was without them. */
    private void again(
            Report report, int rounds, int transactions, Addition job, Measure.Pair ours, String with, double least)
            throws Exception {
        Measure.Pair share = against(rounds, transactions, job);
        report.figure(SECTION, "the same with a job, with " + with, share.first(), "transactions/s");
        report.ratio(
                SECTION, "what a job leaves with " + with + " against without", share.ratio() / ours.ratio(), least);
        // Side by side with a table that has no such trouble: what an hour does to a machine is more than what is asked
        // for.
        try (BenchDatabase other = BenchDatabase.create(server)) {
            Postroom without = other.migrated();
            Measure.Pair all = Measure.inTurn(
                    rounds, () -> enqueueAll(database, postroom, 20), () -> enqueueAll(other, without, 20));
            report.figure(BULK, "enqueueAll, with " + with, all.first(), "jobs/s");
            report.ratio(BULK, "enqueueAll with " + with + " against without", all.ratio(), least);
        }
    }

    private Measure.Pair bulk(int rounds) throws Exception {
        return Measure.inTurn(rounds, () -> enqueueAll(database, postroom, 20), () -> insertAll(20));
    }

    private Measure.Pair against(int rounds, int transactions, Addition addition) throws Exception {
        return Measure.inTurn(
                rounds, () -> rate(transactions, addition), () -> rate(transactions, (tx, booking) -> {}));
    }

    private double rate(int transactions, Addition addition) throws Exception {
        long began = System.nanoTime();
        try (Connection tx = database.connection(false)) {
            for (int i = 0; i < transactions; i++) {
                addition.add(tx, Booking.book(tx));
                tx.commit();
            }
        }
        return transactions / Drain.seconds(began);
    }

    /** One client for all transactions, over a data source that gives it the connection of the current one. */
    private Addition schedule() throws Exception {
        Connection[] current = new Connection[1];
        SchedulerClient client;
        try (Connection asked = database.connection(false)) {
            current[0] = asked;
            // It asks which database this is.
            client = DbScheduler.client(joined(current));
        }
        return (tx, booking) -> {
            current[0] = tx;
            client.scheduleIfNotExists(
                    new TaskInstance<>("confirm", UUID.randomUUID().toString(), booking.json()), Instant.now());
        };
    }

    /** As frameworks do it: a data source that gives the transaction's connection to whoever asks, and keeps it open. */
    private static DataSource joined(Connection[] current) {
        ClassLoader loader = Enqueuing.class.getClassLoader();
        Object kept = Proxy.newProxyInstance(loader, new Class<?>[] {Connection.class}, (proxy, method, args) -> {
            if (LEFT_TO_THE_OWNER.contains(method.getName())) {
                return null;
            }
            try {
                return method.invoke(current[0], args);
            } catch (InvocationTargetException e) {
                throw e.getTargetException();
            }
        });
        return (DataSource) Proxy.newProxyInstance(
                loader,
                new Class<?>[] {DataSource.class},
                (proxy, method, args) -> method.getName().equals("getConnection") ? kept : null);
    }

    private static double enqueueAll(BenchDatabase database, Postroom postroom, int batches) throws Exception {
        List<Job> jobs =
                Collections.nCopies(1_000, Job.of("confirm", "{\"n\":1}").build());
        long began = System.nanoTime();
        try (Connection tx = database.connection(false)) {
            for (int i = 0; i < batches; i++) {
                postroom.jobs().enqueueAll(tx, jobs);
                tx.commit();
            }
        }
        return batches * jobs.size() / Drain.seconds(began);
    }

    private double insertAll(int batches) throws Exception {
        String rows = String.join(", ", Collections.nCopies(100, "('default', 'confirm', ?::json)"));
        long began = System.nanoTime();
        try (Connection tx = database.connection(false);
                PreparedStatement insert =
                        tx.prepareStatement("insert into postroom.job (queue, kind, payload) values " + rows)) {
            for (int i = 0; i < batches; i++) {
                for (int part = 0; part < 10; part++) {
                    for (int n = 1; n <= 100; n++) {
                        insert.setString(n, "{\"n\":1}");
                    }
                    insert.executeUpdate();
                }
                tx.commit();
            }
        }
        return batches * 1_000 / Drain.seconds(began);
    }
}
