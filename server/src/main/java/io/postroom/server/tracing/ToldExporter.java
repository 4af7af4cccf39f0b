package io.postroom.server.tracing;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An exporter that says when it begins to fail and when it is well again, and nothing in between. Safe for use by many threads. */
final class ToldExporter implements SpanExporter {
    private static final Logger LOG = LoggerFactory.getLogger(ToldExporter.class);

    private final SpanExporter exporter;
    private final String endpoint;
    private final AtomicBoolean failing = new AtomicBoolean();

    ToldExporter(SpanExporter exporter, String endpoint) {
        this.exporter = exporter;
        this.endpoint = endpoint;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
        CompletableResultCode result = exporter.export(spans);
        int count = spans.size();
        result.whenComplete(() -> tell(result.isSuccess(), count));
        return result;
    }

    private void tell(boolean taken, int count) {
        if (taken && failing.compareAndSet(true, false)) {
            LOG.info("{} takes spans again", endpoint);
        } else if (!taken && failing.compareAndSet(false, true)) {
            LOG.warn(
                    "could not send {} spans to {}: it does not take them; they are dropped, and so are others until it does",
                    count,
                    endpoint);
        }
    }

    @Override
    public CompletableResultCode flush() {
        return exporter.flush();
    }

    @Override
    public CompletableResultCode shutdown() {
        return exporter.shutdown();
    }
}
