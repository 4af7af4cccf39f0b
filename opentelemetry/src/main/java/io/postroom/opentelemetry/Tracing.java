package io.postroom.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.postroom.job.Job;
import io.postroom.job.JobContext;
import io.postroom.job.JobHandler;
import io.postroom.job.JobOutcome;
import io.postroom.job.Jobs;
import io.postroom.job.TransactionalJobHandler;
import io.postroom.job.TypedJobHandler;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.outbox.Outbox;
import io.postroom.relay.Handler;
import io.postroom.relay.Projection;
import io.postroom.relay.Sink;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/**
 * Puts spans around what an application gives to Postroom: its outbox, sinks, handlers, projections and jobs. What it returns behaves as what
 * it was given, whatever becomes of the spans. Safe for use by many threads.
 */
public final class Tracing {
    /** A span of a batch has links to so many of its messages; OpenTelemetry's own limit is the same. */
    static final int LINKS_MAX = 128;

    private final Tracer tracer;

    public Tracing(OpenTelemetry openTelemetry) {
        this.tracer = openTelemetry.getTracer("io.postroom");
    }

    /** Publishes within a span whose context the messages carry. */
    public TracedOutbox outbox(Outbox outbox) {
        return new TracedOutbox(outbox, this);
    }

    /** Enqueues within a span whose context the jobs carry. */
    public TracedJobs jobs(Jobs jobs) {
        return new TracedJobs(jobs, this);
    }

    /** A span for each message that the sink is given, until it answers. */
    public Sink sink(String subscription, Sink sink) {
        return new TracedSink(this, subscription, sink);
    }

    /** A span for each message; it is current while the handler runs. */
    public Handler handler(String subscription, Handler handler) {
        return envelope -> {
            Span span = delivery("process", SpanKind.CONSUMER, subscription, envelope);
            Scope scope = span.makeCurrent();
            try {
                handler.handle(envelope);
            } catch (Throwable e) {
                fail(span, e);
                throw e;
            } finally {
                scope.close();
                span.end();
            }
        };
    }

    /** A span for each batch, with links to its messages; it is current while the projection runs. To be put before an inbox. */
    public Projection projection(String subscription, Projection projection) {
        return (tx, batch) -> {
            Span span = batch(subscription, batch);
            Scope scope = span.makeCurrent();
            try {
                projection.apply(tx, batch);
            } catch (Throwable e) {
                fail(span, e);
                throw e;
            } finally {
                scope.close();
                span.end();
            }
        };
    }

    /** A span for each attempt at a job, with a link to where it was enqueued; it is current while the handler runs. */
    public JobHandler job(JobHandler handler) {
        return job -> attempt(job, () -> handler.handle(job));
    }

    /** The same for a handler that works in the job's transaction. The span ends before the commit. */
    public TransactionalJobHandler transactionalJob(TransactionalJobHandler handler) {
        return (tx, job) -> attempt(job, () -> handler.handle(tx, job));
    }

    /** The same for a handler that gets its payload read. */
    public <T> TypedJobHandler<T> typedJob(TypedJobHandler<T> handler) {
        return (payload, job) -> attempt(job, () -> handler.handle(payload, job));
    }

    private JobOutcome attempt(JobContext job, Callable<JobOutcome> handler) throws Exception {
        SpanBuilder builder = delivery("process", SpanKind.CONSUMER, job.queue())
                .setAttribute(Conventions.MESSAGE_ID, Long.toString(job.id()))
                .setAttribute(Conventions.JOB_KIND, job.kind())
                .setAttribute(Conventions.ATTEMPT, (long) job.attempt());
        link(builder, Origin.of(job.headers()));
        Span span = builder.startSpan();
        Scope scope = span.makeCurrent();
        try {
            JobOutcome outcome = handler.call();
            if (outcome instanceof JobOutcome.Retry retry) {
                fail(span, retry.fault().errorClass());
            } else if (outcome instanceof JobOutcome.Failed failed) {
                fail(span, failed.fault().errorClass());
            }
            return outcome;
        } catch (Throwable e) {
            fail(span, e);
            throw e;
        } finally {
            scope.close();
            span.end();
        }
    }

