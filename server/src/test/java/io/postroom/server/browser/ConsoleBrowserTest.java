package io.postroom.server.browser;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Relay;
import io.postroom.relay.Subscription;
import io.postroom.server.dev.DemoConsole;
import io.postroom.server.serve.Console;
import io.postroom.server.serve.ConsoleUnderTest;
import io.postroom.server.serve.Hostile;
import io.postroom.server.serve.Troubled;
import io.postroom.server.web.Payloads;
import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import io.postroom.testkit.RecordingSink;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The console in a real browser, behind a path prefix. Screenshots of every page are in target/screenshots. */
class ConsoleBrowserTest {
    private static final Path SCREENSHOTS = Path.of("target", "screenshots");
    private static final boolean LONG = Boolean.getBoolean("postroom.long");
    private static final int WIDE = 1280;
    private static final int NARROW = 400;
    private static final String TOKEN = "token-of-anna";

    private static ConsoleUnderTest console;
    private static Browser browser;
    private static String axe;

    @BeforeAll
    static void start() throws Exception {
        Path program = Browser.find().orElse(null);
        Assumptions.assumeTrue(program != null, "Chromium is not installed");
        console = ConsoleUnderTest.start(settings("/ops", "test"), Hostile::fill);
        console.submit("/sign-in", "/sign-in", Map.of("token", TOKEN));
        browser = Browser.start(program);
        axe = axe();
        signIn(console);
    }

