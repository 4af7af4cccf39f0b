package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Whose fault it is that a message could not connect. */
class BlameTest {
    private final Blame blame = new Blame();

    /** It hung while they went through; then the destination went away. */
    @Test
    void whatWasAcceptedBeforeAMessageFailedSaysNothingAgainstIt() {
        long sent = System.nanoTime();
        assertThat(blame.failsAlone(7)).isFalse();
        blame.accepted(sent);
        assertThat(blame.failsAlone(7)).isFalse();
    }

    @Test
    void aMessageThatFailsAgainAfterAnotherWasAcceptedFailsAlone() {
        blame.failsAlone(7);
        blame.accepted(System.nanoTime());
        assertThat(blame.failsAlone(8)).as("for the first time").isFalse();
        assertThat(blame.failsAlone(7)).isTrue();
        assertThat(blame.failsAlone(7)).as("nothing was accepted since").isFalse();
    }
}
