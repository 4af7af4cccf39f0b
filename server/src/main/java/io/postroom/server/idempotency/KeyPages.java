package io.postroom.server.idempotency;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.IdempotencyKeys;
import io.postroom.idempotency.KeyDetails;
import io.postroom.idempotency.KeyFilter;
import io.postroom.idempotency.KeyState;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Idempotency keys as operators see them: never an answer, only that there is one. */
public final class KeyPages implements WebServer.Feature {
    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;
    private static final Set<String> NAMES = Set.of("tenant", "scope", "key", "state", "after", "limit");
    private static final List<String> STATES =
            Arrays.stream(KeyState.values()).map(KeyState::toString).toList();

    private final Postroom reading;
    private final KeyTable table;

    public KeyPages(Postroom reading) {
        this.reading = reading;
        this.table = new KeyTable(reading.database().schema());
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/idempotency-keys", context -> {
                    Paged paged = paged(context, PAGE);
                    pages.show(
                            context,
                            "idempotency-keys",
                            pages.page(context, "Idempotency keys", "idempotency-keys"),
                            "keys",
                            paged.keys(),
                            "states",
                            STATES,
                            "next",
                            paged.next());
                })
                .page("/idempotency-keys/{id}", context -> show(context, pages))
                .actOnce("/idempotency-keys/{id}/release", this::release)
                .once("/idempotency-keys/{id}/release", this::callRelease)
                .call("/idempotency-keys", this::call);
    }

    /** A page; {@code next} is where it goes on, null at the end. */
    private record Paged(List<KeyDetails> keys, @Nullable String next) {}

    private Paged paged(Context context, int limit) {
        Asked.only(context, NAMES);
        String word = Asked.word(Asked.text(context, "state"), "state", STATES);
        KeyFilter filter = new KeyFilter(
                Asked.text(context, "tenant"),
                Asked.text(context, "scope"),
                word == null ? null : KeyState.values()[STATES.indexOf(word)]);
        String cursor = Asked.text(context, "after");
        IdempotencyKey after = cursor == null ? null : key(cursor);
        String key = Asked.text(context, "key");
        if (key != null) {
            return named(key, filter, after, limit);
        }
        List<KeyDetails> found = reading.idempotencyKeys().list(filter, after, limit + 1);
        return found.size() > limit
                ? new Paged(found.subList(0, limit), cursor(found.get(limit - 1).key()))
                : new Paged(found, null);
    }

    /** By the key itself, whosever it is. */
    private Paged named(String key, KeyFilter filter, @Nullable IdempotencyKey after, int limit) {
        KeyTable.Found found = reading.database().run(tx -> table.find(tx, key, filter, after, limit));
        List<KeyDetails> keys = found.keys().stream()
                .flatMap(each -> reading.idempotencyKeys().find(each).stream())
                .toList();
        return new Paged(keys, found.next() == null ? null : cursor(found.next()));
    }

    private KeyDetails details(IdempotencyKey key) {
        return reading.idempotencyKeys()
                .find(key)
                .orElseThrow(() -> Refusal.missing("there is no idempotency key " + Asked.shown(key.key())
                        + " of this tenant and scope; it may have expired"));
    }

    private void show(Context context, Pages pages) {
        Asked.only(context, Set.of());
        KeyDetails details = details(key(context.pathParam("id")));
        pages.show(
                context,
                "idempotency-key",
                pages.page(context, "Idempotency key", "idempotency-keys"),
                "details",
                details,
                "id",
                context.pathParam("id"));
    }

    private String release(Context context, Postroom acting) {
        String id = context.pathParam("id");
        String reason = Asked.required(Asked.formText(context, "reason"), "reason");
        acting.idempotencyKeys()
                .release(
                        details(key(id)),
                        new IdempotencyKeys.Act(Routes.user(context).name(), reason));
        return "/idempotency-keys/" + id;
    }

    private Map<String, @Nullable Object> callRelease(Context context, Postroom acting) {
        String reason = Acting.reason(context);
        KeyDetails seen = details(key(context.pathParam("id")));
        acting.idempotencyKeys()
                .release(seen, new IdempotencyKeys.Act(Routes.user(context).name(), reason));
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("id", cursor(seen.key()));
        answer.put("released", true);
        return answer;
    }

    private Map<String, @Nullable Object> call(Context context) {
        int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
        Paged paged = paged(context, limit);
        Listing listing = new Listing(
                "id",
                "tenant",
                "scope",
                "key",
                "state",
                "status",
                "createdAt",
                "completedAt",
                "expiresAt",
                "leasedUntil",
                "leased",
                "steps",
                "step");
        paged.keys()
                .forEach(each -> listing.row(
                        cursor(each.key()),
                        each.key().tenant(),
                        each.key().scope(),
                        each.key().key(),
                        each.state(),
                        each.status(),
                        each.createdAt(),
                        each.completedAt(),
                        each.expiresAt(),
                        each.leasedUntil(),
                        each.leased(),
                        each.steps(),
                        each.step()));
        return Listed.of(listing.objects(), paged.next());
    }

    /** The three parts of a key in one word, whatever characters they have. */
    public static String cursor(IdempotencyKey key) {
        return part(key.tenant()) + "." + part(key.scope()) + "." + part(key.key());
    }

    private static String part(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static IdempotencyKey key(String cursor) {
        try {
            String[] parts = cursor.split("\\.", -1);
            if (parts.length == 3) {
                return new IdempotencyKey(text(parts[0]), text(parts[1]), text(parts[2]));
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw Refusal.invalid("after is not a cursor of this list; take it from the page before");
    }

    private static String text(String part) {
        return new String(Base64.getUrlDecoder().decode(part), StandardCharsets.UTF_8);
    }
}
