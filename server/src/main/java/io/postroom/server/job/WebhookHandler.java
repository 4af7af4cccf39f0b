package io.postroom.server.job;

import io.postroom.job.JobContext;
import io.postroom.job.JobHandler;
import io.postroom.job.JobOutcome;
import io.postroom.relay.Outcome;
import io.postroom.sink.webhook.Webhook;
import io.postroom.sink.webhook.WebhookSink;
import java.time.Duration;
import java.util.Set;

/**
 * Does a job by sending it as a webhook. The id of the webhook is that of the job, the same at every attempt and after a redrive: if the
 * process dies between the endpoint's answer and the end of the job, the endpoint gets it again and can tell. Used by many threads.
 */
public final class WebhookHandler implements JobHandler {
    /** What the sink calls a webhook that it has not sent: no attempt is counted for that. */
    private static final Set<String> NOT_SENT = Set.of("busy", "closed");

    private static final Duration NOT_SENT_WAIT = Duration.ofSeconds(1);

    private final WebhookSink sink;
    private final JobOrigin origin;

    public WebhookHandler(WebhookSink sink, JobOrigin origin) {
        this.sink = sink;
        this.origin = origin;
    }

    @Override
    public JobOutcome handle(JobContext job) throws Exception {
        Webhook webhook =
                new Webhook(origin.idOf(job.id()), "job " + job.id(), job.kind(), job.tenantId(), job.payload());
        return outcome(sink.send(webhook).toCompletableFuture().get());
    }

    /** An endpoint that wants no more ends the job at once: unlike a subscription, a queue may have other kinds and is not paused for it. */
    static JobOutcome outcome(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return new JobOutcome.Retry(retry.fault(), retry.after());
        }
        if (outcome instanceof Outcome.Rejected rejected) {
            return new JobOutcome.Failed(rejected.fault());
        }
        if (outcome instanceof Outcome.Unavailable unavailable) {
            if (unavailable.forGood()) {
                return new JobOutcome.Failed(unavailable.fault());
            }
            return NOT_SENT.contains(unavailable.fault().errorClass())
                    ? JobOutcome.snooze(NOT_SENT_WAIT)
                    : new JobOutcome.Retry(unavailable.fault(), unavailable.after());
        }
        return JobOutcome.done();
    }
}
