package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.web.Payloads;
import io.postroom.server.web.WebSettings;
import io.postroom.testkit.TestDatabase;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What pages lead to: their forms as they stand, and their links. */
class FormsTest {
    private static final Pattern FORM = Pattern.compile("(?s)<form([^>]*)>(.*?)</form>");
    private static final Pattern FIELD = Pattern.compile("(?s)<input([^>]*)>|<select([^>]*)>(.*?)</select>");
    private static final Pattern CHOSEN = Pattern.compile("<option([^>]*\\sselected[^>]*)>");
    private static final Pattern LINK = Pattern.compile("<a [^>]*?href=\"([^\"#]+)\"");
    private static final String ALL_FILTERS =
            "type=mail.send&tenant=t&aggregateType=mail.send&key=1&errorClass=c&fingerprint=f"
                    + "&cause=rejected&from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z&ids=1";

    private static ConsoleUnderTest console;

    @BeforeAll
    static void start() throws Exception {
        console = ConsoleUnderTest.start();
        Hostile.fill(console.database());
        console.database()
                .execute(
                        "insert into postroom.dead_letter (source, owner, position, key_hash, message_id, aggregate_type, aggregate_id,"
                                + " event_type, event_version, payload, headers, occurred_at, cause, attempts, error_class, error,"
                                + " fingerprint, history, buried_by, job) values ('job', 'mail', 1, 0, gen_random_uuid(), 'mail.send', '1',"
                                + " 'mail.send', 1, '{}', '{}', now(), 'rejected', 1, 'rejected', 'no such mailbox', 'f', '[]', 'w',"
                                + " '{\"queue\": \"mail\"}')");
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/messages",
                "/messages?type=OrderPaid&key=a&tenant=t&aggregateType=order",
                "/subscriptions",
                "/subscriptions/shipping",
                "/subscriptions/claims/deliveries",
                "/subscriptions/claims/deliveries?state=waiting&after=1",
                "/dead-letters",
                "/dead-letters?queue=mail",
                "/dead-letters/list",
                "/dead-letters/list?queue=mail&" + ALL_FILTERS,
                "/dead-letters/list?subscription=shipping&" + ALL_FILTERS,
                "/dead-letters/1",
                "/dead-letters/resolved?resolution=discarded&" + ALL_FILTERS,
                "/dead-letters/6",
                "/redrives",
                "/redrives/new",
                "/redrives/new?queue=mail&" + ALL_FILTERS,
                "/redrives/new?subscription=shipping&action=discard&rate=5&canary=1",
                "/jobs?queue=mail&state=ready&kind=mail.send&tenant=t",
                "/jobs/1",
                "/queues",
                "/schedules",
                "/schedules/nightly",
                "/read-models",
                "/idempotency-keys",
                "/idempotency-keys?key=x&tenant=t&scope=orders&state=running",
                "/audit?subject=a&action=b&actor=c&from=2020-01-01T00:00:00Z&to=2099-01-01T00:00:00Z",
                "/database",
                "/doctor",
                "/settings"
            })
    void everyFormAndLinkOfEveryPageLeadsSomewhere(String path) throws Exception {
        HttpResponse<String> page = console.get(path);
        assertThat(page.statusCode()).as(page.body()).isEqualTo(200);
        int forms = 0;
        Matcher form = FORM.matcher(page.body());
        while (form.find()) {
            forms++;
            List<String> fields = fields(form.group(2));
            List<String> names =
                    fields.stream().map(each -> each.replaceFirst("=.*", "")).toList();
            assertThat(new HashSet<>(names)).as("names of %s", form.group(1)).hasSameSizeAs(names);
            if (!"post".equals(attribute(form.group(1), "method"))) {
                String to = attribute(form.group(1), "action") + "?" + String.join("&", fields);
                assertThat(console.get(to).statusCode()).as(path + " → " + to).isEqualTo(200);
            }
        }
        assertThat(forms).as("the search of every page").isPositive();
        Set<String> links = new HashSet<>();
        Matcher link = LINK.matcher(page.body());
        while (link.find()) {
            links.add(text(link.group(1)));
        }
        for (String each : links) {
            assertThat(console.get(each).statusCode()).as(path + " → " + each).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/subscriptions/shipping",
                "/subscriptions/claims",
                "/redrives/new?subscription=shipping",
                "/redrives/new?subscription=shipping&action=discard",
                "/redrives/00000000-0000-4000-8000-000000000009",
                "/jobs/1",
                "/dead-letters/1",
                "/queues",
                "/schedules/nightly",
                "/idempotency-keys/ID",
                "/messages/ID"
            })
    void everyFormThatActsDoesSoOnceForWhoSaysWhyAndElseSaysWhatIsMissing(String given) throws Exception {
        int acts = 0;
        for (int number = 0; number == 0 || number < acts; number++) {
            // Each on a day of its own: one act may take away what another is about.
            try (ConsoleUnderTest own = ConsoleUnderTest.start(
                    WebSettings.builder().port(0).payloads(Payloads.MASKED).build(), FormsTest::fill)) {
                own.enter();
                String path = given.replace("ID", id(own, given));
                List<MatchResult> forms = FORM.matcher(own.get(path).body())
                        .results()
                        .filter(form -> "post".equals(attribute(form.group(1), "method")))
                        .filter(form -> !attribute(form.group(1), "action").endsWith("/sign-out"))
                        .toList();
                acts = forms.size();
                assertThat(acts).as("acts of %s", path).isPositive();
                submit(own, path, forms.get(number));
            }
        }
    }

    private static void fill(TestDatabase database) throws SQLException {
        Hostile.fill(database);
        database.execute(
                "update postroom.job set waits = 'time', run_at = now() + interval '1 day'",
                "insert into postroom.redrive (id, action, filter, actor, reason, id_max, total, rate) values"
                        + " ('00000000-0000-4000-8000-000000000009', 'redrive', '{\"owner\": \"shipping\"}', 'a', 'b', 5, 5, 0.001)");
    }

    private static String id(ConsoleUnderTest own, String given) throws Exception {
        if (!given.endsWith("ID")) {
            return "";
        }
        Matcher link = Pattern.compile("href=\"" + given.replace("ID", "([A-Za-z0-9_.-]{20,})") + "\"")
                .matcher(own.get(given.replace("/ID", "")).body());
        assertThat(link.find()).as("a link of " + given).isTrue();
        return link.group(1);
    }

    private static void submit(ConsoleUnderTest own, String path, MatchResult form) throws Exception {
        String to = attribute(form.group(1), "action");
        List<String> offered = fields(form.group(2));
        long audited = audited(own);
        HttpResponse<String> bare = post(own, to, offered);
        assertThat(bare.statusCode()).as("%s without a reason", to).isEqualTo(400);
        assertThat(bare.body()).as(to).containsPattern("reason is missing|to discard 5|type its name");
        List<String> filled = new ArrayList<>();
        for (String field : offered) {
            String name = field.replaceFirst("=.*", "");
            Matcher confirm = Pattern.compile("Type (\\S+) to confirm").matcher(form.group(2));
            filled.add(
                    name.equals("reason")
                            ? "reason=a+test"
                            : name.equals("confirm") && confirm.find() ? "confirm=" + confirm.group(1) : field);
        }
        assertThat(post(
                                own,
                                to,
                                filled.stream()
                                        .map(each -> each.replaceFirst("formToken=.*", "formToken=forged"))
                                        .toList())
                        .statusCode())
                .as("%s with a forged token", to)
                .isEqualTo(403);
        assertThat(audited(own)).as("%s has done nothing yet", to).isEqualTo(audited);
        HttpResponse<String> done = post(own, to, filled);
        boolean reveals = to.endsWith("/reveal");
        assertThat(done.statusCode()).as("%s: %s", to, done.body()).isEqualTo(reveals ? 200 : 302);
        assertThat(audited(own)).as("%s is audited", to).isEqualTo(audited + 1);
        if (reveals) {
            assertThat(done.body()).doesNotContain("•••");
            return;
        }
        String then = done.headers().firstValue("Location").orElseThrow();
        assertThat(own.get(then).statusCode()).as(path + " → " + then).isEqualTo(200);
        assertThat(post(own, to, filled).headers().firstValue("Location"))
                .as("%s once more", to)
                .contains(then);
        assertThat(audited(own)).as("%s is done once", to).isEqualTo(audited + 1);
    }

    private static HttpResponse<String> post(ConsoleUnderTest own, String to, List<String> fields) throws Exception {
        return own.send("POST", to, String.join("&", fields), "Content-Type", "application/x-www-form-urlencoded");
    }

    private static long audited(ConsoleUnderTest own) {
        return own.database()
                .queryLong(
                        "select count(*) from postroom.audit where reason = 'a test' and action <> 'deadletter end'");
    }

    @Test
    void aJobThatWaitsForNothingIsNotOfferedToBeRunNow() throws Exception {
        assertThat(console.get("/jobs/1").body()).contains("/jobs/1/cancel").doesNotContain("/jobs/1/retry");
    }

    @Test
    void aDeadLetterOfAJobLeadsToItsQueueAndItsJob() throws Exception {
        String list = console.get("/dead-letters/list").body();
        assertThat(list).contains("/dead-letters/list?queue=mail\"").doesNotContain("subscription=mail");
        assertThat(console.get("/dead-letters/list?queue=mail").body()).contains("no such mailbox");
        assertThat(console.get("/dead-letters/6").body()).contains("href=\"/jobs/1\"", "queue=mail");
    }

    private static List<String> fields(String form) {
        List<String> fields = new ArrayList<>();
        Matcher field = FIELD.matcher(form);
        while (field.find()) {
            String tag = field.group(1) == null ? field.group(2) : field.group(1);
            String value = attribute(tag, "value");
            if (field.group(1) == null) {
                Matcher chosen = CHOSEN.matcher(field.group(3));
                value = chosen.find() ? attribute(chosen.group(1), "value") : "";
            }
            if (!attribute(tag, "name").isEmpty()) {
                fields.add(attribute(tag, "name") + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8));
            }
        }
        return fields;
    }

    private static String attribute(String tag, String name) {
        Matcher found = Pattern.compile("\\s" + name + "=\"([^\"]*)\"").matcher(tag);
        return found.find() ? text(found.group(1)) : "";
    }

    private static String text(String markup) {
        return markup.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&#34;", "\"")
                .replace("&#39;", "'")
                .replace("&amp;", "&");
    }
}
