package io.postroom.server.deadletter;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.deadletter.DeadLetterRow;
import io.postroom.deadletter.GroupBy;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.ResolvedLetter;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.JsonText;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/** Dead letters: by their causes first, then one by one, each with its whole history. */
public final class DeadLetterPages implements WebServer.Feature {
    private static final int GROUPS_MAX = 100;
    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;
    private static final String PLACE = "dead-letters";
    private static final List<String> RESOLUTIONS =
            Arrays.stream(RedriveAction.values()).map(RedriveAction::resolution).toList();
    private static final Set<GroupBy> BY_CAUSE = EnumSet.of(GroupBy.ERROR, GroupBy.TYPE, GroupBy.OWNER);

    private final Postroom reading;
    private final Postroom acting;
    private final CauseTable table;

    public DeadLetterPages(Postroom reading, Postroom acting) {
        this.reading = reading;
        this.acting = acting;
        this.table = new CauseTable(reading.database().schema());
    }

    private CauseTable.Causes causes(DeadLetterFilter filter, int limit) {
        return reading.database().run(tx -> table.causes(tx, filter, limit));
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/dead-letters", context -> groups(context, pages))
                .page("/dead-letters/list", context -> list(context, pages))
                .page("/dead-letters/resolved", context -> resolved(context, pages))
                .page("/dead-letters/{id}", context -> show(context, pages, false))
                .reveal("/dead-letters/{id}/reveal", context -> {
                    pages.reveal(
                            acting, context, "deadletter " + letter(context).id(), Asked.formText(context, "reason"));
                    show(context, pages, true);
                })
                .page("/dead-letters/{id}/payload", context -> {
                    pages.requireShown();
                    DeadLetter letter = letter(context);
                    Pages.download(
                            context,
                            "dead-letter-" + letter.id() + ".json",
                            letter.message().payload());
                })
                .call("/dead-letters", this::callList)
                .call("/dead-letters/groups", this::callGroups)
                .call("/dead-letters/resolved", context -> {
                    Asked.only(context, names("before", "limit", "resolution"));
                    int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
                    List<ResolvedLetter> found = resolved(context, limit);
                    return Listed.of(
                            LetterListing.resolved(found, OutputFormat.JSON).objects(),
                            found.size() == limit
                                    ? found.get(limit - 1).letter().id()
                                    : null);
                })
                .call("/dead-letters/{id}", context -> callShow(context, pages))
                .change("/dead-letters/{id}/reveal", context -> {
                    DeadLetter letter = letter(context);
                    pages.reveal(acting, context, "deadletter " + letter.id(), Acting.reason(context));
                    return Map.of("payload", new RawValue(letter.message().payload()));
                });
    }

    private static Set<String> names(String... more) {
        Set<String> names = new HashSet<>(LetterQuery.NAMES);
        names.addAll(Set.of(more));
        return names;
    }

    private void groups(Context context, Pages pages) {
        Asked.only(context, names());
        DeadLetterFilter filter = LetterQuery.ofQuery(context);
        CauseTable.Causes causes = causes(filter, GROUPS_MAX + 1);
        List<DeadLetterGroup> groups = causes.groups();
        pages.show(
                context,
                "dead-letters",
                pages.page(context, "Dead letters", PLACE),
                "groups",
                groups.subList(0, Math.min(groups.size(), GROUPS_MAX)),
                "isWhole",
                causes.isWhole(),
                "isStepped",
                causes.isStepped(),
                "lettersMax",
                causes.lettersMax(),
                "sampleMax",
                causes.sampleMax(),
                "hasMore",
                groups.size() > GROUPS_MAX,
                "given",
                LetterQuery.given(name -> Asked.text(context, name)));
    }

    private void list(Context context, Pages pages) {
        Asked.only(context, names("before"));
        DeadLetterFilter filter = LetterQuery.ofQuery(context);
        Search search = search(filter, Asked.number(Asked.text(context, "before"), "before"), PAGE);
        pages.show(
                context,
                "dead-letter-list",
                pages.page(context, "Dead letters", PLACE),
                "rows",
                search.rows(),
                "next",
                search.next(),
                "given",
                LetterQuery.given(name -> Asked.text(context, name)));
    }

