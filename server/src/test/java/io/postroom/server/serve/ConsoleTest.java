package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.web.WebSettings;
import java.net.Socket;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ConsoleTest {
    private static ConsoleUnderTest console;
    private static String messageId;

    @BeforeAll
    static void start() throws Exception {
        console = ConsoleUnderTest.start();
        Hostile.fill(console.database());
        JsonNode letter =
                json(console.get("/api/v1/dead-letters?limit=1")).get("items").get(0);
        messageId = letter.get("messageId").asString();
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    private static JsonNode json(HttpResponse<String> response) {
        return JsonMapper.shared().readTree(response.body());
    }

    private static long count(String table) {
        return console.database().queryLong("select count(*) from postroom." + table);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/messages",
                "/messages?type=OrderPaid",
                "/messages/MESSAGE",
                "/subscriptions",
                "/subscriptions/shipping",
                "/subscriptions/claims",
                "/subscriptions/claims/deliveries",
                "/dead-letters",
                "/dead-letters?subscription=shipping",
                "/dead-letters/list",
                "/dead-letters/1",
                "/redrives",
                "/redrives/new",
                "/redrives/new?subscription=shipping",
                "/redrives/new?ids=1,2&action=discard",
                "/jobs",
                "/jobs?queue=mail&state=ready",
                "/jobs/1",
                "/queues",
                "/schedules",
                "/schedules/nightly",
                "/read-models",
                "/idempotency-keys",
                "/audit",
                "/database",
                "/doctor"
            })
    void everyPageShowsWhatOthersWroteAsText(String path) throws Exception {
        HttpResponse<String> page = console.get(path.replace("MESSAGE", messageId));
        assertThat(page.statusCode()).as(page.body()).isEqualTo(200);
        assertThat(page.body())
                .contains("<h1")
                .contains("</html>")
                .doesNotContain("<img")
                .doesNotContain("alert(1)</script>");
        assertThat(page.body())
                .doesNotContain(" style=")
                .doesNotContain("onclick")
                .doesNotContain("javascript:");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                .contains("default-src 'none'", "script-src 'self'")
                .doesNotContain("unsafe");
        assertThat(page.headers().firstValue("Cache-Control")).contains("no-store");
        assertThat(page.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    }

    @Test
    void whatOthersWroteIsThereAllTheSame() throws Exception {
        String shown = "&lt;img src=x onerror=alert(1)&gt;";
        assertThat(console.get("/dead-letters/1").body()).contains(shown);
        assertThat(console.get("/messages/" + messageId).body()).contains(shown);
        assertThat(console.get("/audit").body()).contains(shown);
        assertThat(console.get("/idempotency-keys").body()).contains(shown);
        assertThat(console.get("/subscriptions/claims").body()).contains(shown);
        assertThat(console.get("/subscriptions/claims/deliveries").body()).contains(shown);
    }

    @Test
    void reflectsNoMarkupOfAnAddress() throws Exception {
        String markup = URLEncoder.encode(Hostile.MARKUP, StandardCharsets.UTF_8);
        for (String path : new String[] {
            "/messages?type=" + markup,
            "/messages?find=" + markup,
            "/messages/" + markup.replace("+", "%20").replace("%2F", ""),
            "/subscriptions/" + markup.replace("+", "%20").replace("%2F", ""),
            "/dead-letters?subscription=" + markup,
            "/dead-letters/list?key=" + markup + "&tenant=" + markup,
            "/redrives/new?subscription=" + markup,
            "/audit?actor=" + markup,
            "/idempotency-keys?scope=" + markup,
            "/audit?" + markup + "=1",
            "/" + markup.replace("+", "%20").replace("%2F", "")
        }) {
            assertThat(console.get(path).body()).as(path).doesNotContain("<img");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "/api/v1/status                          | 200 | \"problems\":[",
                "/api/v1/subscriptions                   | 200 | \"name\":\"shipping\"",
                "/api/v1/subscriptions/shipping          | 200 | \"laneStates\":[",
                "/api/v1/subscriptions/nobody            | 404 | subscription.unknown",
                "/api/v1/lanes?subscription=shipping     | 200 | \"lane\":0",
                "/api/v1/messages?data=customer.id=c-7   | 200 | OrderPaid",
                "/api/v1/messages?typo=1                 | 400 | 'typo' is not a parameter here",
                "/api/v1/messages?limit=0                | 400 | limit is 0, the range is 1 to 500",
                "/api/v1/messages?before=x               | 400 | before is 'x', not a whole number",
                "/api/v1/messages?data=x                 | 400 | write customer.id=77",
                "/api/v1/messages/x/why                  | 400 | not a UUID",
                "/api/v1/messages/00000000-0000-4000-8000-000000000001/why | 404 | message 00000000",
                "/api/v1/dead-letters/groups             | 200 | \"letters\":5",
                "/api/v1/dead-letters/1                  | 200 | \"payload\"",
                "/api/v1/dead-letters/999                | 404 | there is no dead letter 999",
                "/api/v1/dead-letters?cause=x            | 400 | cause is 'x', it is one of",
                "/api/v1/dead-letters?from=yesterday     | 400 | write 2026-11-15T10:00:00Z",
                "/api/v1/redrives                        | 200 | \"items\":[",
                "/api/v1/redrives?state=done             | 400 | 'state' is not a parameter here",
                "/api/v1/redrives/00000000-0000-4000-8000-000000000001 | 404 | redrive.unknown",
                "/api/v1/audit                           | 200 | \"items\":[",
                "/api/v1/idempotency-keys?after=%20x     | 400 | after is not a cursor",
                "/api/v1/jobs?queue=mail                 | 200 | \"kind\":\"mail.send\"",
                "/api/v1/jobs/1                          | 200 | \"attempts\":[{",
                "/api/v1/jobs/99                         | 404 | there is no job 99",
                "/api/v1/jobs?state=gone                 | 400 | state is 'gone', it is one of",
                "/api/v1/queues                          | 200 | \"ready\":1",
                "/api/v1/schedules                       | 200 | \"name\":\"nightly\"",
                "/api/v1/schedules/nightly               | 200 | \"name\":\"nightly\"",
                "/api/v1/schedules/nobody                | 404 | schedule.unknown",
                "/api/v1/subscriptions/shipping/held-keys | 200 | \"items\":[]",
                "/api/v1/subscriptions/nobody/held-keys  | 404 | subscription.unknown",
                "/api/v1/subscriptions/claims/deliveries?state=waiting | 200 | \"attempts\":3",
                "/api/v1/subscriptions/claims/deliveries?limit=2 | 200 | \"next\":\"7\"",
                "/api/v1/subscriptions/claims/deliveries?state=lost | 400 | state is 'lost', it is one of waiting, sending",
                "/api/v1/subscriptions/nobody/deliveries | 404 | subscription.unknown",
                "/api/v1/messages?until=2000-01-01T00:00:00Z | 200 | \"items\":[],\"next\":null",
                "/api/v1/messages?until=2026-11-16T10:00 | 400 | not a time with its zone",
                "/api/v1/messages?before=1               | 200 | \"next\":null",
                "/api/v1/read-models                     | 200 | \"items\":[]",
                "/api/v1/materialized-views              | 200 | shop.sales",
                "/api/v1/database                        | 200 | \"daysAhead\":",
                "/api/v1/doctor                          | 200 | \"findings\":[{",
                "/api/v1/advice                          | 200 | \"messagesPerSecond\":",
                "/api/v1/nothing                         | 404 | there is nothing at this address"
            })
    void callsAnswerInJson(String path, int status, String part) throws Exception {
        HttpResponse<String> answer = console.get(path);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.body()).contains(part);
        assertThat(json(answer).isObject()).isTrue();
        assertThat(answer.headers().firstValue("Content-Type"))
                .contains(status == 200 ? "application/json" : "application/problem+json");
    }

    @Test
    void pagesAreFollowedByTheirCursorsWithoutGapOrRepetition() throws Exception {
        StringBuilder seen = new StringBuilder();
        String before = "";
        for (int page = 0; page < 10 && before != null; page++) {
            JsonNode answer = json(console.get("/api/v1/messages?limit=3" + before));
            answer.get("items")
                    .forEach(item -> seen.append(item.get("position")).append(' '));
            before = answer.get("next").isNull()
                    ? null
                    : "&before=" + answer.get("next").asString();
        }
        assertThat(seen).hasToString("10 9 8 7 6 5 4 3 2 1 ");
    }

    @Test
    void formsOfOthersDoNothing() throws Exception {
        long acts = count("audit");
        String form = "application/x-www-form-urlencoded";
        String path = "/subscriptions/shipping/pause";
        console.get("/");
        assertThat(console.send("POST", path, "reason=x", "Content-Type", form).statusCode())
                .isEqualTo(403);
        assertThat(console.send("POST", path, "reason=x&formToken=abc", "Content-Type", form)
                        .body())
                .contains("this form is too old, or not ours");
        assertThat(console.send("POST", path, "reason=x", "Content-Type", form, "Origin", "https://evil.example")
                        .body())
                .contains("a page of another site");
        assertThat(console.send("POST", path, "reason=x", "Content-Type", form, "Sec-Fetch-Site", "cross-site")
                        .body())
                .contains("a page of another site");
        assertThat(console.send("POST", "/api/v1" + path, "{}", "Content-Type", "text/plain", "Idempotency-Key", "a")
                        .statusCode())
                .isEqualTo(415);
        assertThat(console.send(
                                "POST",
                                "/api/v1" + path,
                                "{}",
                                "Content-Type",
                                "application/json",
                                "Idempotency-Key",
                                "a",
                                "Origin",
                                "null")
                        .statusCode())
                .isEqualTo(403);
        assertThat(count("audit")).isEqualTo(acts);
        assertThat(
                        console.database()
                                .queryLong(
                                        "select count(*) from postroom.subscription where name = 'shipping' and paused_at is not null"))
                .isZero();
    }

    @Test
    void whatIsTooLargeIsRefused() throws Exception {
        console.get("/");
        String large = "reason=" + "x".repeat(300_000);
        assertThat(console.send(
                                "POST",
                                "/subscriptions/shipping/pause",
                                large,
                                "Content-Type",
                                "application/x-www-form-urlencoded")
                        .statusCode())
                .isEqualTo(413);
        assertThat(console.call("/subscriptions/shipping/pause", "a", "{\"reason\":\"" + "x".repeat(300_000) + "\"}")
                        .statusCode())
                .isEqualTo(413);
        assertThat(console.get("/messages?type=" + "x".repeat(2_000)).body())
                .contains("type is 2000 characters, the limit is 1000");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{}                                            | reason is missing",
                "[]                                            | the body is not a JSON object",
                "{                                             | the body is not JSON",
                "{\"reason\":{}}                               | reason is an object or an array",
                "{\"reason\":\"x\"}                            | the filter is empty",
                "{\"reason\":\"x\",\"subscription\":\"shipping\",\"rate\":\"fast\"} | rate is 'fast'",
                "{\"reason\":\"x\",\"subscription\":\"shipping\",\"canary\":0}     | canary is 0, the range is 1",
                "{\"reason\":\"x\",\"subscription\":\"shipping\",\"action\":\"burn\"} | action is 'burn', it is one of"
            })
    void actsThatCannotBeReadDoNothing(String body, String sentence) throws Exception {
        HttpResponse<String> answer =
                console.call("/redrives", UUID.randomUUID().toString(), body);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains(sentence);
    }

    @Test
    void aCallWithoutKeyIsRefused() throws Exception {
        assertThat(console.send("POST", "/api/v1/redrives", "{}", "Content-Type", "application/json")
                        .body())
                .contains("idempotency.key-missing")
                .contains("\"title\":\"Idempotency-Key is missing\"");
    }

    @Test
    void answersOnlyNamesOfThisMachine() throws Exception {
        // A page of the internet whose name was made to point to this machine asks under its own name.
        String port = console.url().replaceAll(".*:", "");
        try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(port))) {
            socket.getOutputStream()
                    .write("GET /api/v1/audit HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).startsWith("HTTP/1.1 421").doesNotContain("\"items\"");
        }
    }

    @Test
    void toBeOnTheSameMachineIsNotEnough() throws Exception {
        try (ConsoleUnderTest other = ConsoleUnderTest.start(WebSettings.local(0))) {
            assertThat(other.get("/api/v1/audit").statusCode()).isEqualTo(401);
            assertThat(other.get("/").headers().firstValue("Location").orElse(""))
                    .endsWith("/sign-in");
            assertThat(other.get("/sign-in?token=guess").statusCode()).isEqualTo(200);
            assertThat(other.get("/").statusCode()).isEqualTo(302);
            assertThat(other.enter().statusCode()).isEqualTo(302);
            assertThat(other.get("/").statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"})
    void answersNoProxyWithoutUsers(String header) throws Exception {
        HttpResponse<String> answer = console.send("GET", "/api/v1/audit", "", header, "10.0.0.7");
        assertThat(answer.statusCode()).isEqualTo(421);
        assertThat(answer.body()).contains("request.proxied");
    }

    @Test
    void pagesOfOthersMayLeadHereAndAskForNothing() throws Exception {
        String[] fetched = {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"};
        String[] followed = {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"};
        assertThat(console.send("GET", "/redrives/new?subscription=shipping", "", fetched)
                        .statusCode())
                .isEqualTo(403);
        assertThat(console.send("GET", "/api/v1/audit", "", followed).statusCode())
                .isEqualTo(403);
        assertThat(console.send("GET", "/dead-letters", "", followed).statusCode())
                .isEqualTo(200);
    }

    @Test
    void aCallThatIsSentAgainDoesNothingAgain() throws Exception {
        console.database()
                .execute(
                        "insert into postroom.subscription (name, lanes, paused_at, paused_by, pause_reason) values ('mail', 1, now(),"
                                + " 'x', 'y')",
                        "insert into postroom.lane (subscription, lane, position) values ('mail', 0, 0)");
        String path = "/subscriptions/mail";
        String key = UUID.randomUUID().toString();
        HttpResponse<String> first = console.call(path + "/resume", key, "{\"reason\":\"x\"}");
        assertThat(first.body()).contains("\"wasPaused\":true");
        console.call(path + "/pause", UUID.randomUUID().toString(), "{\"reason\":\"again\"}");
        assertThat(console.call(path + "/resume", key, "{\"reason\":\"x\"}").body())
                .isEqualTo(first.body());
        assertThat(console.database()
                        .queryLong(
                                "select count(*) from postroom.subscription where name = 'mail' and paused_at is null"))
                .isZero();
        assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
        assertThat(console.call(path + "/resume", key, "{\"reason\":\"x\"}")
                        .headers()
                        .firstValue("Idempotent-Replayed"))
                .contains("true");
        HttpResponse<String> other = console.call(path + "/resume", key, "{\"reason\":\"y\"}");
        assertThat(other.statusCode()).isEqualTo(422);
        assertThat(other.body())
                .contains("\"type\":\"urn:postroom:problem:idempotency.mismatch\"")
                .contains("\"title\":\"Idempotency-Key is already used\"");
    }

    @Test
    void aKeyThatComesTwiceIsRefused() throws Exception {
        HttpResponse<String> answer = console.send(
                "POST",
                "/api/v1/subscriptions/shipping/pause",
                "{\"reason\":\"x\"}",
                "Content-Type",
                "application/json",
                "Idempotency-Key",
                "a",
                "Idempotency-Key",
                "b");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).contains("idempotency.key-invalid");
    }

    @Test
    void aCallThatWaitsForItsLikeSaysWhenToComeAgain() throws Exception {
        String key = UUID.randomUUID().toString();
        try (Connection other = console.database().begin();
                PreparedStatement taken = other.prepareStatement(
                        "insert into postroom.act (actor, key, asked) values (?, ?, sha256('x'))")) {
            taken.setString(1, System.getProperty("user.name"));
            taken.setString(2, "call " + key);
            taken.executeUpdate();
            HttpResponse<String> answer = console.call("/subscriptions/shipping/pause", key, "{\"reason\":\"x\"}");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(409);
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            assertThat(answer.body()).contains("A request is outstanding for this Idempotency-Key");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PUT", "DELETE", "PATCH"})
    void whatIsNeitherReadNorActedOnIsRefusedWithWhatIs(String method) throws Exception {
        HttpResponse<String> answer = console.send(method, "/api/v1/audit", "x");
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD, POST");
        assertThat(answer.body()).contains("request.method");
    }

    @Test
    void aFormThatIsSentAgainLeadsToTheSameJob() throws Exception {
        Map<String, String> form = Map.of("reason", "x", "id", UUID.randomUUID().toString());
        HttpResponse<String> first = console.submit("/schedules/nightly", "/schedules/nightly/run", form);
        long jobs = count("job");
        HttpResponse<String> second = console.submit("/schedules/nightly", "/schedules/nightly/run", form);
        assertThat(second.headers().firstValue("Location"))
                .isEqualTo(first.headers().firstValue("Location"))
                .isPresent();
        assertThat(count("job")).isEqualTo(jobs);
    }

    @Test
    void aScheduleIsRunOnceForAKey() throws Exception {
        String key = UUID.randomUUID().toString();
        HttpResponse<String> first = console.call("/schedules/nightly/run", key, "{\"reason\":\"x\"}");
        assertThat(first.body()).containsPattern("\"job\":\\d+").contains("\"skipped\":false");
        long jobs = count("job");
        assertThat(console.call("/schedules/nightly/run", key, "{\"reason\":\"x\"}")
                        .body())
                .isEqualTo(first.body());
        assertThat(count("job")).isEqualTo(jobs);
    }

    @Test
    void aScheduleIsRemovedByWhoHasSeenWhatThatMeansAndTypesItsName() throws Exception {
        console.database()
                .execute(
                        "insert into postroom.schedule (name, cron, zone, missed, overlap, kind, queue, priority, payload, next_at)"
                                + " select name, '0 3 * * *', 'UTC', 'skip', true, 'report', 'default', 100, '{}', '2099-01-01Z'"
                                + " from unnest('{former,later}'::text[]) as name");
        assertThat(console.get("/schedules/former").body())
                .contains(
                        "Type former to confirm",
                        "for which it will not fire",
                        "2099-01-01",
                        "postroom schedule remove former");
        Map<String, String> form =
                Map.of("reason", "nobody reads it", "id", UUID.randomUUID().toString());
        assertThat(console.submit("/schedules/former", "/schedules/former/remove", form)
                        .body())
                .contains("type its name; nothing was done");
        assertThat(console.get("/schedules/former").statusCode()).isEqualTo(200);
        Map<String, String> confirmed = new HashMap<>(form);
        confirmed.put("confirm", "former");
        assertThat(console.submit("/schedules/former", "/schedules/former/remove", confirmed)
                        .headers()
                        .firstValue("Location"))
                .contains("/schedules");
        assertThat(console.get("/schedules/former").statusCode()).isEqualTo(404);
        assertThat(console.get("/audit").body()).contains("schedule former", "nobody reads it");

        String key = UUID.randomUUID().toString();
        assertThat(console.call("/schedules/later/remove", key, "{}").statusCode())
                .isEqualTo(400);
        HttpResponse<String> first = console.call("/schedules/later/remove", key, "{\"reason\":\"x\"}");
        assertThat(first.body()).isEqualTo("{\"changed\":true}");
        HttpResponse<String> again = console.call("/schedules/later/remove", key, "{\"reason\":\"x\"}");
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
    }

    @Test
    void aMessageIsShownWithWhatItCarries() throws Exception {
        assertThat(console.get("/api/v1/messages/" + messageId).body())
                .contains("\"eventType\":\"Order")
                .contains("customer");
    }

    @Test
    void aCallThatFailedMayBeSentAgain() throws Exception {
        String key = UUID.randomUUID().toString();
        for (int i = 0; i < 2; i++) {
            assertThat(console.call("/subscriptions/nobody/pause", key, "{\"reason\":\"x\"}")
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void healthNeedsNothing() throws Exception {
        assertThat(console.get("/health").body()).contains("\"ready\":true");
        assertThat(console.get("/health/live").statusCode()).isEqualTo(200);
        assertThat(console.get("/health/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void anIdInTheSearchFieldLeadsToItsMessage() throws Exception {
        HttpResponse<String> answer = console.get("/messages?find=" + messageId);
        assertThat(answer.statusCode()).isEqualTo(302);
        assertThat(answer.headers().firstValue("Location").orElse("")).endsWith("/messages/" + messageId);
    }

    @Test
    void styleAndScriptComeFromHere() throws Exception {
        String page = console.get("/").body();
        assertThat(page).doesNotContain("http://").doesNotContain("https://");
        for (String name : new String[] {"console.css", "console.js", "theme.js", "htmx.js", "icon.svg"}) {
            String path = page.replaceAll("(?s).*?\"(/assets/[^/]+/).*", "$1") + name;
            HttpResponse<String> file = console.get(path);
            assertThat(file.statusCode()).as(path).isEqualTo(200);
            assertThat(file.headers().firstValue("Cache-Control").orElse("")).contains("immutable");
        }
        assertThat(console.get("/assets/x/..%2f..%2fetc").statusCode()).isIn(400, 404);
    }

    @Test
    void pausesAndResumesWithAReasonOnce() throws Exception {
        String page = "/subscriptions/casework";
        assertThat(console.submit(page, page + "/resume", Map.of()).body()).contains("reason is missing");
        assertThat(console.submit(page, page + "/resume", Map.of("reason", "all is well"))
                        .statusCode())
                .isEqualTo(302);
        assertThat(console.get(page).body()).contains("Pause casework").contains("all is well");
        assertThat(console.call("/subscriptions/casework/pause", "k1", "{\"reason\":\"again\"}")
                        .body())
                .contains("\"already\":false");
        assertThat(console.call("/subscriptions/casework/pause", "k2", "{\"reason\":\"again\"}")
                        .body())
                .contains("\"already\":true");
        assertThat(console.database()
                        .queryLong("select count(*) from postroom.audit where subject = 'subscription casework'"))
                .isEqualTo(2);
    }

    @Test
    void jobsQueuesAndSchedulesAreSwitchedWithAReason() throws Exception {
        assertThat(console.submit("/queues", "/queues/mail/resume", Map.of("reason", "up again"))
                        .statusCode())
                .isEqualTo(302);
        assertThat(console.submit("/queues", "/queues/mail/pause", Map.of()).body())
                .contains("reason is missing");
        assertThat(console.submit("/schedules/nightly", "/schedules/nightly/resume", Map.of("reason", "up again"))
                        .statusCode())
                .isEqualTo(302);
        HttpResponse<String> run =
                console.submit("/schedules/nightly", "/schedules/nightly/run", Map.of("reason", "numbers were wrong"));
        String job = run.headers().firstValue("Location").orElse("").replaceAll(".*/ops|^http://[^/]+", "");
        assertThat(console.submit(job, job + "/cancel", Map.of("reason", "enough"))
                        .statusCode())
                .isEqualTo(302);
        assertThat(console.get(job).body()).contains("cancelled");
        assertThat(console.call("/schedules/nobody/pause", "k", "{\"reason\":\"x\"}")
                        .statusCode())
                .isEqualTo(404);
        assertThat(console.database()
                        .queryLong("select count(*) from postroom.audit where reason in ('up again', 'numbers were"
                                + " wrong', 'enough')"))
                .isEqualTo(4);
    }
}
