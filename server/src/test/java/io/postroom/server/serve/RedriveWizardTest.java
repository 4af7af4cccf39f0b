package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class RedriveWizardTest {
    private static final Pattern FIELD = Pattern.compile("<input type=\"hidden\" name=\"([^\"]+)\" value=\"([^\"]*)\"");

    private ConsoleUnderTest console;

    @BeforeEach
    void start() throws Exception {
        console = ConsoleUnderTest.start();
        Hostile.fill(console.database());
    }

    @AfterEach
    void stop() {
        console.close();
    }

    /** What the form of the preview carries, as the browser would send it. */
    private Map<String, String> preview(String query) throws Exception {
        String page = console.get("/redrives/new?" + query).body();
        Map<String, String> fields = new LinkedHashMap<>();
        Matcher field = FIELD.matcher(page.substring(page.indexOf("<form class=\"act-form\"")));
        while (field.find()) {
            if (!field.group(1).equals("formToken")) {
                fields.put(field.group(1), field.group(2));
            }
        }
        return fields;
    }

    private JsonNode awaitEnd(String id) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (System.nanoTime() < deadline) {
            JsonNode redrive = JsonMapper.shared()
                    .readTree(console.get("/api/v1/redrives/" + id).body());
            if (!redrive.get("endedAt").isNull()) {
                return redrive;
            }
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
        throw new AssertionError("redrive " + id + " does not end");
    }

    @Test
    void doesWhatThePreviewCountedAndNothingThatCameLater() throws Exception {
        Map<String, String> form = preview("subscription=shipping");
        assertThat(form).containsEntry("letters", "5").containsKey("id");
        console.database()
                .execute(
                        "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                                + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by)"
                                + " select source, owner, 6, key_hash, gen_random_uuid(), aggregate_type, aggregate_id, event_type,"
                                + " event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint, buried_by from"
                                + " postroom.dead_letter where id = 1");
        form.put("reason", "the carrier is back");
        HttpResponse<String> answer = console.submit("/redrives/new?subscription=shipping", "/redrives", form);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(302);
        String path = "/redrives/" + form.get("id");
        assertThat(answer.headers().firstValue("Location").orElse("")).endsWith(path);
        assertThat(awaitEnd(form.get("id")).get("done").asInt()).isEqualTo(5);
        assertThat(console.get(path).body()).contains("the carrier is back").contains("done");
        assertThat(console.database().queryLong("select count(*) from postroom.dead_letter where resolution is null"))
                .isEqualTo(1);

        assertThat(console.submit("/redrives/new?subscription=shipping", "/redrives", form)
                        .statusCode())
                .isEqualTo(302);
        assertThat(console.database().queryLong("select count(*) from postroom.redrive"))
                .isEqualTo(1);
        assertThat(console.database()
                        .queryLong("select count(*) from postroom.audit where action = 'deadletter redrive'"))
                .isEqualTo(1);
    }

    @Test
    void discardsOnlyWhenTheCountIsTyped() throws Exception {
        String query = "subscription=shipping&action=discard";
        Map<String, String> form = preview(query);
        form.put("reason", "test data");
        form.put("confirm", "4");
        assertThat(console.submit("/redrives/new?" + query, "/redrives", form).body())
                .contains("to discard 5 dead letters, type 5; nothing was done");
        assertThat(console.database().queryLong("select count(*) from postroom.redrive"))
                .isZero();
        form.put("confirm", "5");
        assertThat(console.submit("/redrives/new?" + query, "/redrives", form).statusCode())
                .isEqualTo(302);
        awaitEnd(form.get("id"));
        assertThat(console.database()
                        .queryLong("select count(*) from postroom.dead_letter where resolution = 'discarded'"))
                .isEqualTo(5);
    }

    @Test
    void aSlowOneIsCancelledAndLeavesTheRestOpen() throws Exception {
        Map<String, String> form = preview("subscription=shipping");
        form.put("reason", "slowly");
        form.put("rate", "0.01");
        console.submit("/redrives/new?subscription=shipping", "/redrives", form);
        String path = "/redrives/" + form.get("id");
        assertThat(console.submit(path, path + "/cancel", Map.of("reason", "enough"))
                        .statusCode())
                .isEqualTo(302);
        assertThat(awaitEnd(form.get("id")).get("state").asString()).isEqualTo("cancelled");
        assertThat(console.get(path).body()).contains("enough").doesNotContain("Cancel the rest");
        assertThat(console.database().queryLong("select count(*) from postroom.dead_letter where resolution is null"))
                .isGreaterThanOrEqualTo(4);
    }

    @Test
    void aMisspeltFilterOfACallMeansNothing() throws Exception {
        HttpResponse<String> answer = console.call(
                "/redrives",
                "k1",
                "{\"action\":\"discard\",\"subscription\":\"shipping\",\"eventType\":\"OrderPaid\",\"reason\":\"x\"}");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("'eventType' is not a field of the body here");
        assertThat(console.call("/redrives", "k2", "{\"subscription\":\"a\",\"subscription\":\"b\",\"reason\":\"x\"}")
                        .body())
                .contains("has a field twice");
        assertThat(console.call("/redrives", "k3", "{\"subscription\":\"a\\u0000\",\"reason\":\"x\"}")
                        .body())
                .contains("subscription has the character U+0000");
        assertThat(console.database().queryLong("select count(*) from postroom.redrive"))
                .isZero();
    }

    /** So many that nobody counts them: whoever discards them says that they know. */
    @Test
    void aCallDiscardsMoreThanWereCountedOnlyIfItSaysSo() throws Exception {
        console.database()
                .execute(
                        "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                                + " event_type, event_version, payload, occurred_at, cause, attempts, error_class, error, fingerprint,"
                                + " buried_by) select 'subscription', 'shipping', 100 + n, 1, gen_random_uuid(), 'order', 'o', 'OrderPaid', 1,"
                                + " '{}', now(), 'exhausted', 5, 'e', 'e', 'f', 'relay' from generate_series(1, 10000) as n");
        JsonNode plan = JsonMapper.shared()
                .readTree(console.call("/redrives/plan", "k1", "{\"subscription\":\"shipping\",\"rate\":50}")
                        .body());
        assertThat(plan.get("letters").asInt()).isEqualTo(10_000);
        assertThat(plan.get("lettersExact").asBoolean()).isFalse();
        assertThat(plan.get("estimatedSeconds").isNull()).isTrue();
        String discard =
                "{\"action\":\"discard\",\"subscription\":\"shipping\",\"reason\":\"x\",\"letters\":10000,\"idMax\":"
                        + plan.get("idMax") + "%s}";
        HttpResponse<String> refused = console.call("/redrives", "k2", discard.formatted(""));
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(409);
        assertThat(refused.body())
                .contains("the filter means more than 10000 dead letters")
                .contains("redrive.grown");
        assertThat(console.database().queryLong("select count(*) from postroom.redrive"))
                .isZero();
        HttpResponse<String> done = console.call("/redrives", "k3", discard.formatted(",\"lettersExact\":false"));
        assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
        awaitEnd(JsonMapper.shared().readTree(done.body()).get("id").asString());
        assertThat(console.database()
                        .queryLong("select count(*) from postroom.dead_letter where resolution = 'discarded'"))
                .isEqualTo(10_005);
    }

    @Test
    void aCallDiscardsWhatItsPlanCountedAndNoMore() throws Exception {
        String discard = "{\"action\":\"discard\",\"subscription\":\"shipping\",\"reason\":\"x\"%s}";
        assertThat(console.call("/redrives", "k1", discard.formatted("")).body())
                .contains("letters or idMax is missing");
        JsonNode plan = JsonMapper.shared()
                .readTree(console.call("/redrives/plan", "k2", "{\"subscription\":\"shipping\"}")
                        .body());
        assertThat(plan.get("letters").asInt()).isEqualTo(5);
        String few = ",\"letters\":4,\"idMax\":" + plan.get("idMax");
        assertThat(console.call("/redrives", "k3", discard.formatted(few)).statusCode())
                .isEqualTo(409);
        assertThat(console.database().queryLong("select count(*) from postroom.redrive"))
                .isZero();
        String all = few.replace("4", "5").replace("idMax\":5", "idMax\":" + plan.get("idMax"));
        HttpResponse<String> done = console.call("/redrives", "k4", discard.formatted(all));
        assertThat(done.statusCode()).as(done.body()).isEqualTo(200);
        awaitEnd(JsonMapper.shared().readTree(done.body()).get("id").asString());
        assertThat(console.database()
                        .queryLong("select count(*) from postroom.dead_letter where resolution = 'discarded'"))
                .isEqualTo(5);
    }

    @Test
    void theWholeFilterGoesFromTheListToTheRedrive() throws Exception {
        String query = "subscription=shipping&aggregateType=order&cause=exhausted&from=2020-01-01T00:00:00Z&ids=1,2";
        String list = console.get("/dead-letters/list?" + query).body();
        String link =
                list.replaceAll("(?s).*href=\"(/redrives/new[^\"]*)\".*", "$1").replace("&amp;", "&");
        assertThat(link).contains("ids=1%2C2", "aggregateType=order", "cause=exhausted", "from=2020");
        assertThat(preview(link.substring(link.indexOf('?') + 1))).containsEntry("letters", "2");
        assertThat(list)
                .contains("<input type=\"hidden\" name=\"ids\" value=\"1,2\">")
                .contains("<input type=\"hidden\" name=\"cause\" value=\"exhausted\">");
        assertThat(console.get("/dead-letters/list?subscription=a&subscription=shipping")
                        .body())
                .contains("'subscription' is given 2 times");
    }

    @Test
    void theSameKeyIsTheSameActAndAnotherOneWithItIsRefused() throws Exception {
        String key = UUID.randomUUID().toString();
        String body = "{\"subscription\":\"shipping\",\"rate\":0.01,\"reason\":\"x\"}";
        assertThat(JsonMapper.shared()
                        .readTree(console.call("/redrives", key, body).body())
                        .get("id")
                        .asString())
                .isEqualTo(key);
        assertThat(console.call("/redrives", key, body).statusCode()).isEqualTo(200);
        assertThat(console.database().queryLong("select count(*) from postroom.redrive"))
                .isEqualTo(1);
        HttpResponse<String> other = console.call("/redrives", key, body.replace("0.01", "7"));
        assertThat(other.statusCode()).isEqualTo(422);
        assertThat(other.body()).contains("redrive.other");
    }

    @Test
    void aCallThatIsSentAgainSaysThatItIsAReplay() throws Exception {
        String key = UUID.randomUUID().toString();
        String body = "{\"subscription\":\"shipping\",\"rate\":0.001,\"reason\":\"again\"}";
        HttpResponse<String> first = console.call("/redrives", key, body);
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        HttpResponse<String> again = console.call("/redrives", key, body);
        assertThat(again.statusCode()).isEqualTo(200);
        assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
    }
}
