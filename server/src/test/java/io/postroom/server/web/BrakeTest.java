package io.postroom.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class BrakeTest {
    private Instant now = Instant.parse("2026-11-16T12:00:00Z");
    private final Brake brake = new Brake(new Clock() {
        @Override
        public Instant instant() {
            return now;
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    });

    private void wrong(int times) {
        for (int i = 0; i < times; i++) {
            brake.wrong("10.0.0.1");
        }
    }

    @Test
    void someWrongTokensCostNothingAndFurtherOnesMoreAndMore() {
        wrong(Brake.FREE - 1);
        assertThat(brake.wait("10.0.0.1")).isZero();
        wrong(1);
        assertThat(brake.wait("10.0.0.1")).isEqualTo(Brake.WAIT);
        wrong(1);
        assertThat(brake.wait("10.0.0.1")).isEqualTo(Brake.WAIT.multipliedBy(2));
        wrong(100);
        assertThat(brake.wait("10.0.0.1")).isEqualTo(Brake.WAIT_MAX);
        assertThat(brake.wait("10.0.0.2")).isZero();
        now = now.plus(Brake.WAIT_MAX);
        assertThat(brake.wait("10.0.0.1")).isZero();
    }

    @Test
    void timeMakesItGood() {
        wrong(Brake.FREE);
        now = now.plus(Duration.ofHours(1));
        wrong(1);
        assertThat(brake.wait("10.0.0.1")).isZero();
    }
}
