package io.postroom.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.postroom.telemetry.Telemetry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MeteredTelemetryTest {
    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final MeteredTelemetry telemetry = new MeteredTelemetry(registry);

    @Test
    void countsFailuresByEventTypeAndTimesThemByErrorType() {
        telemetry.failed(new Telemetry.Failure("billing", "OrderPlaced", "retry", "http.503", 1, 2_000_000));
        telemetry.failed(new Telemetry.Failure("billing", "OrderPlaced", "retry", "http.503", 2, 4_000_000));
        telemetry.failed(new Telemetry.Failure("billing", "OrderPaid", "rejected", "http.422", 1, 1_000_000));

        assertThat(counter("postroom.relay.failures", "event.type", "OrderPlaced", "reason", "retry"))
                .isEqualTo(2);
        assertThat(counter("postroom.relay.failures", "event.type", "OrderPaid", "reason", "rejected"))
                .isEqualTo(1);
        assertThat(registry.get("postroom.relay.delivery")
                        .tags("subscription", "billing", "outcome", "retry", "error.type", "http.503")
                        .timer()
                        .count())
                .isEqualTo(2);
        assertThat(counter("postroom.relay.retries", "subscription", "billing")).isEqualTo(1);
    }

    @Test
    void whatIsSentOnceMoreOnPurposeIsNotLate() {
        telemetry.accepted("billing", 1, 1_000, 250);
        telemetry.accepted("billing", 1, 1_000, -1);
        assertThat(registry.get("postroom.relay.commit.to.ack").timer().count()).isEqualTo(1);
        assertThat(registry.get("postroom.relay.delivery").timer().count()).isEqualTo(2);
    }

    @Test
    void aTagHasSoManyValuesAndTheRestIsOther() {
        for (int i = 0; i < 1_000; i++) {
            telemetry.requested("scope-" + i, "executed");
            telemetry.failed(new Telemetry.Failure("billing", "Type" + i, "retry", "error-" + i, 1, 1));
        }
        assertThat(registry.get("postroom.idempotency.requests")
                        .tag("outcome", "executed")
                        .counters())
                .hasSize(PerValue.VALUES_MAX + 1);
        assertThat(counter("postroom.idempotency.requests", "operation", "other"))
                .isEqualTo(1_000 - PerValue.VALUES_MAX);
        assertThat(counter("postroom.relay.failures", "event.type", "other")).isEqualTo(1_000 - PerValue.VALUES_MAX);
        assertThat(registry.get("postroom.relay.failures").counters().stream()
                        .mapToDouble(Counter::count)
                        .sum())
                .isEqualTo(1_000);
        assertThat(registry.getMeters()).hasSizeLessThan(500);
    }

    @Test
    void aMessageMakesNoObjects() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int calls = 10_000;
        long[] bytes = new long[3];
        for (int round = 0; round < bytes.length; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < calls; i++) {
                telemetry.accepted("billing", 1, 1_000 + i, i);
                telemetry.delivered("billing", 1);
            }
            bytes[round] = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(bytes[2] / calls).as("bytes for each message").isLessThan(16);
    }

    @Test
    void whatNobodyTellsAnyMoreIsNotANumber() {
        telemetry.readModelAge("sales", Duration.ofSeconds(3), Duration.ofSeconds(60));
        assertThat(registry.get("postroom.readmodel.age")
                        .tag("read.model", "sales")
                        .gauge()
                        .value())
                .isEqualTo(3);
        Told told = new Told(Duration.ZERO);
        told.tell(1);
        assertThat(told.value()).isNaN();
    }

    @Test
    void daysOfTheArchiveAreCountedByState() {
        telemetry.archiveDays(80, 2, 1);
        telemetry.archiveDays(81, 1, 0);
        assertThat(gauge("archived")).isEqualTo(81);
        assertThat(gauge("stuck")).isEqualTo(1);
        assertThat(gauge("undropped")).isZero();
    }

    private double gauge(String state) {
        return registry.get("postroom.archive.days").tag("state", state).gauge().value();
    }

    @Test
    void theInboxSpeaksTheWordsOfTheConventions() {
        telemetry.received("orders", "first", 3);
        telemetry.received("orders", "duplicate", 2);
        telemetry.received("orders", "conflict", 1);
        assertThat(counter("postroom.inbox.messages", "outcome", "processed")).isEqualTo(3);
        assertThat(counter("postroom.inbox.messages", "outcome", "duplicate")).isEqualTo(2);
        assertThat(counter("postroom.inbox.messages", "outcome", "failed")).isEqualTo(1);
    }

    @Test
    void whatIsServedIsCountedFromZeroOnBeforeAnythingHappens() {
        telemetry.serves("billing");
        telemetry.worksOn("mail", "mail.send");
        assertThat(registry.find("postroom.relay.lanes.takeovers")
                        .tag("subscription", "billing")
                        .counter())
                .isNotNull();
        assertThat(registry.find("postroom.deadletter.added")
                        .tags("subscription", "billing", "reason", "crashed")
                        .counter())
                .isNotNull();
        assertThat(registry.find("postroom.jobs.run")
                        .tags("queue", "mail", "kind", "mail.send", "outcome", "buried")
                        .timer())
                .isNotNull();
    }

    @Test
    void twoSchemasOfOneProcessAreCountedApart() {
        MeteredTelemetry stock = new MeteredTelemetry(registry, "stock");
        telemetry.delivered("billing", 2);
        stock.delivered("billing", 3);
        assertThat(counter("postroom.relay.delivered", "schema", "postroom")).isEqualTo(2);
        assertThat(counter("postroom.relay.delivered", "schema", "stock")).isEqualTo(3);
    }

    private double counter(String name, String... tags) {
        return registry.get(name).tags(tags).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }
}