    private static WebSettings settings(String basePath, String environment) throws Exception {
        String hash = HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes(StandardCharsets.UTF_8)));
        Map<String, User> accounts = Map.of(hash, new User("anna", Role.OPERATOR));
        return WebSettings.builder()
                .port(0)
                .basePath(basePath)
                .environment(environment)
                .accounts(accounts)
                .build();
    }

    private static void signIn(ConsoleUnderTest at) throws Exception {
        browser.look(WIDE, 900, "light");
        browser.openPlain(at.url() + "/audit");
        browser.screenshot(SCREENSHOTS.resolve("sign-in-light-1280.png"));
        browser.evaluate("document.getElementById('token').value = '" + TOKEN + "'");
        browser.go("document.querySelector('form button').click()");
        assertThat(browser.evaluate("location.pathname").asString()).endsWith("/audit");
        browser.complaints();
    }

    private static String axe() throws IOException {
        Properties properties = new Properties();
        try (InputStream stream = open("/META-INF/maven/org.webjars.npm/axe-core/pom.properties")) {
            properties.load(stream);
        }
        String version = properties.getProperty("version");
        try (InputStream stream = open("/META-INF/resources/webjars/axe-core/" + version + "/axe.min.js")) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static InputStream open(String path) {
        return Objects.requireNonNull(ConsoleBrowserTest.class.getResourceAsStream(path), path);
    }

    @AfterAll
    static void stop() throws Exception {
        if (browser != null) {
            browser.close();
        }
        if (console != null) {
            console.close();
        }
    }

    private static Map<String, String> pages() throws Exception {
        JsonNode letter = JsonMapper.shared()
                .readTree(console.get("/api/v1/dead-letters?limit=1").body())
                .get("items")
                .get(0);
        Map<String, String> pages = new LinkedHashMap<>();
        pages.put("overview", "/");
        pages.put("messages", "/messages");
        pages.put("message", "/messages/" + letter.get("messageId").asString());
        pages.put("subscriptions", "/subscriptions");
        pages.put("subscription", "/subscriptions/shipping");
        pages.put("subscription-paused", "/subscriptions/claims");
        pages.put("deliveries", "/subscriptions/claims/deliveries");
        pages.put("dead-letters", "/dead-letters");
        pages.put("dead-letter-list", "/dead-letters/list?subscription=shipping");
        pages.put("dead-letter", "/dead-letters/" + letter.get("id"));
        pages.put("dead-letters-resolved", "/dead-letters/resolved");
        pages.put("redrives", "/redrives");
        pages.put("redrive-new", "/redrives/new?subscription=shipping");
        pages.put("jobs", "/jobs");
        pages.put("job", "/jobs/1");
        pages.put("queues", "/queues");
        pages.put("schedules", "/schedules");
        pages.put("schedule", "/schedules/nightly");
        pages.put("read-models", "/read-models");
        pages.put("idempotency-keys", "/idempotency-keys");
        JsonNode key = JsonMapper.shared()
                .readTree(console.get("/api/v1/idempotency-keys?limit=1").body())
                .get("items")
                .get(0);
        pages.put("idempotency-key", "/idempotency-keys/" + key.get("id").asString());
        pages.put("discard", "/redrives/new?subscription=shipping&action=discard");
        pages.put("audit", "/audit");
        pages.put("database", "/database");
        pages.put("doctor", "/doctor");
        pages.put("settings", "/settings");
        pages.put("not-found", "/nothing");
        return pages;
    }

    private void check(String name, String path, int width, String theme) throws Exception {
        String label = name + " " + theme + " " + width;
        browser.look(width, width == WIDE ? 900 : 800, theme);
        if (LONG || width == WIDE) {
            browser.open(console.url() + path);
        }
        browser.screenshot(SCREENSHOTS.resolve(name + "-" + theme + "-" + width + ".png"));
        // Not by innerWidth: on a narrow screen that grows with what does not fit.
        assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
                .as(label + " is wider than the window")
                .isLessThanOrEqualTo(width);
        if (LONG || theme.equals("light")) {
            requireOpenToAll(label);
        }
        if (!name.equals("not-found")) {
            assertThat(browser.complaints()).as(label).isEmpty();
        }
        browser.complaints();
    }

    private static void requireOpenToAll(String label) {
        browser.evaluate(axe + ";0");
        JsonNode found = browser.evaluate(
                "axe.run().then(result => result.violations.filter(each => ['serious', 'critical']"
                        + ".includes(each.impact)).map(each => each.id + ': ' + each.nodes.slice(0, 3).map(node => node.html).join(' ')))");
        assertThat(found.values().stream().map(JsonNode::asString).toList())
                .as(label)
                .isEmpty();
    }

    @Test
    void everyPageIsWholeReadableAndQuietInBothThemesAndWidths() throws Exception {
        for (Map.Entry<String, String> page : pages().entrySet()) {
            check(page.getKey(), page.getValue(), WIDE, "light");
            check(page.getKey(), page.getValue(), NARROW, "dark");
            if (LONG) {
                check(page.getKey(), page.getValue(), WIDE, "dark");
                check(page.getKey(), page.getValue(), NARROW, "light");
            }
        }
    }

    @Test
    void theDemoIsBrokenAndMendedOnItsPage() throws Exception {
        try (TestDatabase database = TestDatabase.create();
                Console demo = DemoConsole.start(database)) {
            browser.openPlain(demo.entry());
            for (int width : new int[] {WIDE, NARROW}) {
                for (String theme : new String[] {"light", "dark"}) {
                    browser.look(width, 900, theme);
                    browser.open(demo.url() + "break");
                    browser.screenshot(SCREENSHOTS.resolve("break-" + theme + "-" + width + ".png"));
                    assertThat(browser.evaluate("document.documentElement.scrollWidth")
                                    .asInt())
                            .isLessThanOrEqualTo(width);
                    requireOpenToAll("break " + theme + " " + width);
                }
            }
            browser.go("document.querySelector('form[action$=\"/break/carrier-slow\"] button').click()");
            assertThat(browser.text("main")).contains("The carrier is slow broken");
            browser.screenshot(SCREENSHOTS.resolve("break-broken-dark-400.png"));
            browser.go("document.querySelector('form[action$=\"/break/carrier-slow/mend\"] button').click()");
            assertThat(browser.text("main")).doesNotContain("broken");
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void theFirstPageSaysWhatIsWrong() throws Exception {
        try (ConsoleUnderTest troubled = ConsoleUnderTest.start(settings("/trouble", "production"), Troubled::fill)) {
            signIn(troubled);
            for (int width : new int[] {WIDE, NARROW}) {
                String theme = width == WIDE ? "light" : "dark";
                browser.look(width, 900, theme);
                browser.open(troubled.url() + "/");
                browser.screenshot(SCREENSHOTS.resolve("overview-troubled-" + theme + "-" + width + ".png"));
                assertThat(browser.text(".health h1")).contains("need you now");
                assertThat(browser.text(".troubles"))
                        .contains("No relay is running", "Nobody serves billing", "dead letters of shipping", "held");
                assertThat(browser.evaluate("document.documentElement.scrollWidth - innerWidth")
                                .asInt())
                        .isLessThanOrEqualTo(0);
            }
            for (String path : new String[] {"dead-letters", "dead-letters/list", "dead-letters/1"}) {
                browser.open(troubled.url() + "/" + path);
                browser.screenshot(SCREENSHOTS.resolve("troubled-" + path.replace('/', '-') + "-dark-400.png"));
                assertThat(browser.evaluate("[...document.querySelectorAll('td, .attempt-error')].every(cell =>"
                                        + " cell.getBoundingClientRect().right <= innerWidth)")
                                .asBoolean())
                        .as(path + " is cut off")
                        .isTrue();
            }
        }
    }

    @Test
    void aRefreshLeavesWhatSomebodyTypes() {
        browser.look(WIDE, 900, "light");
        browser.open(console.url() + "/subscriptions/shipping");
        browser.evaluate("window.asOf = document.getElementById('as-of').textContent");
        browser.evaluate("window.refreshes = 0; document.body.addEventListener('refresh', () => window.refreshes++)");
        browser.evaluate("document.getElementById('reason').value = 'half a reas'; document.activeElement.blur()");
        browser.await("performance.now() > 7000");
        assertThat(browser.evaluate("window.refreshes").asInt()).isZero();
        assertThat(browser.evaluate("document.getElementById('reason').value").asString())
                .isEqualTo("half a reas");
        browser.evaluate("document.getElementById('reason').value = ''");
        browser.press("r");
        browser.await("document.getElementById('as-of').textContent !== window.asOf");
    }

    @Test
    void whoGoesByKeysStaysWhereHeIs() {
        browser.look(WIDE, 900, "light");
        browser.open(console.url() + "/subscriptions");
        browser.evaluate("window.refreshes = 0; document.body.addEventListener('refresh', () => window.refreshes++)");
        browser.evaluate("document.querySelector('#live tbody a').focus({focusVisible: true})");
        browser.await("performance.now() > 7000");
        assertThat(browser.evaluate("window.refreshes").asInt()).isZero();
        browser.evaluate("window.asOf = document.getElementById('as-of').textContent");
        browser.press("r");
        browser.await("document.getElementById('as-of').textContent !== window.asOf");
        assertThat(browser.evaluate("document.activeElement.textContent").asString())
                .isEqualTo("casework");
    }

    @Test
    void whatChangesIsSaidToThoseWhoDoNotSeeIt() throws Exception {
        browser.look(WIDE, 900, "light");
        browser.open(console.url() + "/");
        assertThat(browser.text("#announce")).isEmpty();
        browser.evaluate("document.querySelector('[data-announce]').dataset.announce = 'x';"
                + " document.getElementById('announce').dataset.said = 'before'");
        browser.press("r");
        browser.await("document.getElementById('announce').textContent !== ''");
        assertThat(browser.text("#announce")).isEqualTo(browser.text(".health h1"));
    }

    @Test
    void isOperatedByKeys() {
        browser.look(WIDE, 900, "light");
        browser.open(console.url() + "/");
        browser.press("/");
        assertThat(browser.evaluate("document.activeElement.id").asString()).isEqualTo("find");
        browser.evaluate("document.activeElement.blur()");
        browser.press("?");
        assertThat(browser.evaluate("document.getElementById('keys').open").asBoolean())
                .isTrue();
        browser.press("?");
        browser.press("t");
        assertThat(browser.evaluate("document.documentElement.dataset.theme").asString())
                .isEqualTo("light");
        browser.press("t");
        assertThat(browser.evaluate("getComputedStyle(document.body).backgroundColor")
                        .asString())
                .isEqualTo("rgb(20, 22, 26)");
        browser.press("t");
        browser.press("u");
        assertThat(browser.text("#zone")).isEqualTo("Times: local");
        browser.press("u");
        browser.evaluate("window.isOld = true");
        browser.press("g");
        browser.press("d");
        browser.awaitPage();
        assertThat(browser.evaluate("location.pathname").asString()).isEqualTo("/ops/dead-letters");
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void staysUpToDateWhileItIsOpen() {
        browser.look(WIDE, 900, "light");
        browser.open(console.url() + "/audit?actor=nobody-yet");
        assertThat(browser.text("#live")).contains("Nothing fits");
        console.database()
                .execute(
                        "insert into postroom.audit (actor, action, subject, reason, details) values ('nobody-yet', 'test live',"
                                + " 'x', 'y', '{}')");
        browser.press("r");
        browser.await("document.getElementById('live').textContent.includes('test live')");
        assertThat(browser.complaints()).isEmpty();
    }

    @Test
    void tailsMessagesAsTheyCome() throws Exception {
        try (ConsoleUnderTest tailed = ConsoleUnderTest.start(settings("/tail", "test"))) {
            signIn(tailed);
            browser.look(WIDE, 900, "light");
            browser.open(tailed.url() + "/messages");
            browser.evaluate("document.getElementById('tail').click()");
            publish(tailed, 3);
            browser.await("document.querySelectorAll('#message-rows tr').length === 3");
            assertThat(browser.text("#message-rows tr td.at")).isEqualTo("3");
            assertThat(browser.evaluate("document.querySelector('#message-rows td.key a').title")
                            .asString())
                    .contains(Hostile.MARKUP);
            assertThat(browser.evaluate("document.querySelectorAll('#message-rows img').length")
                            .asInt())
                    .isZero();
            assertThat(browser.evaluate("document.querySelectorAll('.empty').length")
                            .asInt())
                    .isZero();
            tailLook("light");
            tailLook("dark");
            hide(true);
            assertThat(browser.text("#tail-note")).contains("Paused while this tab is hidden");
            browser.evaluate("document.getElementById('message-list').dataset.rowsMax = '20'");
            publish(tailed, 60);
            hide(false);
            browser.await("document.getElementById('tail-count').textContent === '53 new messages, 10 left out.'");
            assertThat(browser.evaluate("document.querySelectorAll('#message-rows tr').length")
                            .asInt())
                    .isEqualTo(20);
            assertThat(browser.text("#message-rows tr td.at")).isEqualTo("63");
            assertThat(browser.complaints()).isEmpty();
            tailed.stop();
            browser.await("document.getElementById('tail-note').textContent.includes('connection is lost')");
            browser.openPlain("about:blank");
            browser.complaints();
        }
    }

    private static void hide(boolean isHidden) {
        browser.evaluate("Object.defineProperty(document, 'hidden', {value: " + isHidden
                + ", configurable: true}); document.dispatchEvent(new Event('visibilitychange'))");
    }

    private static void tailLook(String theme) throws Exception {
        browser.look(WIDE, 900, theme);
        browser.screenshot(SCREENSHOTS.resolve("messages-tail-" + theme + "-1280.png"));
        requireOpenToAll("live tail " + theme);
    }

    private static void publish(ConsoleUnderTest at, int count) throws Exception {
        try (Connection tx = at.database().begin()) {
            at.database()
                    .postroom()
                    .outbox()
                    .publishAll(
                            tx,
                            IntStream.range(0, count)
                                    .mapToObj(n -> Message.about("order", Hostile.MARKUP)
                                            .event("OrderPaid")
                                            .tenantId(Hostile.MARKUP)
                                            .payload("{}")
                                            .build())
                                    .toList());
            tx.commit();
        }
        at.database().postroom().journal().stampAll();
    }

    /** From a group to the last letter, as somebody does it by keys, with a relay that delivers beside it. */
    @Test
    void redrivesACanaryAndThenTheRestWhileARelayDelivers() throws Exception {
        try (ConsoleUnderTest mended = ConsoleUnderTest.start(settings("/mended", "test"), Hostile::fill);
                Relay relay = mended.database()
                        .postroom()
                        .relay()
                        .deliver(Subscription.named("shipping").build(), new RecordingSink())
                        .build()) {
            relay.start();
            signIn(mended);
            browser.look(WIDE, 900, "light");
            browser.open(mended.url() + "/dead-letters");
            browser.evaluate("document.querySelector('tbody a.button').focus()");
            browser.go("document.activeElement.click()");
            assertThat(browser.text(".blast")).contains("5").contains("dead letters");
            assertThat(browser.text("code.cli")).contains("postroom deadletter redrive --subscription shipping");
            browser.evaluate("document.getElementById('reason').value = 'mended'");
            browser.evaluate("document.getElementById('canary').value = '2'");
            browser.evaluate("document.querySelector('form.act-form button[type=submit]').focus()");
            browser.go("document.activeElement.form.requestSubmit(document.activeElement)");
            assertThat(browser.text("h1")).isEqualTo("Redrive of 5 dead letters");
            assertThat(browser.text("main")).contains("first, as a canary");
            browser.screenshot(SCREENSHOTS.resolve("redrive-underway-light-1280.png"));
            browser.await("document.querySelector('.head .badge').textContent === 'done'");
            assertThat(browser.evaluate("document.querySelector('progress').value")
                            .asInt())
                    .isEqualTo(5);
            for (int width : new int[] {WIDE, NARROW}) {
                String theme = width == WIDE ? "light" : "dark";
                browser.look(width, 900, theme);
                browser.screenshot(SCREENSHOTS.resolve("redrive-" + theme + "-" + width + ".png"));
                requireOpenToAll("redrive " + theme);
            }
            assertThat(mended.database()
                            .queryLong("select count(*) from postroom.dead_letter where resolution = 'redriven'"))
                    .isEqualTo(5);
            browser.open(mended.url() + "/dead-letters/resolved");
            assertThat(browser.text("tbody")).contains("redriven");
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void revealsAMaskedPayloadWithAReason() throws Exception {
        String hash = HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes(StandardCharsets.UTF_8)));
        WebSettings masked = WebSettings.builder()
                .port(0)
                .basePath("/masked")
                .environment("test")
                .accounts(Map.of(hash, new User("anna", Role.OPERATOR)))
                .payloads(Payloads.MASKED)
                .build();
        try (ConsoleUnderTest hidden = ConsoleUnderTest.start(masked, Hostile::fill)) {
            signIn(hidden);
            for (int width : new int[] {WIDE, NARROW}) {
                String theme = width == WIDE ? "light" : "dark";
                browser.look(width, 900, theme);
                browser.open(hidden.url() + "/dead-letters/1");
                assertThat(browser.text("pre.payload")).doesNotContain("c-0");
                requireOpenToAll("masked " + theme);
                browser.evaluate("document.getElementById('reason-reveal').value = 'a complaint'");
                browser.go("document.querySelector('form.reveal button').click()");
                assertThat(browser.text("pre.payload")).contains("c-0");
                browser.screenshot(SCREENSHOTS.resolve("revealed-" + theme + "-" + width + ".png"));
                requireOpenToAll("revealed " + theme);
            }
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    void cancelsARedriveThatIsUnderway() {
        browser.look(WIDE, 900, "light");
        browser.open(console.url() + "/dead-letters");
        browser.go("document.querySelector('tbody a.button').click()");
        assertThat(browser.text(".blast")).contains("5").contains("dead letters");
        browser.evaluate("document.getElementById('reason').value = 'mended'");
        browser.evaluate("document.getElementById('rate').value = '2'");
        browser.go("document.querySelector('form.act-form button[type=submit]').click()");
        assertThat(browser.evaluate("location.pathname").asString()).startsWith("/ops/redrives/");
        browser.evaluate("document.getElementById('reason').value = 'enough'");
        browser.go("document.querySelector('form.act-form button[type=submit]').click()");
        assertThat(browser.text("h1")).isEqualTo("Redrive of 5 dead letters");
        assertThat(browser.text("main")).contains("cancelled").contains("enough");
        assertThat(browser.complaints()).isEmpty();
        assertThat(console.database().queryLong("select count(*) from postroom.audit where reason = 'enough'"))
                .isEqualTo(1);
    }
}
