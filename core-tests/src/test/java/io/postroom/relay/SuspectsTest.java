package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Who may send while a lane has messages that a relay may have died of. */
class SuspectsTest {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Suspects suspects = new Suspects();
    private final Object one = new Object();
    private final Object other = new Object();

    @Test
    void oneLaneAtATimeHasThem() {
        assertThat(suspects.enter(one)).isTrue();
        assertThat(suspects.enter(one)).as("again").isTrue();
        assertThat(suspects.enter(other)).isFalse();
        suspects.leave(one);
        assertThat(suspects.enter(other)).isTrue();
    }

    @Test
    void whileThereAreManyEverybodySends() {
        suspects.enter(one);
        suspects.fly();
        assertThat(suspects.allow(one)).isTrue();
        assertThat(suspects.allow(other)).isTrue();
    }

    @Test
    void aSingleOneGoesWhenNothingElseIsOnItsWay() {
        suspects.fly();
        suspects.fly();
        suspects.enter(one);
        suspects.isolate(one);
        assertThat(suspects.allow(other)).isFalse();
        suspects.land(1);
        awaitHush();
        assertThat(suspects.allow(one)).as("while another is on its way").isFalse();
        suspects.land(1);
        assertThat(suspects.allow(one)).isTrue();
        assertThat(suspects.allow(other)).isFalse();
    }

    @Test
    void nothingElseGoesWhileItIsOnItsWay() {
        suspects.enter(one);
        suspects.isolate(one);
        awaitHush();
        assertThat(suspects.allow(one)).isTrue();
        suspects.fly();
        assertThat(suspects.allow(one)).as("another of its own lane").isFalse();
        assertThat(suspects.allow(other)).isFalse();
        suspects.land(1);
        suspects.leave(one);
        assertThat(suspects.allow(one)).isTrue();
        assertThat(suspects.allow(other)).isTrue();
    }

    @Test
    void whoHasNoneEndsNothingByLeaving() {
        suspects.enter(one);
        suspects.isolate(one);
        suspects.leave(other);
        assertThat(suspects.enter(other)).isFalse();
        assertThat(suspects.allow(other)).isFalse();
    }

    @Test
    void aLaneThatWasAboutToSendHasDoneSoBeforeTheSingleOneGoes() {
        suspects.enter(one);
        long isolated = System.nanoTime();
        suspects.isolate(one);
        long deadline = isolated + PATIENCE_NANOS;
        while (!suspects.allow(one)) {
            assertThat(System.nanoTime()).as("it goes in the end").isLessThan(deadline);
            LockSupport.parkNanos(100_000);
        }
        assertThat(System.nanoTime() - isolated).isGreaterThanOrEqualTo(RelaySettings.HUSH.toNanos());
    }

    /** Until those that asked just before the isolation have sent. */
    private static void awaitHush() {
        long until = System.nanoTime() + RelaySettings.HUSH.toNanos();
        while (until - System.nanoTime() >= 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }
}
