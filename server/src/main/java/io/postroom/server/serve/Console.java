package io.postroom.server.serve;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.message.Upcasters;
import io.postroom.micrometer.DatabaseSampler;
import io.postroom.postgres.Schema;
import io.postroom.server.audit.AuditPages;
import io.postroom.server.deadletter.Carrier;
import io.postroom.server.deadletter.DeadLetterPages;
import io.postroom.server.deadletter.RedrivePages;
import io.postroom.server.doctor.DoctorPages;
import io.postroom.server.footprint.FootprintPages;
import io.postroom.server.idempotency.KeyPages;
import io.postroom.server.job.JobPages;
import io.postroom.server.message.MessagePages;
import io.postroom.server.metrics.Metrics;
import io.postroom.server.overview.OverviewPages;
import io.postroom.server.overview.Sampler;
import io.postroom.server.postgres.Connections;
import io.postroom.server.projection.ReadModelPages;
import io.postroom.server.schedule.SchedulePages;
import io.postroom.server.settings.Given;
import io.postroom.server.settings.SettingsPages;
import io.postroom.server.subscription.SubscriptionPages;
import io.postroom.server.web.Deeds;
import io.postroom.server.web.Health;
import io.postroom.server.web.WebServer;
import io.postroom.server.web.WebSettings;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Console, API and health, with their connections. Close it to stop them. */
public final class Console implements AutoCloseable {
    private static final Duration STATEMENT_MAX = Duration.ofSeconds(2);
    private static final Duration PLAN_STATEMENT_MAX = Duration.ofSeconds(10);
    private static final Duration ACT_STATEMENT_MAX = Duration.ofSeconds(30);
    private static final Duration LOCK_MAX = Duration.ofSeconds(5);
    private static final int READING = 6;
    private static final int PLANNING = 2;
    private static final int ACTING = 3;

    private final HikariDataSource watching;
    private final HikariDataSource reading;
    private final HikariDataSource planning;
    private final HikariDataSource acting;
    private final Sampler sampler;
    private final DatabaseSampler figures;
    private final Carrier carrier;
    private final WebServer server;

    private Console(
            HikariDataSource watching,
            HikariDataSource reading,
            HikariDataSource planning,
            HikariDataSource acting,
            Sampler sampler,
            DatabaseSampler figures,
            Carrier carrier,
            WebServer server) {
        this.watching = watching;
        this.reading = reading;
        this.planning = planning;
        this.acting = acting;
        this.sampler = sampler;
        this.figures = figures;
        this.carrier = carrier;
        this.server = server;
    }

    /** Starts to serve a database by itself; throws if the address cannot be had. */
    public static Console start(DataSource source, Schema schema, Upcasters upcasters, WebSettings settings) {
        return start(source, schema, upcasters, settings, new Metrics(schema));
    }

    /** The same, with the metrics of whatever else the process runs. */
    public static Console start(
            DataSource source, Schema schema, Upcasters upcasters, WebSettings settings, Metrics metrics) {
        return start(source, schema, upcasters, settings, metrics, List.of(), List.of("console"), List.of());
    }

    /** The same, with pages that not every console has, what else the process runs, and the settings that were given to it. */
    public static Console start(
            DataSource source,
            Schema schema,
            Upcasters upcasters,
            WebSettings settings,
            Metrics metrics,
            List<WebServer.Feature> more,
            List<String> parts,
            List<Given> given) {
        HikariDataSource watching = Connections.watching(source);
        HikariDataSource reading = Connections.reading(source, READING, STATEMENT_MAX);
        // What a redrive would do takes longer than a page; whoever asks for it must not keep others from looking or
        // acting.
        HikariDataSource planning = Connections.reading(source, PLANNING, PLAN_STATEMENT_MAX);
        HikariDataSource acting = Connections.acting(source, ACTING, ACT_STATEMENT_MAX, LOCK_MAX);
        Postroom looking = postroom(reading, schema, upcasters);
        Postroom doing = postroom(acting, schema, upcasters);
        Sampler sampler = new Sampler(looking);
        DatabaseSampler figures = metrics.sampler(reading);
        Carrier carrier = new Carrier(doing.deadLetters().redrives());
        try {
            WebServer server = WebServer.start(
                    settings,
                    new Health(postroom(watching, schema, upcasters).database()),
                    new Deeds(doing, inside -> postroom(inside, schema, upcasters)),
                    Stream.concat(
                                    Stream.of(
                                            new OverviewPages(looking, sampler),
                                            new MessagePages(looking, doing),
                                            new SubscriptionPages(looking),
                                            new DeadLetterPages(looking, doing),
                                            new RedrivePages(
                                                    looking, postroom(planning, schema, upcasters), doing, carrier),
                                            new JobPages(looking, doing),
                                            new SchedulePages(looking),
                                            new ReadModelPages(looking),
                                            new KeyPages(looking),
                                            new AuditPages(looking),
                                            new FootprintPages(looking, sampler),
                                            new DoctorPages(looking, settings.databaseRoles()),
                                            new SettingsPages(looking, settings, parts, given),
                                            metrics),
                                    more.stream())
                            .toList());
            sampler.start();
            figures.start();
            return new Console(watching, reading, planning, acting, sampler, figures, carrier, server);
        } catch (RuntimeException e) {
            sampler.close();
            figures.close();
            carrier.close();
            acting.close();
            planning.close();
            reading.close();
            watching.close();
            throw e;
        }
    }

    private static Postroom postroom(DataSource source, Schema schema, Upcasters upcasters) {
        return Postroom.builder(source)
                .schema(schema.name())
                .upcasters(upcasters)
                .build();
    }

    /** Where a browser on this machine finds it. */
    public String url() {
        return server.url();
    }

    /** Where whoever started the process comes in. */
    public String entry() {
        return server.entry();
    }

    /** The paths of all pages, and of all calls that only read: {@code /messages/{id}}. */
    public List<String> reads() {
        return server.reads();
    }

    @Override
    public void close() {
        sampler.close();
        figures.close();
        server.close();
        carrier.close();
        acting.close();
        planning.close();
        reading.close();
        watching.close();
    }
}
