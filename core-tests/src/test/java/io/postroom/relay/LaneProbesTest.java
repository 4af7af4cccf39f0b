package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.journal.Journal;
import io.postroom.retry.Backoff;
import io.postroom.retry.Fault;
import io.postroom.testkit.Messages;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which message finds out whether a destination takes messages again. */
class LaneProbesTest {
    private static final Duration AT_ONCE = Duration.ofNanos(1);
    private static final Fault REFUSED = Fault.of("connect", "refused");

    private final Circuit circuit = new Circuit("any", new Backoff(AT_ONCE, AT_ONCE), () -> {});
    private final LaneProbes probes = new LaneProbes(circuit);
    private final LaneQueue queue = new LaneQueue(Order.KEY);

    @Test
    void everyLaneSendsWhileTheDestinationTakesMessages() {
        LaneProbes other = new LaneProbes(circuit);
        assertThat(probes.send()).as("a probe").isFalse();
        assertThat(other.allowSending()).isTrue();
        assertThat(other.isAwaited()).isFalse();
    }

    @Test
    void oneLaneAtATimeProbesADestinationThatIsOut() {
        LaneProbes other = new LaneProbes(circuit);
        circuit.suspected(REFUSED, false, AT_ONCE);
        assertThat(probes.allowSending()).isTrue();
        assertThat(probes.send()).as("a probe").isTrue();
        assertThat(other.allowSending()).isFalse();
        assertThat(other.isAwaited()).isTrue();
        probes.leave();
        assertThat(other.allowSending())
                .as("when nobody will answer that probe")
                .isTrue();
        circuit.answered(System.nanoTime());
        assertThat(probes.isOut()).isFalse();
    }

    @Test
    void whatWasTurnedAwayTakesTurnsWithWhatWasNotSentYet() {
        Slot first = slot(1);
        Slot second = slot(2);
        Slot third = slot(3);
        queue.add(List.of(first, second, third));
        turnAwayNext(first);
        turnAwayNext(second);
        turnAwayNext(first);
        turnAwayNext(third);
        turnAwayNext(second);
        turnAwayNext(first);
        turnAwayNext(third);
    }

    @Test
    void whatIsDueHasItsTurnWhenNothingElseIsThatWasNotTurnedAway() {
        Slot first = slot(1);
        Slot second = slot(2);
        queue.add(List.of(first, second));
        turnAwayNext(first);
        assertThat(probes.isDueNext(queue, false)).as("the second is next").isFalse();
        turnAwayNext(second);
        assertThat(probes.isDueNext(queue, false)).as("the first is next").isFalse();
        turnAwayNext(first);
        assertThat(probes.isDueNext(queue, false)).isTrue();
    }

    @Test
    void whatCanBeReadGoesBeforeWhatWasDueAndTurnedAwayUntilThereIsNone() {
        circuit.suspected(REFUSED, false, AT_ONCE);
        assertThat(probes.isDueNext(queue, true)).isTrue();
        probes.takeTurns(slot(1), true);
        assertThat(probes.isDueNext(queue, true)).isFalse();
        assertThat(probes.isDueNext(queue, false)).isTrue();
        probes.foundNoneToRead();
        assertThat(probes.isDueNext(queue, true)).isTrue();
    }

    private void turnAwayNext(Slot expected) {
        Slot next = queue.next(probes.isUnsentNext());
        assertThat(next).as("the next").isSameAs(expected);
        next.fly(System.nanoTime(), probes.send());
        next.land();
        circuit.suspected(REFUSED, next.isProbe(), AT_ONCE);
        probes.takeTurns(next, false);
        queue.turnAway(next);
    }

    private static Slot slot(long position) {
        Journal.Place place = new Journal.Place(position, LocalDate.EPOCH);
        return Slot.read(new Slot.Id(position, (int) position, place, 1_000, null), Messages.order("any"));
    }
}
