package io.postroom.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.schedule.FixedRate;
import io.postroom.schedule.Schedule;
import io.postroom.testkit.JobProbe;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What users test their jobs with. */
class JobProbeTest {
    private static Workshop shop;
    private JobProbe probe;

    private final AtomicInteger mails = new AtomicInteger();
    private final Kind mail = Kind.of("mail.send", job -> {
        mails.incrementAndGet();
        return job.attempt() == 1 && job.payload().contains("late") ? JobOutcome.retry("not yet") : JobOutcome.done();
    });

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
        shop.database.execute("truncate postroom.schedule, postroom.schedule_run");
        probe = new JobProbe(shop.postroom);
    }

    @Test
    void seesWhatWasEnqueuedAndRunsWhatIsDueNow() {
        probe.assertNotEnqueued("mail.send");
        assertThatThrownBy(() -> probe.assertEnqueued("mail.send"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("there are 0");
        shop.enqueue(Job.of("mail.send", "{\"to\":\"ann\"}").queue("mail"));
        assertThat(probe.assertEnqueued("mail.send").payload()).isEqualTo("{\"to\":\"ann\"}");
        assertThat(probe.runDue(mail)).isEqualTo(1);
        assertThat(mails).hasValue(1);
        probe.assertNotEnqueued("mail.send");
        assertThat(shop.rows("select * from postroom.worker")).isEmpty();
    }

    @Test
    void movesTimeForRetriesAndForWhatIsLater() {
        shop.enqueue(Job.of("mail.send", "{}").runAfter(Duration.ofDays(3)));
        shop.enqueue(Job.of("mail.send", "\"late\"").retry("linear step=1h cap=1h"));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        assertThat(probe.runDue(mail)).isZero();
        probe.moveTime(Duration.ofHours(2));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        probe.moveTime(Duration.ofDays(3));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        assertThat(mails).hasValue(3);
    }

    @Test
    void runsWhatSchedulesAndEndsOfOthersLetGo() {
        shop.postroom
                .database()
                .transact(tx -> shop.postroom
                        .schedules()
                        .put(
                                tx,
                                Schedule.of(
                                        "digest",
                                        FixedRate.every(Duration.ofDays(1)),
                                        Job.of("mail.send", "{}").build())));
        long first = shop.enqueue(Job.of("mail.send", "1"));
        long second = shop.enqueue(Job.of("mail.send", "2").after(first));
        assertThat(probe.runDue(mail)).isEqualTo(2);
        assertThat(shop.state(second)).isEqualTo("done");
        Instant next = shop.postroom.schedules().next("digest", 1).get(0);
        probe.moveTime(Duration.between(Instant.now(), next).plusSeconds(1));
        assertThat(probe.runDue(mail)).isEqualTo(1);
    }

    /** By far more than a minute after its time: whoever had looked all the while would have seen each. */
    @Test
    void everyTimeOfAScheduleFiresThatLiesInTheTimeThatWasMoved() {
        shop.postroom
                .database()
                .transact(tx -> shop.postroom
                        .schedules()
                        .put(
                                tx,
                                Schedule.of(
                                        "daily",
                                        FixedRate.every(Duration.ofDays(1)),
                                        Job.of("mail.send", "{}").build())));
        shop.enqueue(Job.of("mail.send", "{}"));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        probe.moveTime(Duration.ofDays(2));
        assertThat(probe.runDue(mail)).isEqualTo(2);
        probe.moveTime(Duration.ofDays(1));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        probe.moveTime(Duration.ofDays(1));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        assertThat(probe.runDue(mail)).isZero();
    }

    @Test
    void aDelayIsCountedFromTheEndInMovedTime() {
        shop.postroom
                .database()
                .transact(tx -> shop.postroom
                        .schedules()
                        .put(
                                tx,
                                Schedule.withDelay(
                                        "delayed",
                                        Duration.ofHours(2),
                                        Job.of("mail.send", "{}").build())));
        shop.enqueue(Job.of("mail.send", "{}"));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        probe.moveTime(Duration.ofHours(2));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        probe.moveTime(Duration.ofHours(1));
        assertThat(probe.runDue(mail)).isZero();
        probe.moveTime(Duration.ofHours(1));
        assertThat(probe.runDue(mail)).isEqualTo(1);
    }

    @Test
    void jobsOfOtherKindsStayAsTheyAre() {
        Kind other = Kind.of("other", job -> JobOutcome.done());
        for (int i = 0; i < 150; i++) {
            shop.enqueue(Job.of("other", "{}").priority(1));
        }
        shop.enqueue(Job.of("mail.send", "{}"));
        assertThat(probe.runDue(mail)).isEqualTo(1);
        assertThat(shop.text("select count(*) from postroom.job where waits is null and attempt = 0"))
                .isEqualTo("150");
        assertThat(probe.runDue(other)).isEqualTo(150);
    }
}
