package io.postroom.server.metrics;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.micrometer.DatabaseSampler;
import io.postroom.postgres.Schema;
import io.postroom.server.postgres.Connections;
import io.postroom.server.web.Deeds;
import io.postroom.server.web.Health;
import io.postroom.server.web.WebServer;
import io.postroom.server.web.WebSettings;
import java.util.List;
import javax.sql.DataSource;

/** Health and metrics of a process that has no console, at its address and behind its gate. Close it to stop them. */
public final class MetricsServer implements AutoCloseable {
    private final HikariDataSource watching;
    private final HikariDataSource reading;
    private final DatabaseSampler figures;
    private final WebServer server;

    private MetricsServer(
            HikariDataSource watching, HikariDataSource reading, DatabaseSampler figures, WebServer server) {
        this.watching = watching;
        this.reading = reading;
        this.figures = figures;
        this.server = server;
    }

    /** Starts to serve; throws if the address cannot be had. */
    public static MetricsServer start(DataSource source, Schema schema, WebSettings settings, Metrics metrics) {
        HikariDataSource watching = Connections.watching(source);
        HikariDataSource reading = Connections.reading(source, 1, DatabaseSampler.STATEMENT_MAX);
        DatabaseSampler figures = metrics.sampler(reading);
        try {
            Postroom looking = Postroom.builder(watching).schema(schema.name()).build();
            WebServer server = WebServer.start(
                    settings,
                    new Health(looking.database()),
                    // There is no page and no call, so nobody does anything.
                    new Deeds(looking, inside -> looking),
                    List.of(metrics));
            figures.start();
            return new MetricsServer(watching, reading, figures, server);
        } catch (RuntimeException e) {
            figures.close();
            reading.close();
            watching.close();
            throw e;
        }
    }

    /** Where Prometheus on this machine finds them. */
    public String url() {
        return server.url() + "metrics";
    }

    @Override
    public void close() {
        figures.close();
        server.close();
        reading.close();
        watching.close();
    }
}
