package io.postroom.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The fake keeps the contract that it stands in for, and does as it is told. */
class RecordingSinkTest extends SinkContract {
    private final RecordingSink sink = new RecordingSink();

    @Override
    protected Sink sink() {
        return sink;
    }

    @Override
    protected List<Received> received() {
        return sink.accepted().stream()
                .map(message -> new Received(
                        message.id(),
                        message.aggregateId(),
                        message.payload().getBytes(StandardCharsets.UTF_8),
                        message.headers()))
                .toList();
    }

    @Override
    protected void breakDestination() {
        sink.breakDown();
    }

    @Override
    protected void mendDestination() {
        sink.mend();
    }

    @Test
    void theNewestRuleDecidesForAsLongAsItLasts() {
        Message message = Messages.sample();
        sink.answer(one -> true, Outcome.rejected("always"));
        sink.answer(one -> one.equals(message), Outcome.retry("twice"), 2);
        assertThat(answer(message)).isEqualTo(Outcome.retry("twice"));
        assertThat(answer(Messages.sample())).isEqualTo(Outcome.rejected("always"));
        assertThat(answer(message)).isEqualTo(Outcome.retry("twice"));
        assertThat(answer(message)).isEqualTo(Outcome.rejected("always"));
        assertThat(sink.attempts()).hasSize(4);
        assertThat(sink.accepted()).isEmpty();
    }

    @Test
    void whatHangsIsAcceptedWhenReleased() throws Exception {
        Message message = Messages.sample();
        sink.hang(one -> true);
        CompletableFuture<Outcome> answer =
                sink.send(Messages.firstAttempt(message)).toCompletableFuture();
        assertThat(answer).isNotDone();
        assertThat(sink.hanging()).isEqualTo(1);
        sink.release();
        assertThat(answer).isCompletedWithValue(Outcome.accepted());
        assertThat(sink.awaitAccepted(1, Duration.ZERO)).containsExactly(message);
    }

    @Test
    void throwsWhenToldTo() {
        sink.fail(one -> true, new IllegalStateException("told to"));
        assertThatThrownBy(() -> sink.send(Messages.firstAttempt(Messages.sample())))
                .hasMessage("told to");
    }

    @Test
    void saysWhatIsMissingWhenItWaitedInVain() {
        assertThatThrownBy(() -> sink.awaitAccepted(1, Duration.ofMillis(1)))
                .isInstanceOf(AssertionError.class)
                .hasMessage("expected 1 accepted messages within PT0.001S, got 0");
    }

    private Outcome answer(Message message) {
        return sink.send(Messages.firstAttempt(message)).toCompletableFuture().join();
    }
}
