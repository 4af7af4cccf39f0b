package io.postroom.job;

import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import io.postroom.retry.Fault;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What became of one attempt at a job, as its handler says. */
public sealed interface JobOutcome {

    /** It is done, with a result as JSON for whoever looks, or without. */
    record Done(@Nullable String result) implements JobOutcome {
        static final Done PLAIN = new Done(null);

        public Done {
            if (result != null) {
                check(result);
            }
        }

        private static void check(String result) {
            int bytes = result.getBytes(StandardCharsets.UTF_8).length;
            if (bytes > JobRules.RESULT_BYTES_MAX) {
                throw new InvalidJobException(
                        "job.result-too-large",
                        "could not end a job: its result is " + bytes + " bytes, the limit is "
                                + JobRules.RESULT_BYTES_MAX + "; store it elsewhere and return a reference");
            }
            // By the rules of payloads: whoever reads a result must be able to.
            MessageRules.check(Message.about("job", "result")
                    .event("result")
                    .payload(result)
                    .occurredAt(Instant.EPOCH)
                    .build());
        }
    }

    /** Not this time: the attempt counts as failed. {@code after}: the least wait, up to the cap of the policy. */
    record Retry(Fault fault, @Nullable Duration after) implements JobOutcome {
        public Retry {
            Objects.requireNonNull(fault, "fault");
        }
    }

    /** Never: another attempt cannot help. The job becomes a dead letter. */
    record Failed(Fault fault) implements JobOutcome {
        public Failed {
            Objects.requireNonNull(fault, "fault");
        }
    }

    /** Later, and no attempt is counted: there was nothing to do yet. */
    record Snooze(Duration after) implements JobOutcome {
        public Snooze {
            if (after.isNegative() || after.compareTo(JobRules.RUN_AFTER_MAX) > 0) {
                throw new InvalidJobException(
                        "job.snooze-invalid",
                        "could not snooze a job: the wait is " + after + ", the range is 0 to "
                                + JobRules.RUN_AFTER_MAX.toDays() + " days");
            }
        }
    }

    static JobOutcome done() {
        return Done.PLAIN;
    }

    /** Done, with a result of JSON text, of {@value JobRules#RESULT_BYTES_MAX} bytes at most. */
    static JobOutcome done(String result) {
        return new Done(result);
    }

    static JobOutcome retry(String reason) {
        return new Retry(Fault.of("retry", reason), null);
    }

    static JobOutcome retry(String reason, Duration after) {
        return new Retry(Fault.of("retry", reason), after);
    }

    static JobOutcome failed(String reason) {
        return new Failed(Fault.of("failed", reason));
    }

    static JobOutcome snooze(Duration after) {
        return new Snooze(after);
    }
}
