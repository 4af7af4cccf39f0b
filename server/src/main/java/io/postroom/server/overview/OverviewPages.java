package io.postroom.server.overview;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.server.web.Page;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The first page, and {@code /api/v1/status}, which says the same. */
public final class OverviewPages implements WebServer.Feature {
    private static final int ACTS = 6;

    private final Postroom postroom;
    private final Sampler sampler;

    public OverviewPages(Postroom postroom, Sampler sampler) {
        this.postroom = postroom;
        this.sampler = sampler;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/", context -> show(context, pages));
        routes.call("/status", context -> status());
    }

    private Overview overview() {
        Sample sample = sampler.newest()
                .orElseThrow(() ->
                        new Refusal(503, "database.unavailable", "the database does not answer: " + sampler.problem()));
        return Overview.of(sample, sampler.history());
    }

    private void show(Context context, Pages pages) {
        Overview overview = overview();
        List<AuditEntry> acts = postroom.audit().list(AuditFilter.ALL, null, ACTS);
        Page page = pages.page(context, "Overview", "overview");
        pages.show(context, "overview", page, "overview", overview, "acts", acts, "problem", sampler.problem());
    }

    private Map<String, @Nullable Object> status() {
        Overview overview = overview();
        Sample sample = overview.sample();
        Map<String, @Nullable Object> status = new LinkedHashMap<>();
        status.put("at", sample.at().toString());
        status.put("sentence", overview.sentence());
        status.put("position", sample.position());
        status.put("backlogMessages", sample.backlog());
        status.put("lagSeconds", sample.lag().toMillis() / 1000.0);
        status.put("publishedPerSecond", overview.published());
        status.put("deliveredPerSecond", overview.delivered());
        status.put("deadLetters", sample.deadLetters());
        status.put("failedJobs", sample.work().failedJobs());
        status.put("heldKeys", sample.heldKeys());
        status.put("relays", sample.footing().relays());
        status.put(
                "problems",
                overview.troubles().stream()
                        .map(trouble -> {
                            Map<String, @Nullable Object> problem = new LinkedHashMap<>();
                            problem.put("level", trouble.level().word());
                            problem.put("what", trouble.what());
                            problem.put("why", trouble.why());
                            problem.put("path", trouble.path());
                            problem.put("command", trouble.command());
                            return problem;
                        })
                        .toList());
        return status;
    }
}
