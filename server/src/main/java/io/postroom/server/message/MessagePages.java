package io.postroom.server.message;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.diagnosis.Answer;
import io.postroom.diagnosis.Code;
import io.postroom.diagnosis.Found;
import io.postroom.diagnosis.Why;
import io.postroom.journal.Journal;
import io.postroom.message.Message;
import io.postroom.server.web.Acting;
import io.postroom.server.web.Asked;
import io.postroom.server.web.JsonText;
import io.postroom.server.web.Listed;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Payloads;
import io.postroom.server.web.Refusal;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import io.postroom.server.why.WhyJson;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.util.RawValue;

/**
 * Messages, newest first, searched through a window of positions at a time; and the whole life of one.
 *
 * <p>A search says how far it looked, and goes on from there when asked.
 */
public final class MessagePages implements WebServer.Feature {
    /** How far around a message its neighbours of the same key are looked for. */
    private static final int AROUND = 20_000;

    private static final int NEAR_MAX = 5_000;

    private static final int PAGE = 50;
    private static final int CALL_PAGE_MAX = 500;
    private static final int ATTEMPTS_MAX = 100;
    private static final int RECEIPTS_MAX = 50;
    private static final int NEIGHBOURS = 5;
    private static final int SEARCHES_MAX = 3;
    private static final int SEARCH_PATIENCE_SECONDS = 3;
    private static final String PLACE = "messages";
    private static final Set<String> NAMES =
            Set.of("type", "aggregateType", "key", "tenant", "find", "data", "from", "until", "before", "limit", "far");

    private final Postroom reading;
    private final Postroom acting;
    private final BrowseTable table;
    private final MessageSearch search;
    private final LiveMessages live;
    private final Semaphore searching = new Semaphore(SEARCHES_MAX);

    public MessagePages(Postroom reading, Postroom acting) {
        this.reading = reading;
        this.acting = acting;
        this.table = new BrowseTable(reading.database().schema());
        this.search = new MessageSearch(reading, table);
        this.live = new LiveMessages(reading, table);
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes
                .page("/messages", context -> list(context, pages))
                .page("/messages/{id}", context -> show(context, pages, false))
                .page("/messages/{id}/payload", context -> payload(context, pages))
                .reveal("/messages/{id}/reveal", context -> {
                    pages.reveal(
                            acting,
                            context,
                            "message " + Asked.uuid(context.pathParam("id"), "id"),
                            Asked.formText(context, "reason"));
                    show(context, pages, true);
                })
                .call("/messages", context -> callList(context, pages))
                .stream("/messages/live", context -> watch(context, pages))
                .call("/messages/{id}", context -> callShow(context, pages))
                .change("/messages/{id}/reveal", context -> {
                    String reason = Acting.reason(context);
                    pages.reveal(acting, context, "message " + Asked.uuid(context.pathParam("id"), "id"), reason);
                    return Map.of("payload", new RawValue(message(why(context)).payload()));
                })
                .call("/messages/{id}/why", context -> WhyJson.object(why(context)));
    }

    private MessageSearch.Found search(Context context, Pages pages, int limit) {
        Asked.only(context, NAMES);
        MessageQuery query = MessageQuery.of(context);
        if (query.path() != null) {
            pages.requireShown();
        }
        return search.search(
                query,
                Asked.number(Asked.text(context, "before"), "before"),
                Asked.time(Asked.text(context, "from"), "from"),
                Asked.time(Asked.text(context, "until"), "until"),
                limit,
                Asked.text(context, "far") == null ? MessageSearch.PATIENCE : MessageSearch.PATIENCE_MAX);
    }

    private void list(Context context, Pages pages) {
        String find = Asked.text(context, "find");
        if (find != null && find.matches("(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")) {
            context.redirect(context.contextPath() + "/messages/" + find.toLowerCase(java.util.Locale.ROOT));
            return;
        }
        MessageSearch.Found search = search(context, pages, PAGE);
        pages.show(
                context,
                "messages",
                pages.page(context, "Messages", PLACE),
                "rows",
                search.rows(),
                "newest",
                search.newest(),
                "oldest",
                search.oldest(),
                "next",
                search.next(),
                "ofTenants",
                search.ofTenants(),
                "isShown",
                pages.payloads() == Payloads.SHOWN);
    }

