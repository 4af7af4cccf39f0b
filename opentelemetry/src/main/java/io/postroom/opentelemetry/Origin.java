package io.postroom.opentelemetry;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.postroom.message.Message;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where a message or a job says that it began. */
final class Origin {
    private static final TextMapGetter<Map<String, String>> HEADERS = new TextMapGetter<>() {
        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
            return headers == null ? null : headers.get(name);
        }
    };

    private Origin() {}

    /** Not valid if the message does not say. */
    static SpanContext of(Message message) {
        return of(message.headers());
    }

    /** The same of what headers say. */
    static SpanContext of(Map<String, String> headers) {
        return Span.fromContext(W3CTraceContextPropagator.getInstance().extract(Context.root(), headers, HEADERS))
                .getSpanContext();
    }
}
