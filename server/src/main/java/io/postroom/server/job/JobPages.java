package io.postroom.server.job;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.job.JobDetails;
import io.postroom.job.JobFilter;
import io.postroom.job.JobQueue;
import io.postroom.job.JobState;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.JsonText;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Jobs and their queues: what waits, what runs, what failed, and the switches. */
public final class JobPages implements WebServer.Feature {
    /** So many ids one search looks at. */
    static final int WINDOW = 20_000;

    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;
    private static final String PLACE = "jobs";
    private static final Set<String> NAMES = Set.of("queue", "kind", "state", "tenant", "batch", "before", "limit");
    private static final List<String> STATES =
            Arrays.stream(JobState.values()).map(JobState::word).toList();

    private final Postroom reading;
    private final Postroom acting;
    private final JobRowTable table;

    public JobPages(Postroom reading, Postroom acting) {
        this.reading = reading;
        this.acting = acting;
        this.table = new JobRowTable(reading.database().schema());
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/jobs", context -> list(context, pages))
                // Counted when asked for, and not again and again.
                .page(
                        "/queues",
                        context -> pages.show(
                                context,
                                "queues",
                                pages.page(context, "Queues", PLACE),
                                "queues",
                                reading.jobBoard().queues()))
                .page("/jobs/{id}", context -> show(context, pages, false))
                .reveal("/jobs/{id}/reveal", context -> {
                    pages.reveal(acting, context, "job " + job(context).id(), Asked.formText(context, "reason"));
                    show(context, pages, true);
                })
                .page("/jobs/{id}/payload", context -> {
                    pages.requireShown();
                    JobDetails job = job(context);
                    Pages.download(context, "job-" + job.id() + ".json", job.payload());
                })
                .actOnce("/jobs/{id}/retry", (context, acting) -> {
                    acting.jobBoard().retry(id(context), actor(context), reason(context));
                    return "/jobs/" + id(context);
                })
                .actOnce("/jobs/{id}/cancel", (context, acting) -> {
                    acting.jobBoard().cancel(id(context), actor(context), reason(context));
                    return "/jobs/" + id(context);
                })
                .actOnce("/queues/{name}/pause", (context, acting) -> {
                    acting.jobBoard().pause(context.pathParam("name"), actor(context), reason(context));
                    return "/queues";
                })
                .actOnce("/queues/{name}/resume", (context, acting) -> {
                    acting.jobBoard().resume(context.pathParam("name"), actor(context), reason(context));
                    return "/queues";
                })
                .call("/jobs", this::callList)
                .call(
                        "/jobs/{id}",
                        context -> JobListing.object(
                                job(context), reading.jobBoard().attempts(id(context)), pages::carried))
                .change("/jobs/{id}/reveal", context -> {
                    JobDetails job = job(context);
                    pages.reveal(acting, context, "job " + job.id(), Acting.reason(context));
                    return JobListing.object(job, reading.jobBoard().attempts(job.id()), json -> json);
                })
                .call(
                        "/queues",
                        context -> Listed.of(queues(reading.jobBoard().queues()).objects(), null))
                .once(
                        "/jobs/{id}/retry",
                        (context, acting) -> Map.of(
                                "outcome",
                                acting.jobBoard()
                                        .retry(id(context), actor(context), Acting.reason(context))
                                        .sentence()))
                .once(
                        "/jobs/{id}/cancel",
                        (context, acting) -> Map.of(
                                "outcome",
                                acting.jobBoard()
                                        .cancel(id(context), actor(context), Acting.reason(context))
                                        .sentence()))
                .once(
                        "/queues/{name}/pause",
                        (context, acting) -> Map.of(
                                "changed",
                                acting.jobBoard()
                                        .pause(context.pathParam("name"), actor(context), Acting.reason(context))))
                .once(
                        "/queues/{name}/resume",
                        (context, acting) -> Map.of(
                                "changed",
                                acting.jobBoard()
                                        .resume(context.pathParam("name"), actor(context), Acting.reason(context))));
    }