    /** A span for what the current thread publishes. */
    Span publication(List<Message> messages) {
        String destination = Objects.requireNonNull(messages.get(0), "message 0 of the batch is null")
                .aggregateType();
        SpanBuilder builder = creation("publish", destination);
        if (messages.size() == 1) {
            name(builder, messages.get(0));
        } else {
            builder.setAttribute(Conventions.BATCH_COUNT, (long) messages.size());
        }
        return builder.startSpan();
    }

    /** A span for what the current thread enqueues. A job has its number when it is inserted. */
    Span enqueuing(List<Job> jobs) {
        Job first = Objects.requireNonNull(jobs.get(0), "job 0 of the batch is null");
        SpanBuilder builder = creation("enqueue", first.queue());
        if (jobs.size() == 1) {
            builder.setAttribute(Conventions.JOB_KIND, first.kind());
        } else {
            builder.setAttribute(Conventions.BATCH_COUNT, (long) jobs.size());
        }
        return builder.startSpan();
    }

    private SpanBuilder creation(String operation, String destination) {
        return tracer.spanBuilder(operation + " " + destination)
                .setSpanKind(SpanKind.PRODUCER)
                .setAttribute(Conventions.SYSTEM, Conventions.POSTROOM)
                .setAttribute(Conventions.OPERATION_NAME, operation)
                .setAttribute(Conventions.OPERATION_TYPE, "create")
                .setAttribute(Conventions.DESTINATION, destination);
    }

    /** Does it while the span is current, and ends the span. */
    static <T> T within(Span span, Supplier<T> work) {
        Scope scope = span.makeCurrent();
        try {
            return work.get();
        } catch (RuntimeException | Error e) {
            fail(span, e);
            throw e;
        } finally {
            scope.close();
            span.end();
        }
    }

    Span delivery(String operation, SpanKind kind, String subscription, Envelope envelope) {
        SpanBuilder builder = delivery(operation, kind, subscription)
                .setAttribute(Conventions.ATTEMPT, (long) envelope.attempt())
                .setAttribute(Conventions.POSITION, envelope.position());
        name(builder, envelope.message());
        link(builder, envelope);
        return builder.startSpan();
    }

    private Span batch(String subscription, List<Envelope> batch) {
        SpanBuilder builder = delivery("process", SpanKind.CONSUMER, subscription)
                .setAttribute(Conventions.BATCH_COUNT, (long) batch.size());
        batch.stream().limit(LINKS_MAX).forEach(envelope -> link(builder, envelope));
        return builder.startSpan();
    }

    private SpanBuilder delivery(String operation, SpanKind kind, String subscription) {
        return tracer.spanBuilder(operation + " " + subscription)
                .setSpanKind(kind)
                .setNoParent()
                .setAttribute(Conventions.SYSTEM, Conventions.POSTROOM)
                .setAttribute(Conventions.OPERATION_NAME, operation)
                .setAttribute(Conventions.OPERATION_TYPE, operation)
                .setAttribute(Conventions.DESTINATION, subscription)
                .setAttribute(Conventions.CONSUMER_GROUP, subscription);
    }

    private static void name(SpanBuilder builder, Message message) {
        builder.setAttribute(Conventions.MESSAGE_ID, message.id().toString())
                .setAttribute(Conventions.EVENT_ID, message.id().toString())
                .setAttribute(Conventions.EVENT_TYPE, message.eventType());
    }

    private static void link(SpanBuilder builder, Envelope envelope) {
        link(builder, Origin.of(envelope.message()));
    }

    private static void link(SpanBuilder builder, SpanContext origin) {
        if (origin.isValid()) {
            builder.addLink(origin);
        }
    }

    /** Only the kind of error: what an exception says may quote a payload. */
    static void fail(Span span, Throwable thrown) {
        fail(span, thrown.getClass().getName());
    }

    static void fail(Span span, String errorType) {
        span.setAttribute(Conventions.ERROR_TYPE, errorType).setStatus(StatusCode.ERROR);
    }
}