    private List<ResolvedLetter> resolved(Context context, int limit) {
        String word = Asked.word(Asked.text(context, "resolution"), "resolution", RESOLUTIONS);
        return reading.deadLetters()
                .listResolved(
                        LetterQuery.ofQuery(context),
                        word == null ? null : RedriveAction.values()[RESOLUTIONS.indexOf(word)],
                        Asked.number(Asked.text(context, "before"), "before"),
                        limit);
    }

    private void resolved(Context context, Pages pages) {
        Asked.only(context, names("before", "resolution"));
        List<ResolvedLetter> found = resolved(context, PAGE + 1);
        boolean hasMore = found.size() > PAGE;
        pages.show(
                context,
                "dead-letters-resolved",
                pages.page(context, "Resolved dead letters", PLACE),
                "rows",
                hasMore ? found.subList(0, PAGE) : found,
                "next",
                hasMore ? found.get(PAGE - 1).letter().id() : null,
                "given",
                LetterQuery.given(name -> Asked.text(context, name)));
    }

    /** A page of what was found. {@code next} is where the search goes on; null at the oldest one. */
    private record Search(
            List<DeadLetterRow> rows, @Nullable Long next) {}

    /** Looks through a window of the newest: most of a filter has no index, and a page must not wait for a million. */
    private Search search(DeadLetterFilter filter, @Nullable Long before, int limit) {
        CauseTable.Letters found =
                reading.database().run(tx -> table.letters(tx, filter, before, CauseTable.PAGE_WINDOW, limit));
        List<DeadLetterRow> rows = found.ids().isEmpty()
                ? List.of()
                : reading.deadLetters()
                        .list(DeadLetterFilter.builder().ids(found.ids()).build(), null, limit);
        return new Search(rows, found.next());
    }

    private DeadLetter letter(Context context) {
        long id = Asked.required(Asked.number(context.pathParam("id"), "id"));
        return reading.deadLetters()
                .get(id)
                .orElseThrow(
                        () -> Refusal.missing("there is no dead letter " + id + "; it may be older than what is kept"));
    }

    private void show(Context context, Pages pages, boolean revealed) {
        DeadLetter letter = letter(context);
        String payload = letter.message().payload();
        String carried = revealed ? payload : pages.carried(payload);
        pages.show(
                context,
                "dead-letter",
                pages.page(context, "Dead letter " + letter.id(), PLACE),
                "letter",
                letter,
                "payload",
                carried == null ? null : JsonText.pretty(carried),
                "payloads",
                pages.payloads(),
                "revealed",
                revealed,
                "attempts",
                LetterAttempt.read(letter.history()));
    }

    private Map<String, @Nullable Object> callList(Context context) {
        Asked.only(context, names("before", "limit"));
        int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
        Search search =
                search(LetterQuery.ofQuery(context), Asked.number(Asked.text(context, "before"), "before"), limit);
        return Listed.of(LetterListing.rows(search.rows(), OutputFormat.JSON).objects(), search.next());
    }

    private Map<String, @Nullable Object> callGroups(Context context) {
        Asked.only(context, names("limit"));
        int limit = Asked.limit(context, GROUPS_MAX, CALL_PAGE_MAX);
        CauseTable.Causes causes = causes(LetterQuery.ofQuery(context), limit);
        List<Map<String, @Nullable Object>> objects = LetterListing.groups(causes.groups(), BY_CAUSE, OutputFormat.JSON)
                .objects();
        for (int i = 0; i < objects.size(); i++) {
            long letters = causes.groups().get(i).letters();
            objects.get(i)
                    .put("exact", causes.isWhole() && letters < causes.lettersMax() && letters <= causes.sampleMax());
        }
        Map<String, @Nullable Object> answer = Listed.of(objects, null);
        answer.put("whole", causes.isWhole());
        return answer;
    }

    private Map<String, @Nullable Object> callShow(Context context, Pages pages) {
        DeadLetter letter = letter(context);
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        LetterListing.facts(letter, false)
                .objects()
                .forEach(row -> answer.put(String.valueOf(row.get("field")), row.get("value")));
        answer.put("headers", letter.message().headers());
        answer.put("payload", JsonText.raw(pages.carried(letter.message().payload())));
        answer.put("history", JsonText.raw(letter.history()));
        return answer;
    }
}
