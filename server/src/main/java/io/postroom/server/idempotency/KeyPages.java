package io.postroom.server.idempotency;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.KeyDetails;
import io.postroom.idempotency.KeyFilter;
import io.postroom.idempotency.KeyState;
import io.postroom.server.terminal.Listing;
import io.postroom.server.web.Asked;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Idempotency keys as operators see them: never an answer, only that there is one. */
public final class KeyPages implements WebServer.Feature {
    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;
    private static final Set<String> NAMES = Set.of("tenant", "scope", "state", "after", "limit");
    private static final List<String> STATES =
            Arrays.stream(KeyState.values()).map(KeyState::toString).toList();

    private final Postroom reading;

    public KeyPages(Postroom reading) {
        this.reading = reading;
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/idempotency-keys", context -> {
                    List<KeyDetails> keys = keys(context, PAGE + 1);
                    boolean hasMore = keys.size() > PAGE;
                    List<KeyDetails> shown = hasMore ? keys.subList(0, PAGE) : keys;
                    pages.show(
                            context,
                            "idempotency-keys",
                            pages.page(context, "Idempotency keys", "idempotency-keys"),
                            "keys",
                            shown,
                            "states",
                            STATES,
                            "next",
                            hasMore ? cursor(shown.get(PAGE - 1).key()) : null);
                })
                .call("/idempotency-keys", this::call);
    }

    private List<KeyDetails> keys(Context context, int limit) {
        Asked.only(context, NAMES);
        String word = Asked.word(Asked.text(context, "state"), "state", STATES);
        KeyFilter filter = new KeyFilter(
                Asked.text(context, "tenant"),
                Asked.text(context, "scope"),
                word == null ? null : KeyState.values()[STATES.indexOf(word)]);
        String after = Asked.text(context, "after");
        return reading.idempotencyKeys().list(filter, after == null ? null : key(after), limit);
    }

    private Map<String, @Nullable Object> call(Context context) {
        int limit = Asked.limit(context, PAGE, CALL_PAGE_MAX);
        List<KeyDetails> keys = keys(context, limit);
        Listing listing = new Listing(
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
        keys.forEach(each -> listing.row(
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
        return Listed.of(
                listing.objects(),
                keys.size() == limit ? cursor(keys.get(limit - 1).key()) : null);
    }

    /** The three parts of a key in one word, whatever characters they have. */
    private static String cursor(IdempotencyKey key) {
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
