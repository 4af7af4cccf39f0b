package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.CommandRun;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Looks for messages that lie far back, and beside those that PostgreSQL cannot read. */
class MessageSearchTest {
    private static final int OTHERS = 60_000;
    /** Each ends with what no text of PostgreSQL can hold; the last one is fine. */
    private static final String[] PAYLOADS = {
        "{\"a\":\"\\u0000\",\"b\":\"x\"}",
        "{\"a\":\"\\ud83d\",\"b\":\"x\"}",
        "{\"a\":\"\\ud83d\\ude00 \\\\u0000\",\"b\":\"x\"}"
    };

    private static ConsoleUnderTest console;

    @BeforeAll
    static void start() throws Exception {
        console = ConsoleUnderTest.start();
        insert("select 'order', 'o-first', null, 'OrderPlaced', '{}'::json");
        insert("select 'order', 'o-first', 'acme', 'OrderPlaced', '{}'::json");
        insert("select 'order', 'o-' || n, null, 'OrderPaid', '{}'::json from generate_series(1, " + OTHERS + ") as n");
        for (String payload : PAYLOADS) {
            insert("select 'odd', 'p', null, 'Odd', '" + payload + "'::json");
        }
        console.database().postroom().journal().stampAll();
        console.database().execute("analyze");
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    private static void insert(String rows) {
        console.database()
                .execute(
                        "insert into postroom.outbox (id, aggregate_type, aggregate_id, tenant_id, event_type, payload)"
                                + " select gen_random_uuid(), made.* from (" + rows + ") as made");
    }

    private static JsonNode list(String query) throws Exception {
        HttpResponse<String> answer = console.get("/api/v1/messages?" + query);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonMapper.shared().readTree(answer.body());
    }

    private static int found(String query) throws Exception {
        int found = 0;
        String next = "";
        while (next != null) {
            JsonNode page = list(query + next);
            found += page.get("items").size();
            next = page.get("next").isNull()
                    ? null
                    : "&before=" + page.get("next").asString();
        }
        return found;
    }

    @Test
    void aWholeKeyIsFoundFarBackWithItsTenantOrWithoutOne() throws Exception {
        assertThat(found("aggregateType=order&key=o-first")).isPositive();
        JsonNode page = list("aggregateType=order&key=o-first&tenant=acme");
        for (int i = 0; i < 3 && page.get("items").isEmpty(); i++) {
            page = list("aggregateType=order&key=o-first&tenant=acme&before="
                    + page.get("next").asString());
        }
        assertThat(page.get("items").get(0).get("position").asLong()).isEqualTo(2);
    }

    /** The newest have no tenant, so the search goes on by the hash of a key without one. */
    @Test
    void aSearchSaysWhereItLookedForMessagesWithoutATenantOnly() throws Exception {
        JsonNode page = list("aggregateType=order&key=o-first");
        assertThat(page.get("ofTenants").asBoolean()).isFalse();
        assertThat(list("aggregateType=order&key=o-first&tenant=acme")
                        .get("ofTenants")
                        .asBoolean())
                .isTrue();
        assertThat(list("type=OrderPaid&limit=5").get("ofTenants").asBoolean()).isTrue();
        CommandRun run = CommandRun.of(
                Map.of("POSTROOM_URL", console.database().url()),
                "message",
                "list",
                "--aggregate-type",
                "order",
                "--key",
                "o-first");
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.err()).contains("only messages without a tenant were looked for; give --tenant");
    }

    @Test
    void theLinkToTheKeyOfAMessageShowsIt() throws Exception {
        JsonNode row = list("before=3&limit=1").get("items").get(0);
        String page = console.get("/messages/" + row.get("id").asString()).body();
        String link = page.replaceAll("(?s).*<dt>Aggregate</dt><dd><a href=\"([^\"]+)\".*", "$1")
                .replace("&amp;", "&");
        assertThat(link).contains("before=5002");
        assertThat(console.get(link).body()).contains(row.get("id").asString());
        assertThat(page).contains("<b>Committed</b> by transaction ");
    }

    @Test
    void aSearchThatFindsNothingOffersToGoOn() throws Exception {
        String page = console.get("/messages?type=Nothing").body();
        if (page.contains("Look further back")) {
            assertThat(page).contains("Go on until found").contains("far=yes");
        }
        assertThat(console.get("/messages?type=Nothing&far=yes").statusCode()).isEqualTo(200);
    }

    @Test
    void aPayloadThatPostgresqlCannotReadHidesNoOther() throws Exception {
        assertThat(list("data=b%3Dx&limit=10").get("items")).hasSize(1);
        try (Events live = console.watch("/messages/live?data=b%3Dx&after=" + (OTHERS + 1))) {
            assertThat(live.next("message").get("position").asLong()).isEqualTo(OTHERS + 5);
        }
    }

    @Test
    void timesAreGivenFromAndUntilAsPeopleSayThem() throws Exception {
        assertThat(list("from=15m&limit=5").get("items")).hasSize(5);
        assertThat(list("from=2000-01-01T00:00:00Z&until=now-2h").get("items")).isEmpty();
        assertThat(list("until=now-2h").get("items")).isEmpty();
        assertThat(console.get("/api/v1/messages?from=soon").body()).contains("or 15m for that long ago");
    }
}
