package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a worker says of itself, beat by beat, without threads. */
class HeartTest {
    private static final Kind WORK = Kind.of("work", job -> JobOutcome.done());

    private static Workshop shop;

    @BeforeAll
    static void open() {
        shop = new Workshop();
    }

    @AfterAll
    static void close() {
        shop.close();
    }

    @BeforeEach
    void clear() {
        shop.clear();
    }

    /** A process that was started anew may beat first: the others, whose leases ran out, are alive and late. */
    @Test
    void whoeverStartsAfterAnOutageTakesNobodyForDeadAtOnce() {
        Heart patient = new Hand(shop, "patient", Duration.ofHours(1), WORK).heart(new Held());
        assertThat(patient.isSteady()).as("before it has beaten").isFalse();
        patient.beatOnce();
        patient.beatOnce();
        assertThat(patient.isTrusted()).isTrue();
        assertThat(patient.isSteady())
                .as("before the others had the time to beat")
                .isFalse();
    }

    @Test
    void butALeaseLater() {
        Heart quick = new Hand(shop, "quick", Duration.ofSeconds(1), WORK).heart(new Held());
        Workshop.await(() -> "a lease is over", () -> {
            quick.beatOnce();
            return quick.isSteady();
        });
    }

    @Test
    void aWorkerThatLeavesWhileItHasJobsStaysUntilTheyAreTaken() {
        shop.enqueue(Job.of("work", "1"));
        Hand hand = new Hand(shop, "leaving", WORK);
        Held held = new Held();
        ClaimedJob job = hand.claim(1).get(0);
        held.add(job);
        hand.heart(held).withdrawOnce();
        assertThat(workers()).isOne();
        held.remove(job);
        hand.heart(held).withdrawOnce();
        assertThat(workers()).isZero();
    }

    private static long workers() {
        return shop.database.queryLong("select count(*) from postroom.worker");
    }
}
