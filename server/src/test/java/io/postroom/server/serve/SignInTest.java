package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SignInTest {
    private ConsoleUnderTest console;

    private static WebSettings.Builder settings() throws Exception {
        return WebSettings.builder()
                .port(0)
                .basePath("/ops/postroom")
                .environment("production")
                .accounts(Map.of(
                        hash("anna-token"),
                        new User("anna", Role.OPERATOR),
                        hash("wall-token"),
                        new User("wall", Role.VIEWER)));
    }

    @BeforeEach
    void start() throws Exception {
        console = ConsoleUnderTest.start(settings().build());
        console.database()
                .execute(
                        "insert into postroom.subscription (name, lanes) values ('billing', 1)",
                        "insert into postroom.lane (subscription, lane, position) values ('billing', 0, 0)");
    }

    @AfterEach
    void stop() {
        console.close();
    }

    private static String hash(String token) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    private HttpResponse<String> pause(String token) throws Exception {
        return console.send(
                "POST",
                "/api/v1/subscriptions/billing/pause",
                "{\"reason\":\"x\"}",
                "Content-Type",
                "application/json",
                "Idempotency-Key",
                "k",
                "Authorization",
                "Bearer " + token);
    }

    @Test
    void nobodySeesAnythingWithoutAToken() throws Exception {
        assertThat(console.get("/").headers().firstValue("Location").orElse("")).endsWith("/ops/postroom/sign-in");
        assertThat(console.get("/audit?actor=x")
                        .headers()
                        .firstValue("Location")
                        .orElse(""))
                .endsWith("/ops/postroom/sign-in?to=%2Faudit%3Factor%3Dx");
        HttpResponse<String> call = console.get("/api/v1/audit");
        assertThat(call.statusCode()).isEqualTo(401);
        assertThat(call.headers().firstValue("WWW-Authenticate")).contains("Bearer");
        assertThat(console.get("/health").statusCode()).isEqualTo(200);
        assertThat(console.submit("/sign-in", "/sign-in", Map.of("token", "guess"))
                        .statusCode())
                .isEqualTo(401);
        assertThat(console.get("/").statusCode()).isEqualTo(302);
        assertThat(pause("guess").statusCode()).isEqualTo(401);
        assertThat(pause(hash("anna-token")).statusCode()).isEqualTo(401);
    }

    @Test
    void whoSignsInActsUnderAnOwnNameBehindAPathPrefix() throws Exception {
        assertThat(console.submit("/sign-in", "/sign-in", Map.of("token", "anna-token"))
                        .statusCode())
                .isEqualTo(302);
        String page = console.get("/").body();
        assertThat(page).contains("anna").contains("production").contains("href=\"/ops/postroom/dead-letters\"");
        assertThat(page).doesNotContain("href=\"/dead-letters").doesNotContain("//dead-letters");
        console.submit("/subscriptions/billing", "/subscriptions/billing/pause", Map.of("reason", "x"));
        assertThat(console.database().queryLong("select count(*) from postroom.audit where actor = 'anna'"))
                .isEqualTo(1);
        console.submit("/subscriptions/billing", "/sign-out", Map.of());
        assertThat(console.get("/").statusCode()).isEqualTo(302);
    }

    @Test
    void aViewerSeesEverythingAndChangesNothing() throws Exception {
        console.submit("/sign-in", "/sign-in", Map.of("token", "wall-token"));
        assertThat(console.get("/subscriptions/billing").body())
                .contains("billing")
                .doesNotContain("Pause billing");
        assertThat(console.get("/redrives/new?subscription=billing").body()).contains("Operators see here");
        assertThat(pause("wall-token").statusCode()).isEqualTo(403);
        assertThat(console.submit("/subscriptions/billing", "/subscriptions/billing/pause", Map.of("reason", "x"))
                        .statusCode())
                .isEqualTo(403);
        assertThat(console.database().queryLong("select count(*) from postroom.audit"))
                .isZero();
        assertThat(pause("anna-token").statusCode()).isEqualTo(200);
    }

    @Test
    void everybodyMaySignOut() throws Exception {
        console.submit("/sign-in", "/sign-in", Map.of("token", "wall-token"));
        assertThat(console.submit("/subscriptions/billing", "/sign-out", Map.of())
                        .statusCode())
                .isEqualTo(302);
        assertThat(console.get("/subscriptions/billing").statusCode()).isEqualTo(302);
    }

    @Test
    void whoSignsOutHasNoUseOfACopiedCookie() throws Exception {
        String cookie = console.submit("/sign-in", "/sign-in", Map.of("token", "anna-token"))
                .headers()
                .firstValue("Set-Cookie")
                .orElseThrow()
                .replaceFirst(";.*", "");
        assertThat(cookie).doesNotContain(hash("anna-token"));
        console.submit("/subscriptions/billing", "/sign-out", Map.of());
        console.forget();
        assertThat(console.send("GET", "/audit", "", "Cookie", cookie).statusCode())
                .isEqualTo(302);
    }

    @Test
    void whoGuessesTokensHasToWait() throws Exception {
        for (int i = 0; i < 5; i++) {
            assertThat(console.submit("/sign-in", "/sign-in", Map.of("token", "guess " + i))
                            .statusCode())
                    .isEqualTo(401);
        }
        HttpResponse<String> braked = console.submit("/sign-in", "/sign-in", Map.of("token", "another guess"));
        assertThat(braked.statusCode()).isEqualTo(429);
        assertThat(braked.headers().firstValue("Retry-After")).isPresent();
        assertThat(console.submit("/sign-in", "/sign-in", Map.of("token", "anna-token"))
                        .statusCode())
                .as("a right token is not shut out by others behind the same proxy")
                .isEqualTo(302);
        assertThat(pause("anna-token").statusCode())
                .as("programs are not locked out by those who type")
                .isEqualTo(200);
    }

    @Test
    void aProxyThatRewritesTheHostNeedsTheOrigin() throws Exception {
        String[] proxied = {
            "Origin",
            "https://ops.example.com",
            "Sec-Fetch-Site",
            "same-origin",
            "Content-Type",
            "application/json",
            "Idempotency-Key",
            "k",
            "Authorization",
            "Bearer anna-token"
        };
        String path = "/api/v1/subscriptions/billing/pause";
        assertThat(console.send("POST", path, "{\"reason\":\"x\"}", proxied).body())
                .contains("request.foreign");
        console.close();
        console = ConsoleUnderTest.start(
                settings().origin("https://ops.example.com").build());
        assertThat(console.send("POST", path, "{\"reason\":\"x\"}", proxied).body())
                .contains("subscription.unknown");
        proxied[1] = console.url();
        assertThat(console.send("POST", path, "{\"reason\":\"x\"}", proxied).body())
                .contains("request.foreign");
        assertThat(console.get("/sign-in").headers().firstValue("Set-Cookie").orElse(""))
                .startsWith("__Secure-postroom_form")
                .contains("Secure");
    }

    @Test
    void signsInToWhereALinkLedAndNowhereElse() throws Exception {
        assertThat(location(console.submit(
                        "/sign-in",
                        "/sign-in",
                        Map.of("token", "anna-token", "to", "/dead-letters?subscription=billing"))))
                .endsWith("/ops/postroom/dead-letters?subscription=billing");
        for (String to : new String[] {"//evil.example", "/\\evil.example", "https://evil.example", "evil", "/ x"}) {
            console.forget();
            assertThat(location(console.submit("/sign-in", "/sign-in", Map.of("token", "anna-token", "to", to))))
                    .as(to)
                    .endsWith("/ops/postroom/")
                    .doesNotContain("evil");
        }
    }

    @Test
    void aLinkOfAnotherSiteTakesNoSignInAway() throws Exception {
        console.submit("/sign-in", "/sign-in", Map.of("token", "anna-token"));
        // Browsers keep strict cookies back when a link of another site is followed.
        HttpResponse<String> visit = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(console.url() + "/subscriptions/billing"))
                                .headers("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(visit.statusCode()).isEqualTo(200);
        assertThat(visit.body())
                .contains("content=\"0;url=/ops/postroom/sign-in?to=%2Fsubscriptions%2Fbilling\"")
                .doesNotContain("anna");
        assertThat(visit.headers().allValues("Set-Cookie")).isEmpty();
        assertThat(location(console.get("/sign-in?to=%2Fsubscriptions%2Fbilling")))
                .endsWith("/ops/postroom/subscriptions/billing");
        assertThat(console.get("/subscriptions/billing").statusCode()).isEqualTo(200);
    }

    @Test
    void aRefreshOfWhoIsNoLongerSignedInLeadsAway() throws Exception {
        HttpResponse<String> refresh = console.send("GET", "/audit", "", "HX-Request", "true");
        assertThat(refresh.statusCode()).isEqualTo(401);
        assertThat(refresh.headers().firstValue("HX-Redirect")).contains("/ops/postroom/sign-in?to=%2Faudit");
    }

    @Test
    void readsNoUpload() throws Exception {
        console.get("/sign-in");
        String part =
                "--x\r\nContent-Disposition: form-data; name=\"token\"; filename=\"a\"\r\n\r\nanna-token\r\n--x--\r\n";
        HttpResponse<String> answer =
                console.send("POST", "/sign-in", part, "Content-Type", "multipart/form-data; boundary=x");
        assertThat(answer.statusCode()).isEqualTo(415);
    }

    private static String location(HttpResponse<String> answer) {
        return answer.headers().firstValue("Location").orElse("");
    }

    @Test
    void aCookieOfSomebodyElsesMakingIsNoTicket() throws Exception {
        String ticket = hash("anna-token") + ".99999999999.bm9uY2U.c2lnbmF0dXJl";
        HttpResponse<String> page = console.send("GET", "/", "", "Cookie", "postroom_session_0=" + ticket);
        assertThat(page.statusCode()).isEqualTo(302);
    }
}
