package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Sink;
import io.postroom.relay.Subscription;
import io.postroom.retry.RetryPolicy;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** What messages that fail cost those that do not. */
final class Failing {
    private static final String SECTION = "When delivery fails";
    private static final int PARKED_KEYS = 100;
    private static final int PARKED = 100_000;
    private static final int LANES = 4;

    private final EmbeddedPostgres server;
    private final int backlog;

    Failing(EmbeddedPostgres server, int backlog) {
        this.server = server;
        this.backlog = backlog;
    }

    void run(Report report, int rounds) throws Exception {
        double[] none = new double[rounds];
        double[] failing = new double[rounds];
        double[] parked = new double[rounds];
        double[] stamped = new double[rounds];
        double[] outage = new double[rounds];
        // What counts is how the code runs once the compiler is done with it.
        drain(false, envelope -> false);
        drain(false, Failing::isOfAFailingKey);
        for (int round = 0; round < rounds; round++) {
            none[round] = drain(false, envelope -> false);
            failing[round] = drain(false, Failing::isOfAFailingKey);
            parked[round] = drainBesideParked();
            stamped[round] = drain(true, envelope -> false);
            outage[round] = drainAfterOutage();
        }
        report.figure(SECTION, "nothing fails", Measure.median(none), "messages/s");
        report.figure(
                SECTION,
                "1 % of the keys fail for ever, five attempts each message: the others",
                Measure.median(failing),
                "messages/s");
        report.figure(SECTION, "beside 100,000 parked messages", Measure.median(parked), "messages/s");
        report.figure(SECTION, "nothing fails, stamped already", Measure.median(stamped), "messages/s");
        report.figure(SECTION, "the backlog of an outage, once it is over", Measure.median(outage), "messages/s");
        report.ratio(SECTION, "others while 1 % of the keys fail", Measure.ratio(failing, none), 0.8);
        report.ratio(SECTION, "others beside 100,000 parked", Measure.ratio(parked, none), 0.9);
        report.ratio(SECTION, "after an outage, against a stamped backlog", Measure.ratio(outage, stamped), 0.9);
    }

    /** The rate of the messages that do not fail. */
    private double drain(boolean stamped, Predicate<Envelope> fails) throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            Postroom postroom = database.migrated();
            database.execute(Sample.backlog(backlog), "checkpoint");
            if (stamped) {
                postroom.journal().stampAll();
            }
            return healthy(postroom, fails);
        }
    }

    /** The same, in a subscription in which a hundred keys have a thousand messages each behind one that waits for an hour. */
    private double drainBesideParked() throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            Postroom postroom = database.migrated();
            database.execute(
                    "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload) select gen_random_uuid(),"
                            + " 'parked', 'p-' || n % " + PARKED_KEYS + ", 'OrderPlaced', '{}' from generate_series(1, "
                            + (PARKED + PARKED_KEYS) + ") as n");
            try (Relay relay = postroom.relay()
                    .deliver(subscription(), envelope -> CompletableFuture.completedFuture(Outcome.retry("not today")))
                    .build()) {
                while (database.queryLong("select count(*) from postroom.delivery where state = 'parked'") < PARKED) {
                    relay.runOnce();
                }
            }
            database.execute(Sample.backlog(backlog), "checkpoint");
            return healthy(postroom, envelope -> false);
        }
    }

    private double healthy(Postroom postroom, Predicate<Envelope> fails) throws Exception {
        AtomicLong seen = new AtomicLong();
        CountDownLatch all = new CountDownLatch(1);
        long count = fails.test(Sample.envelope(0)) ? backlog - backlog / 100 : backlog;
        Subscription subscription = fails.test(Sample.envelope(0))
                ? Subscription.named("bench").lanes(LANES).build()
                : subscription();
        Sink sink = envelope -> {
            if (fails.test(envelope)) {
                return CompletableFuture.completedFuture(Outcome.retry("not today"));
            }
            if (seen.incrementAndGet() == count) {
                all.countDown();
            }
            return Outcome.acceptedStage();
        };
        return timed(postroom, subscription, sink, all, count, System.nanoTime());
    }

    /** The backlog comes while the destination takes nothing; the clock runs from the first message that it takes. */
    private double drainAfterOutage() throws Exception {
        try (BenchDatabase database = BenchDatabase.create(server)) {
            Postroom postroom = database.migrated();
            AtomicBoolean well = new AtomicBoolean();
            AtomicLong began = new AtomicLong();
            AtomicLong seen = new AtomicLong();
            CountDownLatch all = new CountDownLatch(1);
            Sink sink = envelope -> {
                if (!well.get()) {
                    return CompletableFuture.completedFuture(Outcome.unavailable("down"));
                }
                if (seen.incrementAndGet() == 1) {
                    began.set(System.nanoTime());
                }
                if (seen.get() == backlog) {
                    all.countDown();
                }
                return Outcome.acceptedStage();
            };
            try (Relay relay = relay(postroom, subscription(), sink)) {
                relay.start();
                database.execute(Sample.backlog(backlog), "checkpoint");
                while (database.queryLong("select max(position) from postroom.tick") < backlog) {
                    TimeUnit.MILLISECONDS.sleep(50);
                }
                well.set(true);
                await(all);
                return backlog / Drain.seconds(began.get());
            }
        }
    }

    private static double timed(
            Postroom postroom, Subscription subscription, Sink sink, CountDownLatch all, long count, long began)
            throws InterruptedException {
        try (Relay relay = relay(postroom, subscription, sink)) {
            relay.start();
            await(all);
            return count / Drain.seconds(began);
        }
    }

    private static Relay relay(Postroom postroom, Subscription subscription, Sink sink) {
        return postroom.relay()
                .probe(Duration.ofMillis(100), Duration.ofSeconds(1))
                .stopGrace(Duration.ofSeconds(5))
                .deliver(subscription, sink)
                .build();
    }

    private static void await(CountDownLatch all) throws InterruptedException {
        if (!all.await(10, TimeUnit.MINUTES)) {
            throw new IllegalStateException("not all messages came");
        }
    }

    private static Subscription subscription() {
        return Subscription.named("bench")
                .lanes(LANES)
                .retry(RetryPolicy.builder()
                        .linear(Duration.ofHours(1))
                        .attemptsMax(10)
                        .build())
                .build();
    }

    private static boolean isOfAFailingKey(Envelope envelope) {
        String id = envelope.message().aggregateId();
        return id.endsWith("00") || id.equals("o-0");
    }
}
