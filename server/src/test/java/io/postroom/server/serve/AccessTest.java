package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.web.Proxy;
import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Who is believed, and who may do what. */
class AccessTest {
    private static final Role SUPPORT = Role.of("support", List.of("pause"));
    private static final String REASON = "{\"reason\": \"a test\"}";
    private static final String LETTERS = "{\"subscription\": \"shipping\", \"reason\": \"a test\"}";

    private static ConsoleUnderTest trusting;
    private static ConsoleUnderTest wary;

    @BeforeAll
    static void start() {
        trusting = ConsoleUnderTest.start(settings("127.0.0.1"), Hostile::fill);
        wary = ConsoleUnderTest.start(settings("10.20.0.0/16"));
    }

    @AfterAll
    static void stop() {
        trusting.close();
        wary.close();
    }

    private static WebSettings settings(String from) {
        Map<String, Role> roles = new LinkedHashMap<>();
        roles.put("on-call", Role.OPERATOR);
        roles.put("support", SUPPORT);
        roles.put("everybody", Role.VIEWER);
        return WebSettings.builder()
                .port(0)
                .accounts(Map.of(hash("token-of-anna"), new User("anna", Role.ADMIN)))
                .roles(List.of(SUPPORT))
                .proxy(new Proxy("X-User", "X-Groups", roles, List.of(Proxy.Network.of(from))))
                .build();
    }

    private static String hash(String token) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static HttpResponse<String> as(String groups, String path, String json) throws Exception {
        return trusting.send(
                "POST",
                "/api/v1" + path,
                json,
                "X-User",
                "bert",
                "X-Groups",
                groups,
                "Content-Type",
                "application/json",
                "Idempotency-Key",
                UUID.randomUUID().toString());
    }

    @Test
    void aHeaderFromAnybodyElseIsWorthNothing() throws Exception {
        HttpResponse<String> answer = wary.send("GET", "/api/v1/status", "", "X-User", "anna", "X-Groups", "on-call");
        assertThat(answer.statusCode()).isEqualTo(401);
        HttpResponse<String> forwarded = wary.send(
                "GET", "/api/v1/status", "", "X-User", "anna", "X-Groups", "on-call", "X-Forwarded-For", "10.20.0.1");
        assertThat(forwarded.statusCode()).isEqualTo(401);
        assertThat(wary.send("GET", "/", "", "X-User", "anna", "X-Groups", "on-call")
                        .headers()
                        .firstValue("Location"))
                .hasValue("/sign-in");
        // Somebody who has a token is who the token says.
        HttpResponse<String> own =
                wary.send("GET", "/api/v1/settings", "", "X-User", "bert", "Authorization", "Bearer token-of-anna");
        assertThat(own.body()).contains("\"you\":{").contains("anna");
    }

