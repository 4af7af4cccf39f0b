package io.postroom.benchmark;

import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedrivePlan;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What an operator waits for who has many dead letters to redrive. */
final class Redriving {
    private static final String SECTION = "Redrive of 100,000 dead letters";
    private static final int LETTERS = 100_000;
    private static final int CONFLICTS = 17;
    private static final int LANES = 4;
    private static final int ROUNDS = 5;
    private static final DeadLetterFilter ALL_OF_IT = DeadLetterFilter.ofOwner("bench");

    private final BenchDatabase database;
    private final Postroom postroom;
    private final Redrives redrives;

    Redriving(BenchDatabase database, Postroom postroom) {
        this.database = database;
        this.postroom = postroom;
        this.redrives = postroom.deadLetters().redrives();
    }

    void run(Report report) throws Exception {
        buryAll();
        double[] previews = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long began = System.nanoTime();
            RedrivePlan plan = postroom.deadLetters().plan(ALL_OF_IT);
            previews[round] = Drain.seconds(began);
            // Neither one too few nor a false alarm.
            if (plan.letters() != LETTERS
                    || plan.conflicts().keys() != CONFLICTS
                    || !plan.conflicts().exact()) {
                throw new IllegalStateException("the plan is wrong: " + plan);
            }
        }
        report.atMost(
                SECTION,
                "preview: how many, of which keys, which of them have seen newer messages",
                Measure.median(previews) * 1_000,
                "ms",
                2_000);
        try (Relay relay = postroom.relay()
                .deliver(subscription(), envelope -> Outcome.acceptedStage())
                .build()) {
            relay.start();
            report.atMost(
                    SECTION, "cancel, until no more are redriven, while relays deliver", cancel() * 1_000, "ms", 5_000);
            report.figure(SECTION, "redriven and delivered", redriveTheRest(), "messages/s");
        }
    }

    private void buryAll() {
        publish(LETTERS);
        try (Relay relay = postroom.relay()
                .deliver(subscription(), envelope -> CompletableFuture.completedFuture(Outcome.rejected("no")))
                .build()) {
            while (open() < LETTERS) {
                relay.runOnce();
            }
        }
        publish(CONFLICTS);
        try (Relay relay = postroom.relay()
                .deliver(subscription(), envelope -> Outcome.acceptedStage())
                .build()) {
            relay.runOnce();
        }
    }

    private double cancel() throws Exception {
        Redrive redrive = redrives.request(request());
        CompletableFuture<Redrive> run = CompletableFuture.supplyAsync(() -> runOn(redrive));
        while (redrives.get(redrive.request().id()).done() < LETTERS / 20) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
        long began = System.nanoTime();
        redrives.cancel(redrive.request().id(), "bench", "measured");
        Redrive ended = run.get(1, TimeUnit.MINUTES);
        double seconds = Drain.seconds(began);
        if (ended.done() >= LETTERS) {
            throw new IllegalStateException("it was over before it was cancelled");
        }
        return seconds;
    }

    private double redriveTheRest() throws InterruptedException {
        long left = open();
        long began = System.nanoTime();
        runOn(redrives.request(request()));
        while (database.queryLong("select count(*) from postroom.delivery") > 0) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return left / Drain.seconds(began);
    }

    private Redrive runOn(Redrive redrive) {
        try {
            return redrives.run(redrive.request().id(), progress -> {});
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private long open() {
        return database.queryLong("select count(*) from postroom.dead_letter where resolution is null");
    }

    private void publish(int keys) {
        database.execute(
                "insert into postroom.outbox (id, aggregate_type, aggregate_id, event_type, payload) select gen_random_uuid(), 'order',"
                        + " 'o-' || n, 'OrderPlaced', '" + Sample.payload(1).replace("'", "''")
                        + "' from generate_series(1, " + keys + ") as n",
                "analyze postroom.outbox");
    }

    private static RedriveRequest request() {
        return RedriveRequest.redrive(ALL_OF_IT)
                .actor("bench")
                .reason("to measure")
                .build();
    }

    private static Subscription subscription() {
        return Subscription.named("bench").lanes(LANES).build();
    }
}
