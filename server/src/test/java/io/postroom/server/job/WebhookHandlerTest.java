package io.postroom.server.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.job.JobOutcome;
import io.postroom.relay.Outcome;
import io.postroom.retry.Fault;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a sink's answer means for a job; ServedWorkersTest has it with a real endpoint. */
class WebhookHandlerTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void anAnswerHasOneMeaning() {
        Fault fault = Fault.of("http.503", "busy");
        assertThat(WebhookHandler.outcome(Outcome.accepted())).isEqualTo(JobOutcome.done());
        assertThat(WebhookHandler.outcome(new Outcome.Retry(fault, HOUR))).isEqualTo(new JobOutcome.Retry(fault, HOUR));
        assertThat(WebhookHandler.outcome(new Outcome.Unavailable(fault, HOUR)))
                .isEqualTo(new JobOutcome.Retry(fault, HOUR));
        assertThat(WebhookHandler.outcome(new Outcome.Rejected(fault))).isEqualTo(new JobOutcome.Failed(fault));
        assertThat(WebhookHandler.outcome(new Outcome.Unavailable(fault, null, true)))
                .isEqualTo(new JobOutcome.Failed(fault));
    }

    @ParameterizedTest
    @ValueSource(strings = {"busy", "closed"})
    void whatWasNotSentIsNoAttempt(String errorClass) {
        assertThat(WebhookHandler.outcome(new Outcome.Unavailable(Fault.of(errorClass, "not sent"), null)))
                .isEqualTo(JobOutcome.snooze(Duration.ofSeconds(1)));
    }
}