    @Test
    void whomTheProxyNamesHasTheRoleOfTheFirstGroupInTheFile() throws Exception {
        for (Map.Entry<String, String> each : Map.of(
                        "everybody, support", "support", "support,on-call,everybody", "operator", "everybody", "viewer")
                .entrySet()) {
            HttpResponse<String> answer =
                    trusting.send("GET", "/api/v1/settings", "", "X-User", "bert", "X-Groups", each.getKey());
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body().substring(answer.body().indexOf("\"you\"")))
                    .contains("\"bert\"", "\"" + each.getValue() + "\"");
        }
    }

    @Test
    void whoHasNoRoleOrTwoNamesIsRefused() throws Exception {
        HttpResponse<String> nobody =
                trusting.send("GET", "/api/v1/status", "", "X-User", "bert", "X-Groups", "strangers,on-cal");
        assertThat(nobody.statusCode()).isEqualTo(403);
        assertThat(nobody.body()).contains("request.no-role");
        assertThat(trusting.send("GET", "/api/v1/status", "", "X-User", "bert").statusCode())
                .isEqualTo(403);
        assertThat(trusting.send("GET", "/api/v1/status", "", "X-User", "bert", "X-User", "anna", "X-Groups", "support")
                        .statusCode())
                .isEqualTo(400);
        assertThat(trusting.send(
                                "GET",
                                "/api/v1/status",
                                "",
                                "X-User",
                                "bert",
                                "X-Groups",
                                "support",
                                "X-Groups",
                                "on-call")
                        .statusCode())
                .isEqualTo(400);
        assertThat(trusting.send("GET", "/api/v1/status", "", "X-User", "x".repeat(101), "X-Groups", "support")
                        .statusCode())
                .isEqualTo(400);
        assertThat(trusting.send("GET", "/api/v1/status", "").statusCode()).isEqualTo(401);
    }

    @Test
    void everyActNeedsItsPermission() throws Exception {
        assertThat(as("everybody", "/subscriptions/shipping/pause", REASON).statusCode())
                .isEqualTo(403);
        assertThat(as("support", "/subscriptions/shipping/pause", REASON).statusCode())
                .isEqualTo(200);
        assertThat(as("support", "/subscriptions/shipping/resume", REASON).statusCode())
                .isEqualTo(200);
        for (String path : List.of("/redrives/plan", "/redrives")) {
            HttpResponse<String> refused = as("support", path, LETTERS);
            assertThat(refused.statusCode()).as(path).isEqualTo(403);
            assertThat(refused.body()).contains("user bert is support, which may not redrive");
        }
        assertThat(as("support", "/jobs/1/cancel", REASON).statusCode()).isEqualTo(403);
        assertThat(as("support", "/jobs/1/reveal", REASON).statusCode()).isEqualTo(403);
        assertThat(as("on-call", "/redrives/plan", "{\"subscription\": \"shipping\"}")
                        .statusCode())
                .isEqualTo(200);
        assertThat(trusting.database()
                        .queryLong("select count(*) from postroom.audit where actor = 'bert' and action like '%pause'"))
                .isEqualTo(1);
    }

    @Test
    void pagesShowOnlyWhatOneMayDoAndTheirFormsAreOurs() throws Exception {
        String page = trusting.send("GET", "/subscriptions/claims", "", "X-User", "bert", "X-Groups", "support")
                .body();
        assertThat(page).contains("/subscriptions/claims/resume").doesNotContain("Sign out");
        assertThat(trusting.send("GET", "/dead-letters", "", "X-User", "bert", "X-Groups", "support")
                        .body())
                .doesNotContain("Redrive…");
        String form = "application/x-www-form-urlencoded";
        HttpResponse<String> forged = trusting.send(
                "POST",
                "/subscriptions/claims/resume",
                "reason=x&id=" + UUID.randomUUID(),
                "X-User",
                "bert",
                "X-Groups",
                "support",
                "Content-Type",
                form);
        assertThat(forged.statusCode()).isEqualTo(403);
        String token = page.replaceAll("(?s).*name=\"formToken\" value=\"([^\"]+)\".*", "$1");
        HttpResponse<String> ours = trusting.send(
                "POST",
                "/subscriptions/claims/resume",
                "reason=x&formToken=" + token + "&id=" + UUID.randomUUID(),
                "X-User",
                "bert",
                "X-Groups",
                "support",
                "Content-Type",
                form);
        assertThat(ours.statusCode()).isEqualTo(302);
        // The cookie of the form lets nobody in without the proxy.
        assertThat(trusting.get("/api/v1/status").statusCode()).isEqualTo(401);
    }

    @Test
    void thePageOfSettingsTellsEverythingButSecrets() throws Exception {
        String page = trusting.send("GET", "/settings", "", "X-User", "bert", "X-Groups", "everybody")
                .body();
        String json = trusting.send("GET", "/api/v1/settings", "", "X-User", "bert", "X-Groups", "everybody")
                .body();
        for (String text : List.of(page, json)) {
            assertThat(text)
                    .contains("console.proxy.from", "127.0.0.1", "X-User", "anna", "on-call", "support", "masked")
                    .doesNotContain(hash("token-of-anna"), "token-of-anna");
        }
    }
}
