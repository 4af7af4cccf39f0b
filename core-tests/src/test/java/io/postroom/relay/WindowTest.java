package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.journal.Journal;
import io.postroom.testkit.Messages;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;

/** What a lane has in memory, and how far it may settle. */
class WindowTest {
    private final Window window = new Window(0);

    @Test
    void onlyAFinishedPrefixIsSettled() {
        Slot first = add(1);
        Slot second = add(2);
        window.readTo(2);
        done(second);
        assertThat(window.finished()).isZero();
        done(first);
        assertThat(window.finished()).isEqualTo(2);
        assertThat(window.bytes()).isZero();
    }

    @Test
    void whatWasPassedTakesItsRoomUntilItIsDoneWhereverTheLaneGoesOn() {
        Slot slow = add(1);
        Slot quick = add(2);
        window.readTo(2);
        long both = window.bytes();
        done(quick);
        slow.noted();
        assertThat(window.finished()).isEqualTo(2);
        window.moveTo(50);
        assertThat(window.finished()).isEqualTo(50);
        assertThat(window.messages()).isZero();
        assertThat(window.bytes()).isEqualTo(both / 2);
        Slot next = add(51);
        assertThat(window.bytes()).isEqualTo(both);
        done(slow);
        assertThat(window.bytes()).isEqualTo(both / 2);
        done(next);
        assertThat(window.bytes()).isZero();
    }

    private Slot add(long position) {
        Journal.Place place = new Journal.Place(position, LocalDate.EPOCH);
        Slot slot = Slot.read(new Slot.Id(position, 7, place, 1_000, null), Messages.order("any"));
        window.add(slot);
        return slot;
    }

    private void done(Slot slot) {
        slot.done();
        window.done(slot);
    }
}
