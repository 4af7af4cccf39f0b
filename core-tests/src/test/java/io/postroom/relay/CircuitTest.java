package io.postroom.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.retry.Backoff;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Whose fault it is that a message could not connect. */
class CircuitTest {
    private final Circuit circuit =
            new Circuit("any", new Backoff(Duration.ofMillis(1), Duration.ofSeconds(1)), () -> {});

    /** It hung while they went through; then the destination went away. */
    @Test
    void whatWasAcceptedBeforeAMessageFailedSaysNothingAgainstIt() {
        long sent = System.nanoTime();
        assertThat(circuit.failsAlone(7)).isFalse();
        circuit.accepted(sent);
        assertThat(circuit.failsAlone(7)).isFalse();
    }

    @Test
    void aMessageThatFailsAgainAfterAnotherWasAcceptedFailsAlone() {
        circuit.failsAlone(7);
        circuit.accepted(System.nanoTime());
        assertThat(circuit.failsAlone(8)).as("for the first time").isFalse();
        assertThat(circuit.failsAlone(7)).isTrue();
        assertThat(circuit.failsAlone(7)).as("nothing was accepted since").isFalse();
    }
}
