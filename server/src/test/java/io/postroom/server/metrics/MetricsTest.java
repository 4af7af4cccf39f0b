package io.postroom.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.serve.ConsoleUnderTest;
import io.postroom.server.web.Role;
import io.postroom.server.web.User;
import io.postroom.server.web.WebSettings;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MetricsTest {
    private static final String TOKEN = "scraper-token";
    /** The SHA-256 of the token. */
    private static final String HASH = "3723f39b17c164cc37f6e4f653c6893d6581f44b23f70687ed3afae7f5267152";

    @Test
    void aServerOfThisMachineIsReadWithoutAToken() throws Exception {
        try (ConsoleUnderTest console = ConsoleUnderTest.start(WebSettings.local(0))) {
            HttpResponse<String> response = console.get("/metrics");
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type"))
                    .hasValueSatisfying(
                            type -> assertThat(type).startsWith("text/plain").contains("version=0.0.4"));
            assertThat(response.body()).contains("# TYPE postroom_db_up gauge");
            assertThat(response.headers().map()).doesNotContainKey("set-cookie");
            assertThat(console.send("GET", "/metrics", "", "X-Forwarded-For", "10.0.0.1")
                            .statusCode())
                    .as("through a proxy")
                    .isEqualTo(421);
            assertThat(console.send("GET", "/metrics", "", "Sec-Fetch-Site", "cross-site")
                            .statusCode())
                    .as("from a page of another site")
                    .isEqualTo(403);
        }
    }

    @Test
    void withUsersItTakesTheTokenOfOneAndSendsNobodyToAPage() throws Exception {
        WebSettings settings = WebSettings.builder()
                .port(0)
                .accounts(Map.of(HASH, new User("prometheus", Role.VIEWER)))
                .build();
        try (ConsoleUnderTest console = ConsoleUnderTest.start(settings)) {
            HttpResponse<String> nobody = console.get("/metrics");
            assertThat(nobody.statusCode()).isEqualTo(401);
            assertThat(nobody.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
            assertThat(console.send("GET", "/metrics", "", "Authorization", "Bearer wrong")
                            .statusCode())
                    .isEqualTo(401);
            HttpResponse<String> known = console.send("GET", "/metrics", "", "Authorization", "Bearer " + TOKEN);
            assertThat(known.statusCode()).isEqualTo(200);
            assertThat(known.body()).contains("postroom_db_up");
        }
    }
}
