package io.postroom.server.audit;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What operators did, to what, and why. */
public final class AuditPages implements WebServer.Feature {
    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;
    private static final Set<String> NAMES = Set.of("subject", "action", "actor", "from", "to", "before", "limit");

    private final Postroom reading;

    public AuditPages(Postroom reading) {
        this.reading = reading;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/audit", context -> {
                    List<AuditEntry> entries = entries(context, PAGE + 1);
                    boolean hasMore = entries.size() > PAGE;
                    List<AuditEntry> shown = hasMore ? entries.subList(0, PAGE) : entries;
                    pages.show(
                            context,
                            "audit",
                            pages.page(context, "Audit", "audit"),
                            "entries",
                            shown,
                            "next",
                            hasMore ? shown.get(PAGE - 1).id() : null);
                })
                .call("/audit", this::call);
    }

    private List<AuditEntry> entries(Context context, int limit) {
        Asked.only(context, NAMES);
        AuditFilter filter = AuditFilter.builder()
                .subject(Asked.text(context, "subject"))
                .action(Asked.text(context, "action"))
                .actor(Asked.text(context, "actor"))
                .from(Asked.time(Asked.text(context, "from"), "from"))
                .to(Asked.time(Asked.text(context, "to"), "to"))
                .build();
        return reading.audit().list(filter, Asked.number(Asked.text(context, "before"), "before"), limit);
    }

    private Map<String, @Nullable Object> call(Context context) {
        int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
        List<AuditEntry> entries = entries(context, limit);
        Listing listing = new Listing("id", "at", "actor", "role", "action", "subject", "reason", "details");
        entries.forEach(entry -> listing.row(
                entry.id(),
                entry.at(),
                entry.actor(),
                entry.role(),
                entry.action(),
                entry.subject(),
                entry.reason(),
                entry.details()));
        return Listed.of(
                listing.objects(),
                entries.size() == limit ? entries.get(limit - 1).id() : null);
    }
}
