package io.postroom.server.job;

import io.postroom.job.JobContext;
import io.postroom.job.JobOutcome;
import io.postroom.job.TransactionalJobHandler;
import io.postroom.message.InvalidMessageException;
import io.postroom.message.Message;
import io.postroom.message.MessageRules;
import io.postroom.outbox.Outbox;
import io.postroom.retry.Fault;
import io.postroom.server.terminal.Quoted;
import java.sql.Connection;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Does a job by publishing a message, in the transaction that ends the job: exactly one message for each job, whatever dies. The payload,
 * the tenant and the headers are the job's. Used by many threads.
 */
public final class PublishHandler implements TransactionalJobHandler {
    private final Outbox outbox;
    private final Event event;

    public PublishHandler(Outbox outbox, Event event) {
        this.outbox = outbox;
        this.event = event;
    }

    /**
     * What to publish.
     *
     * @param aggregateId the same for every job; null if {@code field} says where it is
     * @param field a name in the payload, or several with dots between; null if {@code aggregateId} is given
     */
    public record Event(
            String aggregateType,
            @Nullable String aggregateId,
            @Nullable String field,
            String eventType,
            int eventVersion) {
        private static final Pattern FIELD = Pattern.compile("[^.]+(\\.[^.]+)*");

        public Event {
            if ((aggregateId == null) == (field == null)) {
                throw new IllegalArgumentException("give either aggregate-id or aggregate-id-field");
            }
            if (field != null && !FIELD.matcher(field).matches()) {
                throw new IllegalArgumentException("aggregate-id-field is '" + Quoted.text(field, 60)
                        + "', it must be a name in the payload, or several with dots between");
            }
            // By the rules of messages, before there is any job.
            MessageRules.check(message(aggregateType, aggregateId == null ? "1" : aggregateId, eventType, eventVersion)
                    .payload("{}")
                    .build());
        }

        private static Message.Builder message(String aggregateType, String id, String eventType, int eventVersion) {
            return Message.about(aggregateType, id).event(eventType).eventVersion(eventVersion);
        }

        private Optional<Message> of(JobContext job) {
            return idOf(job.payload())
                    .map(id -> message(aggregateType, id, eventType, eventVersion)
                            .tenantId(job.tenantId())
                            .headers(job.headers())
                            .payload(job.payload())
                            .build());
        }

        private Optional<String> idOf(String payload) {
            if (field == null) {
                return Optional.of(Objects.requireNonNull(aggregateId));
            }
            JsonNode found = JsonMapper.shared().readTree(payload);
            for (String name : field.split("\\.", -1)) {
                found = found.path(name);
            }
            return found.isString() || found.isIntegralNumber() ? Optional.of(found.asString()) : Optional.empty();
        }
    }

    @Override
    public JobOutcome handle(Connection tx, JobContext job) {
        Optional<Message> message;
        try {
            message = event.of(job);
            if (message.isEmpty()) {
                return failed("could not publish job " + job.id() + ": its payload has no text or whole number in "
                        + event.field() + ", which is the aggregate id; enqueue it with one");
            }
            outbox.publish(tx, message.get());
        } catch (InvalidMessageException e) {
            return failed(String.valueOf(e.getMessage()));
        }
        return JobOutcome.done();
    }

    private static JobOutcome failed(String reason) {
        return new JobOutcome.Failed(Fault.of("invalid-message", reason));
    }
}
