package io.postroom.telemetry;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceState;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The trace that the current thread works for, as W3C headers, if the application uses OpenTelemetry.
 *
 * <p>OpenTelemetry is not a dependency of applications that do without it: its classes are touched only if they are there.
 */
public final class TraceContext {
    private static final boolean PRESENT = isPresent();

    private TraceContext() {}

    /** {@code traceparent} and, where there is one, {@code tracestate}; empty outside a trace. */
    public static Map<String, String> headers() {
        return PRESENT ? OpenTelemetry.headers() : Map.of();
    }

    private static boolean isPresent() {
        try {
            Class.forName("io.opentelemetry.api.trace.Span", false, TraceContext.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Loaded only when OpenTelemetry is present. */
    private static final class OpenTelemetry {
        static Map<String, String> headers() {
            SpanContext span = Span.current().getSpanContext();
            if (!span.isValid()) {
                return Map.of();
            }
            String parent = "00-" + span.getTraceId() + "-" + span.getSpanId() + "-"
                    + span.getTraceFlags().asHex();
            TraceState state = span.getTraceState();
            return state.isEmpty()
                    ? Map.of("traceparent", parent)
                    : Map.of("traceparent", parent, "tracestate", text(state));
        }

        private static String text(TraceState state) {
            return state.asMap().entrySet().stream()
                    .map(entry -> entry.getKey() + "=" + entry.getValue())
                    .collect(Collectors.joining(","));
        }
    }
}
