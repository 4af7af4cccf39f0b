package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CompleterTest {
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

    /** As an Error may leave it, out of memory say. */
    @Test
    void aClaimThatIsThereTwiceIsOneAndNotStale() throws InterruptedException {
        List<String> stale = new ArrayList<>();
        Telemetry telemetry = new Telemetry() {
            @Override
            public void staleJob(String queue, String kind) {
                stale.add(kind);
            }
        };
        long id = shop.enqueue(Job.of("work", "1"));
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        Completer completer = completer(new Held(), telemetry);
        ClaimedJob job = hand.claim(1).get(0);
        completer.submit(new Ended(job, new Verdict.Done(null), 0));
        completer.submit(new Ended(job, new Verdict.Done(null), 0));
        completer.writeNow();
        completer.closeLine();
        assertThat(shop.state(id)).isEqualTo("done");
        assertThat(stale).isEmpty();
    }

    @Test
    void muchIsWrittenByTwoAndEachEndOnce() throws InterruptedException {
        Set<String> writers = ConcurrentHashMap.newKeySet();
        AtomicInteger stale = new AtomicInteger();
        Telemetry telemetry = new Telemetry() {
            @Override
            public void jobRan(String queue, String kind, String outcome, Duration took) {
                writers.add(Thread.currentThread().getName());
            }

            @Override
            public void staleJob(String queue, String kind) {
                stale.incrementAndGet();
            }
        };
        List<Long> ids = new ArrayList<>();
        Job job = Job.of("work", "1").build();
        for (int i = 0; i < 15; i++) {
            ids.addAll(shop.enqueueAll(Collections.nCopies(1_000, job)));
        }
        // Between them, what is not simply done.
        Job cancelled = Job.of("work", "2").build();
        ids.addAll(shop.enqueueAll(Collections.nCopies(50, cancelled)));
        Hand hand = new Hand(shop, "hand", Kind.of("work", each -> JobOutcome.done()));
        Held held = new Held();
        Completer completer = completer(held, telemetry);
        List<ClaimedJob> claimed = new ArrayList<>(hand.claim(ids.size()));
        Collections.shuffle(claimed);
        for (ClaimedJob each : claimed) {
            held.add(each);
            completer.submit(new Ended(
                    each, each.payload().equals("2") ? new Verdict.Cancelled(true, null) : new Verdict.Done(null), 0));
        }
        completer.start();
        completer.stop(Duration.ofMinutes(1));
        assertThat(writers).containsExactlyInAnyOrder("postroom-complete-hand", "postroom-complete-too-hand");
        assertThat(shop.rows("select state, count(*), count(distinct id) from postroom.job_done group by 1 order by 1"))
                .containsExactly("cancelled|50|50", "done|15000|15000");
        assertThat(shop.rows("select * from postroom.job")).isEmpty();
        assertThat(held.isEmpty()).isTrue();
        assertThat(stale).hasValue(0);
    }

    private static Completer completer(Held held, Telemetry telemetry) {
        return new Completer(
                shop.postroom.database(),
                new Settler(new SettleTable(Schema.POSTROOM), "hand"),
                held,
                limit -> {},
                telemetry,
                "hand");
    }
}
