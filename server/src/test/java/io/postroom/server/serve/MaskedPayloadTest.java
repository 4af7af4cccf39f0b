package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.web.Payloads;
import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MaskedPayloadTest {
    private static ConsoleUnderTest console;
    private static String message;
    private static String letter;

    @BeforeAll
    static void start() throws Exception {
        console = ConsoleUnderTest.start(settings().build(), Hostile::fill);
        signIn(console, "anna");
        JsonNode first = JsonMapper.shared()
                .readTree(console.get("/api/v1/dead-letters?limit=1").body())
                .get("items")
                .get(0);
        message = "/messages/" + first.get("messageId").asString();
        letter = "/dead-letters/" + first.get("id").asString();
    }

    private static WebSettings.Builder settings() throws Exception {
        return WebSettings.builder()
                .port(0)
                .accounts(Map.of(
                        hash("anna"), new User("anna", Role.OPERATOR), hash("wall"), new User("wall", Role.VIEWER)));
    }

    private static String hash(String token) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    private static void signIn(ConsoleUnderTest at, String token) throws Exception {
        at.forget();
        assertThat(at.submit("/sign-in", "/sign-in", Map.of("token", token)).statusCode())
                .isEqualTo(302);
    }

    @BeforeEach
    void forgetWhatWasDone() {
        console.database().execute("delete from postroom.audit");
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    private static long revealed() {
        return console.database()
                .queryLong("select count(*) from postroom.audit where action = 'payload reveal' and actor = 'anna' and"
                        + " reason = 'claim 7'");
    }

    @Test
    void usersSeeNamesAndNoValues() throws Exception {
        signIn(console, "wall");
        for (String path : new String[] {message, letter, "/jobs/1", "/api/v1" + letter, "/api/v1/jobs/1"}) {
            assertThat(console.get(path).body())
                    .as(path)
                    .contains("•••")
                    .doesNotContain("img src=x onerror=alert(1)>\"}");
        }
        assertThat(console.get(message).body())
                .contains("customer")
                .doesNotContain("c-4")
                .doesNotContain("Reveal");
        assertThat(console.get("/api/v1" + letter).body()).doesNotContain("c-4");
        for (String path : new String[] {message, letter, "/jobs/1"}) {
            assertThat(console.get(path + "/payload").statusCode()).as(path).isEqualTo(403);
        }
        assertThat(console.get("/messages?data=customer.id%3Dc-4").statusCode())
                .as("what cannot be seen cannot be guessed")
                .isEqualTo(403);
        assertThat(console.call(letter + "/reveal", "k", "{\"reason\":\"x\"}").statusCode())
                .isEqualTo(403);
        assertThat(revealed()).isZero();
    }

    @Test
    void operatorsRevealOneAtATimeAndTheAuditTells() throws Exception {
        signIn(console, "anna");
        assertThat(console.submit(message, message + "/reveal", Map.of()).body())
                .contains("reason is missing");
        for (String path : new String[] {message, letter}) {
            assertThat(console.get(path).body()).doesNotContain("c-4");
            HttpResponse<String> shown = console.submit(path, path + "/reveal", Map.of("reason", "claim 7"));
            assertThat(shown.body()).as(path).contains("c-4");
        }
        assertThat(console.get(message).body()).doesNotContain("c-4");
        assertThat(console.call(letter + "/reveal", "k", "{\"reason\":\"claim 7\"}")
                        .body())
                .contains("c-4");
        assertThat(console.call("/jobs/1/reveal", "k", "{\"reason\":\"claim 7\"}")
                        .body())
                .contains("onerror");
        assertThat(revealed()).isEqualTo(4);
    }

    @Test
    void whatIsHiddenNobodyReveals() throws Exception {
        try (ConsoleUnderTest hidden =
                ConsoleUnderTest.start(settings().payloads(Payloads.HIDDEN).build(), Hostile::fill)) {
            signIn(hidden, "anna");
            assertThat(hidden.get("/dead-letters/1").body())
                    .contains("Payloads are hidden here")
                    .doesNotContain("customer");
            assertThat(hidden.call("/dead-letters/1/reveal", "k", "{\"reason\":\"x\"}")
                            .statusCode())
                    .isEqualTo(403);
            assertThat(hidden.database()
                            .queryLong("select count(*) from postroom.audit where action = 'payload reveal'"))
                    .isZero();
        }
    }
}
