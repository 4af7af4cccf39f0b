package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Database;
import io.postroom.postgres.Schema;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.CrashingDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A node that stands still while it lets jobs through, with its connection open: the others go on soon. */
class FrozenGateTest {
    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    /** Stands still after the statement, before its commit. */
    private static void freezeAfter(String statement) {
        String text = Schema.POSTROOM.sql(GateTable.class, statement).text();
        CrashPoint hold = CrashPoint.hold(statement, 1);
        Database database = new Database(
                new CrashingDataSource(shop.database.dataSource()).after(text::equals, hold), Schema.POSTROOM);
        Gate gate = new Gate(database, new Settler(new SettleTable(Schema.POSTROOM), "frozen"));
        Threads.start("frozen at " + statement, () -> database.run(gate::open));
        Workshop.await(() -> statement + " was run", () -> hold.times() > 0);
    }

    @Test
    void jobsOfTheSameLimitAndJobsThatWaitForOthersGoOnWithoutIt() {
        shop.postroom.database().transact(tx -> {
            shop.jobs.declare(tx, Limit.ofConcurrency("customer", 2));
            return true;
        });
        long limited = shop.enqueue(Job.of("work", "1").limit("customer", "acme"));
        long first = shop.enqueue(Job.of("work", "2"));
        long second = shop.enqueue(Job.of("work", "3").after(first));
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        assertThat(hand.complete(hand.claim(1))).containsExactly(first);
        freezeAfter("admit.sql");
        freezeAfter("meet_needs.sql");
        try (Workers living = shop.workers()
                .queue("default", 2)
                .handle("work", job -> JobOutcome.done())
                .build()) {
            living.start();
            long another = shop.enqueue(Job.of("work", "4").limit("customer", "another"));
            long later = shop.enqueue(Job.of("work", "5"));
            long last = shop.enqueue(Job.of("work", "6").after(later));
            for (long id : new long[] {another, limited, second, last}) {
                shop.awaitState(id, "done");
            }
        }
    }
}
