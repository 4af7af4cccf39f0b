package io.postroom.server.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.postroom.micrometer.DatabaseSampler;
import io.postroom.micrometer.MeteredTelemetry;
import io.postroom.postgres.Schema;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import io.postroom.telemetry.Telemetry;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.sql.DataSource;

/** The metrics of the process, and where Prometheus reads them. Safe for use by many threads. */
public final class Metrics implements WebServer.Feature {
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Schema schema;
    private final MeteredTelemetry telemetry;

    public Metrics(Schema schema) {
        this.schema = schema;
        this.telemetry = new MeteredTelemetry(registry, schema.name());
    }

    /** To be given to whatever this process runs. */
    public Telemetry telemetry() {
        return telemetry;
    }

    public MeterRegistry registry() {
        return registry;
    }

    /** Looks at the database for these metrics, once it is started and until it is closed. */
    public DatabaseSampler sampler(DataSource source) {
        return new DatabaseSampler(
                source, schema.name(), registry, List.of(new SizeReading(schema), new UpkeepReading(schema)));
    }

    @Override
    public void add(Routes routes) {
        routes.page(
                "/metrics",
                context -> context.contentType(TEXT).result(registry.scrape().getBytes(StandardCharsets.UTF_8)));
    }
}
