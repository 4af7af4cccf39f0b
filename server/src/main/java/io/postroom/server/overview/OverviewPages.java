package io.postroom.server.overview;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Page;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.List;

/** The first page, and {@code /api/v1/status} and {@code /api/v1/events}, which say the same. */
public final class OverviewPages implements WebServer.Feature {
    private static final int ACTS = 6;
    private static final int NODES_MAX = 500;

    private final Postroom postroom;
    private final Sampler sampler;
    private final NodeTable nodes;

    public OverviewPages(Postroom postroom, Sampler sampler) {
        this.postroom = postroom;
        this.sampler = sampler;
        this.nodes = new NodeTable(postroom.database().schema());
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/", context -> show(context, pages));
        routes.call("/status", context -> StatusJson.of(overview()));
        routes.call("/nodes", context -> {
            Listing listing = new Listing("kind", "name", "serves", "startedAt", "leaseSeconds");
            postroom.database()
                    .run(tx -> nodes.list(tx, NODES_MAX))
                    .forEach(node ->
                            listing.row(node.kind(), node.name(), node.serves(), node.startedAt(), node.lease()));
            return Listed.of(listing.objects(), null);
        });
        routes.stream("/events", context -> new StatusWatch(sampler));
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
}
