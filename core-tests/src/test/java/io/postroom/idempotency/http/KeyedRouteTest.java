package io.postroom.idempotency.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.Postroom;
import io.postroom.idempotency.Answer;
import io.postroom.testkit.TestDatabase;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class KeyedRouteTest {
    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        database.close();
    }

    private static KeyedRoute.Builder route(String scope) {
        Postroom postroom = database.postroom();
        return KeyedRoute.builder(postroom.database(), postroom.idempotency(), scope);
    }

    private static KeyedRequest request(String tenant, String key) {
        return new KeyedRequest("POST", "/x", "text/plain", List.of(key), tenant, new byte[0]);
    }

    @Test
    void reportsEveryProblemAtOnce() {
        assertThatThrownBy(() -> route("Order Create")
                        .requestBytesMax(-1)
                        .methods("POST", "GET")
                        .storedHeaders("ETag", "set-cookie")
                        .build())
                .hasMessageContaining("scope is 'Order Create'")
                .hasMessageContaining("requestBytesMax is -1, the range is 0 to")
                .hasMessageContaining("[GET] change nothing")
                .hasMessageContaining("header set-cookie is for one response only")
                .extracting("code")
                .isEqualTo("idempotency.route-invalid");
    }

    @Test
    void storesTheHeadersThatItNames() {
        KeyedRoute route = route("named").storedHeaders("X-Total").build();
        Answer answer = route.answer(200, Map.of("x-total", "7", "ETag", "\"1\""), new byte[0]);
        assertThat(answer.headers()).containsExactly(Map.entry("x-total", "7"));
    }

    @Test
    void linksToTheDocumentationOfTheApi() {
        KeyedRoute route = route("linked")
                .documentation(URI.create("https://shop.example/keys"))
                .build();
        Reply reply = route.once(
                new KeyedRequest("POST", "/x", null, List.of(), "", new byte[0]), tx -> Answer.of(200, "never"));
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.executed()).isFalse();
        assertThat(new String(reply.body(), StandardCharsets.UTF_8)).contains("\"type\":\"https://shop.example/keys\"");
        assertThat(reply.headers())
                .containsEntry("Link", "<https://shop.example/keys>; rel=\"describedby\"; type=\"text/html\"");
    }

    /** The server's own mistake is not the client's. */
    @Test
    void aTenantThatIsNoneIsNotTheClientsFault() {
        assertThatThrownBy(() -> route("strict").build().once(request("a\u0000", "k"), tx -> Answer.of(200, "never")))
                .extracting("code")
                .isEqualTo("idempotency.tenant-invalid");
    }

    @Test
    void readsNoMoreThanItNeedsToKnowThatABodyIsTooLarge() throws IOException {
        KeyedRoute route = route("small").requestBytesMax(3).build();
        assertThat(route.read(new ByteArrayInputStream(new byte[3]))).isPresent();
        ByteArrayInputStream endless = new ByteArrayInputStream(new byte[1_000]);
        assertThat(route.read(endless)).isEmpty();
        assertThat(endless.available()).isEqualTo(996);
        assertThat(route.tooLarge().status()).isEqualTo(413);
    }
}
