package io.postroom.server.tracing;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.postroom.opentelemetry.Tracing;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Makes spans and sends them to a collector, in batches, on a thread of its own. A delivery never waits for it: spans for which there is
 * no room are dropped, and so are those that a collector does not take. Close it to send what is left. Safe for use by many threads.
 */
public final class Traces implements AutoCloseable {
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CLOSING = Duration.ofSeconds(5);

    /** Its words are ours: {@link ToldExporter}. Held, since the JDK forgets the level of a logger that nobody holds. */
    private static final Logger LIBRARY = Logger.getLogger("io.opentelemetry");

    private final SdkTracerProvider provider;
    private final Tracing tracing;

    private Traces(SdkTracerProvider provider) {
        this.provider = provider;
        tracing = new Tracing(
                OpenTelemetrySdk.builder().setTracerProvider(provider).build());
    }

    /** Begins; the collector need not be there. */
    public static Traces start(TracingSettings settings) {
        LIBRARY.setLevel(Level.OFF);
        OtlpHttpSpanExporterBuilder exporter =
                OtlpHttpSpanExporter.builder().setEndpoint(settings.traces()).setTimeout(TIMEOUT);
        settings.headers().forEach(exporter::addHeader);
        BatchSpanProcessor batches = BatchSpanProcessor.builder(new ToldExporter(exporter.build(), settings.endpoint()))
                .setScheduleDelay(INTERVAL)
                .build();
        return new Traces(SdkTracerProvider.builder()
                .setResource(Resource.getDefault()
                        .merge(Resource.create(Attributes.builder()
                                .put("service.name", settings.serviceName())
                                .build())))
                .setSampler(Sampler.traceIdRatioBased(settings.sample()))
                .addSpanProcessor(batches)
                .build());
    }

    public Tracing tracing() {
        return tracing;
    }

    @Override
    public void close() {
        provider.shutdown().join(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
    }
}