    private Search jobs(Context context, int limit) {
        Asked.only(context, NAMES);
        String state = Asked.word(Asked.text(context, "state"), "state", STATES);
        JobFilter filter = new JobFilter(
                Asked.text(context, "queue"),
                Asked.text(context, "kind"),
                state == null ? null : JobState.values()[STATES.indexOf(state)],
                Asked.text(context, "tenant"),
                Asked.number(Asked.text(context, "batch"), "batch"));
        Long given = Asked.number(Asked.text(context, "before"), "before");
        return reading.database().run(tx -> {
            JobRowTable.Span span = table.span(tx);
            long before = given == null ? span.newest() + 1 : given;
            long from = filter.equals(JobFilter.ALL) ? 0 : Math.max(0, before - WINDOW);
            List<JobRow> found = table.rows(tx, filter, from, before, limit + 1);
            boolean hasMore = found.size() > limit;
            List<JobRow> shown = hasMore ? whole(found, limit) : found;
            Long next = hasMore ? Long.valueOf(shown.get(shown.size() - 1).id()) : from > span.oldest() ? from : null;
            return new Search(shown, next);
        });
    }

    /** A job that came back has more than one row, and a page goes on after an id: so none ends inside one. */
    static List<JobRow> whole(List<JobRow> found, int limit) {
        int end = limit;
        while (end > 0 && found.get(end - 1).id() == found.get(limit).id()) {
            end--;
        }
        return found.subList(0, end == 0 ? limit : end);
    }

    /** A page of what was found. {@code next} is where the search goes on; null at the oldest job that is known. */
    private record Search(List<JobRow> rows, @Nullable Long next) {}

    private void list(Context context, Pages pages) {
        Search search = jobs(context, PAGE);
        pages.show(
                context,
                "jobs",
                pages.page(context, "Jobs", PLACE),
                "jobs",
                search.rows(),
                "states",
                STATES,
                "next",
                search.next());
    }

    private void show(Context context, Pages pages, boolean revealed) {
        JobDetails job = job(context);
        pages.show(
                context,
                "job",
                pages.page(context, job.kind(), PLACE),
                "job",
                job,
                "payload",
                pretty(revealed ? job.payload() : pages.carried(job.payload())),
                "result",
                pretty(revealed ? job.result() : pages.carried(job.result())),
                "progress",
                pretty(revealed ? job.progress() : pages.carried(job.progress())),
                "payloads",
                pages.payloads(),
                "revealed",
                revealed,
                "attempts",
                reading.jobBoard().attempts(job.id()));
    }

    private static @Nullable String pretty(@Nullable String json) {
        return json == null ? null : JsonText.pretty(json);
    }

    private JobDetails job(Context context) {
        long id = id(context);
        return reading.jobBoard()
                .find(id)
                .orElseThrow(() -> Refusal.missing("there is no job " + id + ", or it was forgotten"));
    }

    private Map<String, @Nullable Object> callList(Context context) {
        int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
        Search search = jobs(context, limit);
        return Listed.of(JobListing.list(search.rows()).objects(), search.next());
    }

    private static Listing queues(List<JobQueue> queues) {
        Listing listing =
                new Listing("queue", "ready", "waiting", "running", "workers", "pausedAt", "pausedBy", "pauseReason");
        queues.forEach(queue -> listing.row(
                queue.name(),
                queue.ready(),
                queue.waiting(),
                queue.running(),
                queue.workers(),
                queue.pausedAt(),
                queue.pausedBy(),
                queue.pauseReason()));
        return listing;
    }

    private static long id(Context context) {
        return Asked.required(Asked.number(context.pathParam("id"), "id"));
    }

    private static String actor(Context context) {
        return Routes.user(context).name();
    }

    private static String reason(Context context) {
        return Asked.required(Asked.formText(context, "reason"), "reason");
    }

    /** A name in an address, for templates. */
    public static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
