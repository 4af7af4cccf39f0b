package io.postroom.server.tail;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.server.message.BreakableOutput;
import io.postroom.server.message.MessageLine;
import io.postroom.testkit.Messages;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LineSinkTest {
    private final BreakableOutput output = new BreakableOutput();
    private final AtomicInteger ended = new AtomicInteger();

    @Test
    void leavesWhatIsBeyondTheLimitUnansweredUntilItIsGivenBack() {
        LineSink sink = sink(3);
        List<CompletableFuture<Outcome>> answers = send(sink, 5);
        assertThat(answers.subList(0, 3)).allMatch(answer -> answer.getNow(null) instanceof Outcome.Accepted);
        assertThat(answers.subList(3, 5)).noneMatch(CompletableFuture::isDone);
        assertThat(ended).hasValue(1);
        assertThat(output.messages()).hasSize(3);
        sink.giveBack();
        assertThat(answers.subList(3, 5)).allMatch(answer -> answer.getNow(null) instanceof Outcome.Unavailable);
    }

    @Test
    void endsTheTailWhenTheOutputFailsAndCountsOnlyWhatIsWritten() {
        LineSink sink = sink(3);
        output.fill();
        assertThat(send(sink, 3)).allMatch(answer -> answer.getNow(null) instanceof Outcome.Unavailable);
        assertThat(ended).hasValue(1);
        assertThat(sink.failure()).hasMessage("No space left on device");
        assertThat(sink.printed()).isZero();
        int before = output.messages().size();
        output.empty();
        assertThat(send(sink, 3)).allMatch(answer -> answer.getNow(null) instanceof Outcome.Accepted);
        assertThat(output.messages()).hasSize(before + 3);
    }

    private LineSink sink(long limit) {
        return new LineSink(output, new MessageLine(false), limit, ended::incrementAndGet);
    }

    private static List<CompletableFuture<Outcome>> send(LineSink sink, int count) {
        List<CompletableFuture<Outcome>> answers = new ArrayList<>();
        for (Message message : Messages.sequence("o-1", count)) {
            answers.add(sink.send(new Envelope(answers.size() + 1L, message, 1)).toCompletableFuture());
        }
        sink.flush();
        return answers;
    }
}