    private Map<String, @Nullable Object> callList(Context context, Pages pages) {
        MessageSearch.Found search = search(context, pages, Asked.limit(context, PAGE, CALL_PAGE_MAX));
        Map<String, @Nullable Object> answer = Listed.of(objects(search.rows()), search.next());
        answer.put("ofTenants", search.ofTenants());
        return answer;
    }

    /** Messages as calls have them. */
    static List<Map<String, @Nullable Object>> objects(List<MessageRow> rows) {
        return MessageCommand.listing(rows).objects();
    }

    /** Goes on where a viewer who was cut off says, or where the page says that somebody looks at. */
    private LiveWatch watch(Context context, Pages pages) {
        MessageQuery query = MessageQuery.of(context);
        if (query.path() != null) {
            pages.requireShown();
        }
        Long after = Asked.number(context.header("Last-Event-ID"), "Last-Event-ID");
        if (after == null) {
            after = Asked.number(Asked.text(context, "after"), "after");
        }
        return new LiveWatch(live, query, live.begin(after, query.path()));
    }

    private void payload(Context context, Pages pages) throws InterruptedException {
        pages.requireShown();
        Why why = why(context);
        Message stored = message(why);
        Message shown = isStoredWanted(context)
                ? stored
                : MessageReading.of(reading.journal(), stored).shown();
        Pages.download(context, "message-" + why.messageId() + ".json", shown.payload());
    }

    /** Readers get messages in the newest version of their event type; whoever wants to see what is stored says so. */
    private static boolean isStoredWanted(Context context) {
        String as = Asked.text(context, "as");
        if (as != null && !as.equals("stored")) {
            throw Refusal.invalid("as is '" + as + "', it must be stored, or be left out");
        }
        return as != null;
    }

    private Message message(Why why) {
        return message(why, Objects.requireNonNull(why.message()).position())
                .orElseThrow(() -> Refusal.missing("the payload is gone with its day's partition"));
    }

    private Map<String, @Nullable Object> callShow(Context context, Pages pages) throws InterruptedException {
        Why why = why(context);
        Found found = Objects.requireNonNull(why.message());
        // Gone with its day's partition: then what is known is what the journal has.
        Optional<Message> message = message(why, found.position());
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("id", why.messageId().toString());
        answer.put("position", found.position());
        answer.put("tenantId", found.key().tenantId());
        answer.put("aggregateType", found.key().aggregateType());
        answer.put("aggregateId", found.key().aggregateId());
        answer.put("aggregateVersion", message.map(Message::aggregateVersion).orElse(null));
        answer.put("eventType", found.eventType());
        answer.put("eventVersion", found.eventVersion());
        answer.put("occurredAt", found.occurredAt().toString());
        answer.put(
                "availableAt",
                message.map(Message::availableAt).map(Instant::toString).orElse(null));
        Long position = found.position();
        MessageTransaction transaction = position == null
                ? null
                : reading.database()
                        .run(tx -> table.place(tx, position).flatMap(at -> table.transaction(tx, at)))
                        .orElse(null);
        answer.put("transaction", transaction == null ? null : transaction.xid());
        answer.put("headers", message.map(Message::headers).orElse(null));
        answer.put(
                "payload",
                message.map(each -> JsonText.raw(pages.carried(each.payload()))).orElse(null));
        Optional<MessageReading> read = message.map(each -> MessageReading.of(reading.journal(), each));
        answer.put(
                "read",
                read.filter(MessageReading::isUpcast)
                        .map(each -> each.object(pages.carried(each.shown().payload())))
                        .orElse(null));
        answer.put("unreadable", read.map(MessageReading::unreadable).orElse(null));
        return answer;
    }

    private Why why(Context context) throws InterruptedException {
        UUID id = Asked.uuid(context.pathParam("id"), "id");
        Why why = find(id);
        if (why.message() == null) {
            throw Refusal.missing("message " + id + ": " + why.answers().get(0).headline());
        }
        return why;
    }

