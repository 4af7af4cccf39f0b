package io.postroom.server.metrics;

import io.postroom.Postroom;
import io.postroom.job.Job;
import io.postroom.message.Upcasters;
import io.postroom.postgres.Schema;
import io.postroom.relay.Outcome;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.serve.Console;
import io.postroom.server.web.WebSettings;
import io.postroom.telemetry.Telemetry;
import io.postroom.testkit.Messages;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A server after a while: something was delivered, something failed, a job waits, and an application has used the rest. */
final class LiveServer {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private LiveServer() {}

    /** What it shows to Prometheus. */
    static String scrape() throws Exception {
        Metrics metrics = new Metrics(Schema.POSTROOM);
        try (TestDatabase database = TestDatabase.create()) {
            Postroom postroom = Postroom.builder(database.dataSource())
                    .telemetry(metrics.telemetry())
                    .build();
            work(postroom, database);
            pretend(metrics.telemetry());
            try (Console console = Console.start(
                    database.dataSource(), Schema.POSTROOM, Upcasters.NONE, WebSettings.local(0), metrics)) {
                return await(console.url() + "metrics");
            }
        }
    }

    private static void work(Postroom postroom, TestDatabase database) throws Exception {
        RecordingSink sink = new RecordingSink()
                .answer(message -> message.aggregateId().equals("bad"), Outcome.rejected("no such order"));
        try (Relay relay = postroom.relay()
                .name("node-1")
                .lease(PATIENCE)
                .deliver(Subscription.named("billing").build(), sink)
                .build()) {
            try (Connection tx = database.begin()) {
                postroom.outbox().publish(tx, Messages.order("good"));
                postroom.outbox().publish(tx, Messages.order("bad"));
                postroom.jobs()
                        .enqueue(tx, Job.of("mail.send", "{}").queue("mail").build());
                tx.commit();
            }
            relay.runOnce();
            relay.runOnce();
        }
        // Nobody gives it back: somebody is to be seen who has it.
        postroom.relay()
                .name("node-2")
                .lease(PATIENCE)
                .deliver(Subscription.named("billing").build(), sink)
                .build()
                .runOnce();
        postroom.maintenance().runOnce();
    }

    /** What only applications do, and what is not worth a disaster here. */
    private static void pretend(Telemetry telemetry) {
        telemetry.received("orders", "first", 1);
        telemetry.requested("order.create", "executed");
        telemetry.steps("order.create", "resumed");
        telemetry.externalCall("charge", "done");
        telemetry.readModelAge("sales", Duration.ofSeconds(1), Duration.ofSeconds(60));
        telemetry.jobWaited("mail", "mail.send", Duration.ofSeconds(1));
        telemetry.jobRan("mail", "mail.send", "done", Duration.ofSeconds(1));
        telemetry.staleJob("mail", "mail.send");
        telemetry.timesMissed("nightly", 1);
    }

    private static String await(String url) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        // What is read last.
        while (!get(url).contains("postroom_db_oldest_xmin_age{")) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("the server has not read its database: " + get(url));
            }
            LockSupport.parkNanos(20_000_000);
        }
        // Once more: the last one may have begun before all that was read had its meter.
        return get(url);
    }

    private static String get(String url) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}
