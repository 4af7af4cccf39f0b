package io.postroom.server.deadletter;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.OrderConflicts;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedrivePlan;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.deadletter.RequestedRedrive;
import io.postroom.postgres.DatabaseException;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Permission;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Redrives and discards: what is meant, what it would do, at which rate, and how far it is.
 *
 * <p>What was counted is what is done: a form carries the newest dead letter that the preview saw, and those buried since are not
 * meant. The id of the act is made with the form: sending it twice is asking once.
 */
public final class RedrivePages implements WebServer.Feature {
    private static final int PAGE = 50;
    private static final String PLACE = "redrives";
    private static final String TIMEOUT = "57014";

    private final Postroom reading;
    private final Postroom planning;
    private final Postroom acting;
    private final Carrier carrier;

    public RedrivePages(Postroom reading, Postroom planning, Postroom acting, Carrier carrier) {
        this.reading = reading;
        this.planning = planning;
        this.acting = acting;
        this.carrier = carrier;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/redrives", context -> {
                    Paged paged = paged(context, PAGE);
                    pages.show(
                            context,
                            "redrives",
                            pages.page(context, "Redrives", PLACE),
                            "redrives",
                            paged.redrives(),
                            "next",
                            paged.next());
                })
                .page("/redrives/new", context -> plan(context, pages))
                .page("/redrives/{id}", context -> show(context, pages))
                .act("/redrives", this::request)
                .actOnce("/redrives/{id}/cancel", this::cancel)
                .call("/redrives", context -> {
                    Paged paged = paged(context, Asked.limit(context, PAGE, Redrives.LIST_MAX - 1));
                    return Listed.of(objects(paged.redrives()), paged.next());
                })
                .call("/redrives/{id}", context -> object(get(context)))
                .change("/redrives/plan", this::callPlan)
                .change("/redrives", this::callRequest)
                .once("/redrives/{id}/cancel", this::callCancel);
    }

    /** A page; {@code next} is where it goes on, null at the end. */
    private record Paged(List<Redrive> redrives, @Nullable String next) {}

    private Paged paged(Context context, int limit) {
        Asked.only(context, Set.of("before", "limit"));
        String before = Asked.text(context, "before");
        List<Redrive> found =
                reading.deadLetters().redrives().list(before == null ? null : Asked.uuid(before, "before"), limit + 1);
        return found.size() <= limit
                ? new Paged(found, null)
                : new Paged(
                        found.subList(0, limit),
                        found.get(limit - 1).request().id().toString());
    }

    private void plan(Context context, Pages pages) {
        Asked.only(context, names("action", "rate", "canary"));
        DeadLetterFilter filter = LetterQuery.ofQuery(context);
        RedriveAction action = action(Asked.text(context, "action"));
        Double rate = rate(Asked.text(context, "rate"));
        // It is the dearest thing to ask for, so only for those who can do something with the answer.
        boolean isWanted = !filter.isEmpty() && Routes.user(context).may(needed(action));
        RedrivePlan plan = isWanted ? planned(filter) : null;
        pages.show(
                context,
                "redrive-new",
                pages.page(
                        context,
                        action == RedriveAction.REDRIVE ? "Redrive dead letters" : "Discard dead letters",
                        PLACE),
                "action",
                action,
                "given",
                LetterQuery.given(name -> Asked.text(context, name)),
                "plan",
                plan,
                "duration",
                plan == null || rate == null ? null : plan.at(rate),
                "command",
                LetterQuery.command(action.word(), LetterQuery.given(name -> Asked.text(context, name))),
                "subscriptions",
                reading.subscriptions().list().stream()
                        .map(state -> state.name())
                        .toList());
    }

    private String request(Context context) {
        DeadLetterFilter filter = LetterQuery.ofForm(context);
        RedriveAction action = action(Asked.formText(context, "action"));
        Routes.require(context, needed(action));
        Long letters = Asked.number(Asked.formText(context, "letters"), "letters");
        Long idMax = Asked.number(Asked.formText(context, "idMax"), "idMax");
        if (letters == null || idMax == null) {
            throw Refusal.invalid("the form does not say how many dead letters it means; begin again with the preview");
        }
        String shown = letters + ("true".equals(Asked.formText(context, "more")) ? "+" : "");
        if (action == RedriveAction.DISCARD && !shown.equals(Asked.formText(context, "confirm"))) {
            throw Refusal.invalid("to discard " + shown + " dead letters, type " + shown + "; nothing was done");
        }
        UUID id = Asked.uuid(Asked.required(Asked.formText(context, "id"), "id"), "id");
        RedriveRequest request = request(
                id,
                action,
                filter,
                Asked.formText(context, "rate"),
                Asked.formText(context, "canary"),
                Routes.user(context).name(),
                Asked.required(Asked.formText(context, "reason"), "reason"));
        RedrivePlan seen = new RedrivePlan(idMax, letters, true, 0, 0, null, null, OrderConflicts.NONE);
        acting.deadLetters().redrives().request(request, seen);
        carrier.carry(id);
        return "/redrives/" + id;
    }

    private static Permission needed(RedriveAction action) {
        return action == RedriveAction.DISCARD ? Permission.DISCARD : Permission.REDRIVE;
    }

    private void show(Context context, Pages pages) {
        Redrive redrive = get(context);
        pages.show(
                context,
                "redrive",
                pages.page(context, redrive.request().action() == RedriveAction.REDRIVE ? "Redrive" : "Discard", PLACE),
                "redrive",
                redrive);
    }

    private Redrive get(Context context) {
        return reading.deadLetters().redrives().get(Asked.uuid(context.pathParam("id"), "id"));
    }

    private String cancel(Context context, Postroom acting) {
        UUID id = Asked.uuid(context.pathParam("id"), "id");
        String reason = Asked.required(Asked.formText(context, "reason"), "reason");
        acting.deadLetters().redrives().cancel(id, Routes.user(context).name(), reason);
        return "/redrives/" + id;
    }

    private Object callPlan(Context context) {
        Acting call = Acting.read(context, names("rate"));
        DeadLetterFilter filter = LetterQuery.of(call::text);
        Double rate = rate(call.text("rate"));
        RedrivePlan plan = planned(filter);
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("idMax", plan.idMax());
        // Of those that were counted it would say nothing.
        Duration duration = rate == null || !plan.exact() ? null : plan.at(rate);
        answer.putAll(LetterListing.plan(plan, duration, List.of(), OutputFormat.JSON)
                .objects()
                .get(0));
        return answer;
    }

    /** What a filter means, counted; with patience, and without keeping anybody from acting. */
    private RedrivePlan planned(DeadLetterFilter filter) {
        try {
            return planning.deadLetters().plan(filter, DeadLetters.PLAN_MAX);
        } catch (DatabaseException e) {
            if (e.sqlState().equals(TIMEOUT)) {
                throw new Refusal(
                        503, "redrive.too-many", "they are too many to be counted in time; narrow the filter");
            }
            throw e;
        }
    }

    /** What the caller has seen; null if it does not say. Discards are final, so for them it must. */
    private @Nullable RedrivePlan seen(Acting call, RedriveAction action, DeadLetterFilter filter) {
        Long letters = Asked.number(call.text("letters"), "letters");
        Long idMax = Asked.number(call.text("idMax"), "idMax");
        if (letters == null && idMax == null && action == RedriveAction.REDRIVE) {
            return null;
        }
        if (letters == null || idMax == null) {
            throw Refusal.invalid(
                    "letters or idMax is missing; ask POST /redrives/plan with the same filter, and give back both");
        }
        if (!filter.isEmpty()) {
            RedrivePlan now = planned(filter);
            boolean isUncounted = !now.exact() && !"false".equals(call.text("lettersExact"));
            if (now.letters() > letters || isUncounted) {
                throw new Refusal(
                        409,
                        "redrive.grown",
                        "the filter means " + (now.exact() ? "" : "more than ") + now.letters()
                                + " dead letters, letters is " + letters + "; nothing was done: look at the plan again"
                                + (now.exact() ? "" : ", and give back lettersExact, too, if you mean all of them"));
            }
        }
        return new RedrivePlan(idMax, letters, true, 0, 0, null, null, OrderConflicts.NONE);
    }

    private static Set<String> names(String... more) {
        Set<String> names = new HashSet<>(LetterQuery.NAMES);
        names.addAll(Set.of(more));
        return names;
    }

    private Object callRequest(Context context) {
        Acting call =
                Acting.read(context, names("action", "rate", "canary", "reason", "letters", "lettersExact", "idMax"));
        RedriveAction action = action(call.text("action"));
        Routes.require(context, needed(action));
        RedriveRequest request = request(
                call.id(),
                action,
                LetterQuery.of(call::text),
                call.text("rate"),
                call.text("canary"),
                Routes.user(context).name(),
                call.required("reason"));
        RedrivePlan seen = seen(call, request.action(), request.filter());
        RequestedRedrive asked = acting.deadLetters().redrives().requestOnce(request, seen);
        if (!asked.isNew()) {
            context.header("Idempotent-Replayed", "true");
        }
        carrier.carry(call.id());
        return object(asked.redrive());
    }

    private Object callCancel(Context context, Postroom acting) {
        String reason = Acting.reason(context);
        UUID id = Asked.uuid(context.pathParam("id"), "id");
        return object(
                acting.deadLetters().redrives().cancel(id, Routes.user(context).name(), reason));
    }

    private static RedriveRequest request(
            UUID id,
            RedriveAction action,
            DeadLetterFilter filter,
            @Nullable String rate,
            @Nullable String canary,
            String actor,
            String reason) {
        Long first = Asked.number(canary, "canary");
        RedriveRequest.Builder builder =
                action == RedriveAction.REDRIVE ? RedriveRequest.redrive(filter) : RedriveRequest.discard(filter);
        return builder.id(id)
                .rate(rate(rate))
                .canary(first == null ? null : (int) Math.min(first, Integer.MAX_VALUE))
                .actor(actor)
                .reason(reason)
                .build();
    }

    private static RedriveAction action(@Nullable String word) {
        List<String> words =
                Arrays.stream(RedriveAction.values()).map(RedriveAction::word).toList();
        String known = Asked.word(word, "action", words);
        return known == null ? RedriveAction.REDRIVE : RedriveAction.values()[words.indexOf(known)];
    }

    private static @Nullable Double rate(@Nullable String text) {
        if (text == null) {
            return null;
        }
        if (!text.matches("\\d{1,6}(\\.\\d{1,3})?")) {
            throw Refusal.invalid(
                    "rate is '" + Asked.shown(text) + "', not a number of dead letters a second; write 50 or 0.5");
        }
        return Double.valueOf(text);
    }

    private static List<Map<String, @Nullable Object>> objects(List<Redrive> redrives) {
        return LetterListing.redrives(redrives, OutputFormat.JSON).objects();
    }

    private static Map<String, @Nullable Object> object(Redrive redrive) {
        return objects(List.of(redrive)).get(0);
    }

    /** The parts of a filter, for templates. */
    public static Function<String, String> of(Map<String, String> given) {
        return name -> given.getOrDefault(name, "");
    }
}