    /** An id that tells nothing of its time is looked for in whole partitions: few may do so at a time. */
    private Why find(UUID id) throws InterruptedException {
        if (!searching.tryAcquire(SEARCH_PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new Refusal(503, "database.busy", "others are looking for messages by id; try again in some seconds");
        }
        try {
            return reading.diagnosis().why(id);
        } finally {
            searching.release();
        }
    }

    private void show(Context context, Pages pages, boolean revealed) throws InterruptedException {
        Why why = why(context);
        Found found = Objects.requireNonNull(why.message());
        Long position = found.position();
        Optional<Message> message = message(why, position);
        MessageReading read =
                message.map(each -> MessageReading.of(reading.journal(), each)).orElse(null);
        boolean stored = isStoredWanted(context);
        Optional<Message> shown = read == null ? message : Optional.of(stored ? read.stored() : read.shown());
        pages.show(
                context,
                "message",
                pages.page(context, found.eventType(), PLACE),
                "why",
                why,
                "message",
                message.orElse(null),
                "read",
                read,
                "stored",
                stored,
                "payload",
                shown.map(each -> revealed ? each.payload() : pages.carried(each.payload()))
                        .map(JsonText::pretty)
                        .orElse(null),
                "payloads",
                pages.payloads(),
                "revealed",
                revealed,
                "transaction",
                position == null
                        ? null
                        : reading.database()
                                .run(tx -> table.place(tx, position).flatMap(at -> table.transaction(tx, at)))
                                .orElse(null),
                "deliveries",
                MessageDelivery.of(why),
                "letter",
                openLetter(why),
                "attempts",
                position == null ? List.of() : reading.database().run(tx -> table.attempts(tx, position, ATTEMPTS_MAX)),
                "receipts",
                reading.database().run(tx -> table.receipts(tx, why.messageId(), RECEIPTS_MAX)),
                "neighbours",
                position == null ? List.of() : neighbours(found, position));
    }

    /** The dead letter that waits for somebody's decision; null if none does. */
    private @Nullable Long openLetter(Why why) {
        return why.answers().stream()
                .flatMap(answer -> answer.reasons().stream())
                .filter(reason -> reason.code() == Code.DEAD_LETTER || reason.code() == Code.HELD)
                .map(reason -> reason.evidence().get("deadLetter"))
                .filter(Long.class::isInstance)
                .map(Long.class::cast)
                .filter(id -> reading.deadLetters().get(id).stream().anyMatch(letter -> letter.resolution() == null))
                .findFirst()
                .orElse(null);
    }

    /** From the outbox; from a dead letter where its day is gone. */
    private Optional<Message> message(Why why, @Nullable Long position) {
        if (position != null) {
            Optional<Journal.Place> place = reading.database().run(tx -> table.place(tx, position));
            Optional<Message> stored = place.flatMap(at ->
                    Optional.ofNullable(reading.journal().fetch(List.of(at)).get(at)));
            if (stored.isPresent()) {
                return stored;
            }
        }
        return why.answers().stream()
                .map(Answer::reasons)
                .flatMap(List::stream)
                .map(reason -> reason.evidence().get("deadLetter"))
                .filter(Long.class::isInstance)
                .map(id -> reading.deadLetters().get((Long) id))
                .flatMap(Optional::stream)
                .map(letter -> letter.message())
                .findFirst();
    }

    private List<MessageRow> neighbours(Found found, long position) {
        Integer keyHash = found.keyHash();
        if (keyHash == null) {
            return List.of();
        }
        MessageQuery query = new MessageQuery(
                null,
                found.key().aggregateType(),
                found.key().aggregateId(),
                found.key().tenantId(),
                null,
                null,
                null);
        return reading.database().run(tx -> {
            List<MessageRow> all = table.rows(
                    tx, table.entries(tx, Math.max(0, position - AROUND), position + AROUND, keyHash, NEAR_MAX), query);
            List<MessageRow> later =
                    all.stream().filter(row -> row.position() > position).toList();
            List<MessageRow> earlier = all.stream()
                    .filter(row -> row.position() <= position)
                    .limit(NEIGHBOURS + 1)
                    .toList();
            List<MessageRow> near =
                    new java.util.ArrayList<>(later.subList(Math.max(0, later.size() - NEIGHBOURS), later.size()));
            near.addAll(earlier);
            return near;
        });
    }
}
