package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.postgres.Schema;
import io.postroom.telemetry.Telemetry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
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
        Completer completer = completer(telemetry);
        ClaimedJob job = hand.claim(1).get(0);
        completer.submit(new Ended(job, new Verdict.Done(null), 0));
        completer.submit(new Ended(job, new Verdict.Done(null), 0));
        completer.writeNow();
        completer.closeLine();
        assertThat(shop.state(id)).isEqualTo("done");
        assertThat(stale).isEmpty();
    }

    /** Whoever claims more then only lets more wait. */
    @Test
    void whatDoesNotFitIntoTheNextBatchIsTooMuch() throws InterruptedException {
        int batch = 1_000;
        shop.enqueueAll(Collections.nCopies(batch + 1, Job.of("work", "1").build()));
        Hand hand = new Hand(shop, "hand", Kind.of("work", job -> JobOutcome.done()));
        Completer completer = completer(Telemetry.NONE);
        List<ClaimedJob> jobs = hand.claim(batch + 1);
        jobs.subList(0, batch).forEach(job -> completer.submit(new Ended(job, new Verdict.Done(null), 0)));
        assertThat(completer.keepsUp()).isTrue();
        completer.submit(new Ended(jobs.get(batch), new Verdict.Done(null), 0));
        assertThat(completer.keepsUp()).isFalse();
        completer.writeNow();
        completer.closeLine();
        assertThat(completer.keepsUp()).isTrue();
        assertThat(jobs).allSatisfy(job -> assertThat(shop.state(job.id())).isEqualTo("done"));
    }

    private static Completer completer(Telemetry telemetry) {
        return new Completer(
                shop.postroom.database(),
                new Settler(new SettleTable(Schema.POSTROOM), "hand"),
                new Held(),
                over -> {},
                telemetry,
                "hand");
    }
}
