package io.postroom.fault;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The checker itself is checked: fed a bad history it must say so, or every other test here proves nothing. */
class HistoryTest {
    private final History history = new History();
    private final History.Stored first = new History.Stored(UUID.randomUUID(), "a", 1, 1);
    private final History.Stored second = new History.Stored(UUID.randomUUID(), "a", 2, 2);
    private final History.Stored third = new History.Stored(UUID.randomUUID(), "b", 1, 3);
    private final List<History.Stored> stored = List.of(first, second, third);

    @BeforeEach
    void acknowledge() {
        history.acknowledged(List.of(first.id(), second.id(), third.id()));
    }

    @Test
    void findsNothingInAGoodHistory() {
        deliver(first, third, second, first);
        assertThat(history.violations(stored)).isEmpty();
        assertThat(history.duplicates()).isEqualTo(1);
    }

    @Test
    void findsALostMessage() {
        deliver(first, third);
        assertThat(history.violations(stored)).singleElement().asString().startsWith("lost: 1");
    }

    @Test
    void findsAnInventedMessage() {
        deliver(first, second, third, new History.Stored(UUID.randomUUID(), "c", 1, 4));
        assertThat(history.violations(stored)).singleElement().asString().startsWith("invented: 1");
    }

    @Test
    void findsAMessageThatOvertookAnother() {
        deliver(second, first, third);
        assertThat(history.violations(stored))
                .singleElement()
                .asString()
                .startsWith("delivered out of order")
                .contains("a version 1 after 2");
    }

    @Test
    void findsARolledBackMessageThatWasDelivered() {
        History.Stored ghost = new History.Stored(UUID.randomUUID(), "c", 1, 4);
        history.failed(List.of(ghost.id()));
        deliver(first, second, third, ghost);
        assertThat(history.violations(stored)).anyMatch(line -> line.startsWith("failed but delivered: 1"));
    }

    @Test
    void findsAnAcknowledgedWriteThatIsGone() {
        history.acknowledged(List.of(UUID.randomUUID()));
        deliver(first, second, third);
        assertThat(history.violations(stored)).singleElement().asString().startsWith("acknowledged but not stored: 1");
    }

    @Test
    void letsAnUnknownWriteBeThereOrNot() {
        History.Stored fourth = new History.Stored(UUID.randomUUID(), "b", 2, 4);
        history.unknown(List.of(fourth.id(), UUID.randomUUID()));
        deliver(first, second, third, fourth);
        assertThat(history.violations(List.of(first, second, third, fourth))).isEmpty();
    }

    @Test
    void findsGapsAndRepetitionsInPositions() {
        History.Stored jumped = new History.Stored(third.id(), "b", 1, 4);
        deliver(first, second, jumped);
        assertThat(history.violations(List.of(first, second, jumped)))
                .singleElement()
                .asString()
                .startsWith("positions");
        History.Stored repeated = new History.Stored(third.id(), "b", 1, 2);
        assertThat(history.violations(List.of(first, second, repeated)))
                .anyMatch(line -> line.startsWith("positions"))
                .anyMatch(line -> line.startsWith("delivered at two positions"));
    }

    @Test
    void letsAKeyGoOnWithoutWhatWasWithheld() {
        history.withheld(List.of(first.id()));
        deliver(second, third);
        assertThat(history.violations(stored)).isEmpty();
    }

    @Test
    void findsADeliveryOfWhatWasWithheld() {
        history.withheld(List.of(first.id()));
        deliver(second, third, first);
        assertThat(history.violations(stored)).singleElement().asString().startsWith("withheld but delivered: 1");
    }

    @Test
    void findsAGapThatNothingExcuses() {
        History.Stored fourth = new History.Stored(UUID.randomUUID(), "a", 3, 4);
        history.acknowledged(List.of(fourth.id()));
        history.withheld(List.of(first.id()));
        deliver(third, fourth, second);
        assertThat(history.violations(List.of(first, second, third, fourth)))
                .singleElement()
                .asString()
                .startsWith("delivered out of order");
    }

    @Test
    void letsAScheduledMessageComeInItsOwnTime() {
        history.scheduled(List.of(first.id()));
        deliver(second, third, first);
        assertThat(history.violations(stored)).isEmpty();
    }

    private void deliver(History.Stored... messages) {
        for (History.Stored one : messages) {
            history.delivered(new History.Delivery("relay", one.id(), one.key(), one.version(), one.position()));
        }
    }
}
