package io.postroom.server.schedule;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.job.Enqueued;
import io.postroom.schedule.ScheduleDetails;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Page;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Schedules: when each fires next, what it did last, and the switches. */
public final class SchedulePages implements WebServer.Feature {
    private static final int NEXT = 5;
    private static final int RUNS = 20;
    private static final String PLACE = "jobs";

    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;

    private final Postroom reading;

    public SchedulePages(Postroom reading) {
        this.reading = reading;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/schedules", context -> {
                    Asked.only(context, Set.of("after"));
                    List<ScheduleDetails> found = schedules(context, PAGE + 1);
                    boolean hasMore = found.size() > PAGE;
                    List<ScheduleDetails> shown = hasMore ? found.subList(0, PAGE) : found;
                    pages.show(
                            context,
                            "schedules",
                            pages.page(context, "Schedules", PLACE),
                            "schedules",
                            shown,
                            "next",
                            hasMore ? shown.get(PAGE - 1).schedule().name() : null);
                })
                .page("/schedules/{name}", context -> show(context, pages))
                .actOnce("/schedules/{name}/pause", (context, acting) -> {
                    acting.schedules().pause(name(context), actor(context), reason(context));
                    return back(context);
                })
                .actOnce("/schedules/{name}/resume", (context, acting) -> {
                    acting.schedules().resume(name(context), actor(context), reason(context));
                    return back(context);
                })
                .actOnce("/schedules/{name}/run", (context, acting) -> {
                    Enqueued job = acting.schedules().runNow(name(context), actor(context), reason(context));
                    return "/jobs/" + job.id();
                })
                .actOnce("/schedules/{name}/remove", (context, acting) -> {
                    if (!name(context).equals(Asked.formText(context, "confirm"))) {
                        throw Refusal.invalid(
                                "to remove schedule " + name(context) + ", type its name; nothing was done");
                    }
                    acting.schedules().remove(name(context), actor(context), reason(context));
                    return "/schedules";
                })
                .call("/schedules", context -> {
                    int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
                    List<ScheduleDetails> found = schedules(context, limit);
                    return Listed.of(
                            listing(found).objects(),
                            found.size() == limit
                                    ? found.get(limit - 1).schedule().name()
                                    : null);
                })
                .call("/schedules/{name}", this::callShow)
                .once("/schedules/{name}/run", (context, acting) -> {
                    Enqueued job = acting.schedules().runNow(name(context), actor(context), Acting.reason(context));
                    return Map.of("job", job.id(), "skipped", job.skipped());
                })
                .once("/schedules/{name}/remove", (context, acting) -> {
                    acting.schedules().remove(name(context), actor(context), Acting.reason(context));
                    return Map.of("changed", true);
                })
                .once(
                        "/schedules/{name}/pause",
                        (context, acting) -> Map.of(
                                "changed",
                                acting.schedules().pause(name(context), actor(context), Acting.reason(context))))
                .once(
                        "/schedules/{name}/resume",
                        (context, acting) -> Map.of(
                                "changed",
                                acting.schedules().resume(name(context), actor(context), Acting.reason(context))));
    }

    private List<ScheduleDetails> schedules(Context context, int limit) {
        return reading.schedules().list(Asked.text(context, "after"), limit);
    }

    private void show(Context context, Pages pages) {
        String name = name(context);
        ScheduleDetails details = reading.schedules().get(name);
        Page page = pages.page(context, name, PLACE);
        pages.show(
                context,
                "schedule",
                page,
                "details",
                details,
                "next",
                reading.schedules().next(name, NEXT),
                "runs",
                reading.schedules().runs(name, RUNS));
    }

    private Map<String, @Nullable Object> callShow(Context context) {
        String name = name(context);
        Map<String, @Nullable Object> answer = new LinkedHashMap<>(
                listing(List.of(reading.schedules().get(name))).objects().get(0));
        answer.put(
                "next",
                reading.schedules().next(name, NEXT).stream()
                        .map(Instant::toString)
                        .toList());
        Listing runs = new Listing("fireAt", "job", "skipped", "missed", "at");
        reading.schedules()
                .runs(name, RUNS)
                .forEach(run -> runs.row(run.fireAt(), run.jobId(), run.skipped(), run.missed(), run.at()));
        answer.put("runs", runs.objects());
        return answer;
    }

    private static Listing listing(List<ScheduleDetails> schedules) {
        Listing listing = new Listing(
                "name",
                "when",
                "kind",
                "queue",
                "nextAt",
                "lastAt",
                "lastJob",
                "pausedAt",
                "pausedBy",
                "pauseReason",
                "missedAt",
                "missedTimes");
        schedules.forEach(each -> listing.row(
                each.schedule().name(),
                each.schedule().describe(),
                each.schedule().job().kind(),
                each.schedule().job().queue(),
                each.nextAt(),
                each.lastAt(),
                each.lastJob(),
                each.pausedAt(),
                each.pausedBy(),
                each.pauseReason(),
                each.missedAt(),
                each.missedTimes()));
        return listing;
    }

    private static String name(Context context) {
        return context.pathParam("name");
    }

    private static String actor(Context context) {
        return Routes.user(context).name();
    }

    private static String reason(Context context) {
        return Asked.required(Asked.formText(context, "reason"), "reason");
    }

    /** The name is one that exists, and those have only letters that need no encoding. */
    private static String back(Context context) {
        return "/schedules/" + name(context);
    }
}
