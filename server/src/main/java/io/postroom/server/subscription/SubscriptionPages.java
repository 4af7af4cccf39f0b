package io.postroom.server.subscription;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.audit.AuditFilter;
import io.postroom.server.overview.NodeTable;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Page;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import io.postroom.subscription.Act;
import io.postroom.subscription.DeliveryState;
import io.postroom.subscription.HeldKey;
import io.postroom.subscription.LaneState;
import io.postroom.subscription.Pause;
import io.postroom.subscription.Paused;
import io.postroom.subscription.SubscriptionDetails;
import io.postroom.subscription.SubscriptionState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Subscriptions and their lanes: who serves them, how far they are, and the switch to pause them. */
public final class SubscriptionPages implements WebServer.Feature {
    private static final int HELD_MAX = 50;
    private static final int PAGE = 50;
    private static final int NODES_MAX = 500;
    private static final int CALL_PAGE_MAX = 500;
    private static final int ACTS_MAX = 10;
    private static final String PLACE = "subscriptions";

    private final Postroom reading;
    private final NodeTable nodes;

    public SubscriptionPages(Postroom reading) {
        this.reading = reading;
        this.nodes = new NodeTable(reading.database().schema());
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/subscriptions", context -> list(context, pages))
                .page("/subscriptions/{name}", context -> show(context, pages))
                .page("/subscriptions/{name}/deliveries", context -> deliveries(context, pages))
                .actOnce("/subscriptions/{name}/pause", this::pause)
                .actOnce("/subscriptions/{name}/resume", this::resume)
                .call("/subscriptions", context -> {
                    Asked.only(context, Set.of());
                    return Listed.of(
                            SubscriptionListing.subscriptions(
                                            reading.subscriptions().list(), OutputFormat.JSON)
                                    .objects(),
                            null);
                })
                .call(
                        "/subscriptions/{name}",
                        context ->
                                SubscriptionListing.json(reading.subscriptions().show(context.pathParam("name"))))
                .call("/subscriptions/{name}/held-keys", context -> {
                    Asked.only(context, Set.of("after", "limit"));
                    int limit = Asked.limit(context, HELD_MAX, CALL_PAGE_MAX);
                    List<HeldKey> keys =
                            reading.subscriptions().heldKeys(context.pathParam("name"), after(context), limit);
                    return Listed.of(
                            SubscriptionListing.heldKeys(keys).objects(),
                            keys.size() == limit ? keys.get(limit - 1).position() : null);
                })
                .call("/subscriptions/{name}/deliveries", context -> {
                    Asked.only(context, Set.of("state", "after", "limit"));
                    DeliveryState.Page page = deliveries(context, Asked.limit(context, PAGE, CALL_PAGE_MAX));
                    return Listed.of(
                            SubscriptionListing.deliveries(page.deliveries()).objects(), page.next());
                })
                .call("/lanes", context -> {
                    Asked.only(context, Set.of("subscription"));
                    return Listed.of(
                            SubscriptionListing.lanes(
                                            reading.subscriptions().lanes(Asked.text(context, "subscription")))
                                    .objects(),
                            null);
                })
                .once("/subscriptions/{name}/pause", this::callPause)
                .once("/subscriptions/{name}/resume", this::callResume);
    }

    private void list(Context context, Pages pages) {
        List<SubscriptionState> states = reading.subscriptions().list();
        Map<String, List<LaneState>> lanes =
                reading.subscriptions().lanes(null).stream().collect(Collectors.groupingBy(LaneState::subscription));
        Page page = pages.page(context, "Subscriptions", PLACE);
        pages.show(
                context,
                "subscriptions",
                page,
                "states",
                states,
                "lanes",
                lanes,
                "nodes",
                reading.database().run(tx -> nodes.list(tx, NODES_MAX)));
    }

    private void show(Context context, Pages pages) {
        String name = context.pathParam("name");
        Asked.only(context, Set.of("after"));
        SubscriptionDetails details = reading.subscriptions().show(name);
        List<HeldKey> held = reading.subscriptions().heldKeys(name, after(context), HELD_MAX);
        pages.show(
                context,
                "subscription",
                pages.page(context, name, PLACE),
                "details",
                details,
                "held",
                held,
                "heldNext",
                held.size() == HELD_MAX ? held.get(HELD_MAX - 1).position() : null,
                "acts",
                reading.audit().list(AuditFilter.ofSubject("subscription " + name), null, ACTS_MAX));
    }

    private DeliveryState.Page deliveries(Context context, int limit) {
        return reading.subscriptions()
                .deliveries(
                        context.pathParam("name"),
                        Asked.word(Asked.text(context, "state"), "state", DeliveryState.STATES),
                        after(context),
                        limit);
    }

    private void deliveries(Context context, Pages pages) {
        String name = context.pathParam("name");
        Asked.only(context, Set.of("state", "after"));
        DeliveryState.Page page = deliveries(context, PAGE);
        pages.show(
                context,
                "deliveries",
                pages.page(context, "Deliveries of " + name, PLACE),
                "name",
                name,
                "deliveries",
                page.deliveries(),
                "next",
                page.next());
    }

    private static long after(Context context) {
        return Asked.required(Asked.number(Asked.text(context, "after"), "after"));
    }

    /** What matters most of a subscription at the moment, in one word. */
    public static String word(SubscriptionState state) {
        return SubscriptionListing.word(state);
    }

    /** How the style sheet calls that. */
    public static String style(SubscriptionState state) {
        return switch (word(state)) {
            case "unavailable" -> "bad";
            case "paused", "changing", "replaying" -> "note";
            case "done" -> "";
            default ->
                state.heldKeys() > 0 || state.putAside().unreadable() > 0
                        ? "bad"
                        : state.lanesLeased() < state.lanes() ? "warn" : "good";
        };
    }

    private String pause(Context context, Postroom acting) {
        String name = context.pathParam("name");
        acting.subscriptions().pause(name, act(context, Asked.formText(context, "reason")));
        return back(name);
    }

    private String resume(Context context, Postroom acting) {
        String name = context.pathParam("name");
        acting.subscriptions().resume(name, act(context, Asked.formText(context, "reason")));
        return back(name);
    }

    private Map<String, @Nullable Object> callPause(Context context, Postroom acting) {
        String reason = Acting.reason(context);
        String name = context.pathParam("name");
        Paused paused = acting.subscriptions().pause(name, act(context, reason));
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("name", name);
        answer.put("pausedAt", paused.pause().at().toString());
        answer.put("pausedBy", paused.pause().by());
        answer.put("already", paused.already());
        answer.put("lanesLeased", paused.leased());
        return answer;
    }

    private Map<String, @Nullable Object> callResume(Context context, Postroom acting) {
        String reason = Acting.reason(context);
        String name = context.pathParam("name");
        Optional<Pause> ended = acting.subscriptions().resume(name, act(context, reason));
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("name", name);
        answer.put("wasPaused", ended.isPresent());
        return answer;
    }

    private static Act act(Context context, @Nullable String reason) {
        return new Act(Routes.user(context).name(), Asked.required(reason, "reason"));
    }

    private static String back(String name) {
        return "/subscriptions/"
                + java.net.URLEncoder.encode(name, java.nio.charset.StandardCharsets.UTF_8)
                        .replace("+", "%20");
    }
}
