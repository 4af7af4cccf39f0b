package io.postroom.opentelemetry;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Scope;
import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A sink whose every message has a span. Safe for use by many threads. */
final class TracedSink implements Sink {
    private final Tracing tracing;
    private final String subscription;
    private final Sink sink;

    TracedSink(Tracing tracing, String subscription, Sink sink) {
        this.tracing = tracing;
        this.subscription = subscription;
        this.sink = sink;
    }

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        Span span = tracing.delivery("send", SpanKind.CLIENT, subscription, envelope);
        Scope scope = span.makeCurrent();
        try {
            CompletionStage<Outcome> stage = sink.send(envelope);
            // The sink's own stage is handed on: the lane knows one that is accepted by sight.
            stage.whenComplete((outcome, thrown) -> end(span, outcome, thrown));
            return stage;
        } catch (Throwable e) {
            Tracing.fail(span, e);
            span.end();
            throw e;
        } finally {
            scope.close();
        }
    }

    private static void end(Span span, @Nullable Outcome outcome, @Nullable Throwable thrown) {
        if (thrown != null) {
            Tracing.fail(span, thrown);
        } else if (outcome instanceof Outcome.Retry retry) {
            Tracing.fail(span, retry.fault().errorClass());
        } else if (outcome instanceof Outcome.Rejected rejected) {
            Tracing.fail(span, rejected.fault().errorClass());
        } else if (outcome instanceof Outcome.Unavailable unavailable) {
            Tracing.fail(span, unavailable.fault().errorClass());
        }
        span.end();
    }

    @Override
    public void flush() {
        sink.flush();
    }

    @Override
    public void close() {
        sink.close();
    }
}
