package io.postroom.server.audit;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.audit.AuditEntry;
import io.postroom.audit.AuditFilter;
import io.postroom.server.web.Asked;
import io.postroom.server.web.JsonText;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.LinkedHashMap;
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
        List<Map<String, @Nullable Object>> objects =
                entries.stream().map(AuditPages::object).toList();
        return Listed.of(
                objects, entries.size() == limit ? entries.get(limit - 1).id() : null);
    }

    private static Map<String, @Nullable Object> object(AuditEntry entry) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("id", entry.id());
        object.put("at", entry.at().toString());
        object.put("actor", entry.actor());
        object.put("role", entry.role());
        object.put("action", entry.action());
        object.put("subject", entry.subject());
        object.put("reason", entry.reason());
        object.put("details", JsonText.raw(entry.details()));
        return object;
    }
}
