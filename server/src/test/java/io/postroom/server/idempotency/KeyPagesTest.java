package io.postroom.server.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.server.serve.ConsoleUnderTest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class KeyPagesTest {
    private static ConsoleUnderTest console;

    /** A hundred tenants use the same key. */
    @BeforeAll
    static void start() throws Exception {
        console = ConsoleUnderTest.start();
        console.database()
                .execute(
                        "insert into postroom.idempotency_key (tenant_id, scope, key, request_hash, state, status_code, response,"
                                + " expires_at, completed_at) select 'tenant-' || to_char(n, 'FM000'), 'orders', 'invoice', sha256('x'),"
                                + " 'completed', 200, 'x', now() + interval '1 day', now() from generate_series(1, 100) as n");
    }

    @AfterAll
    static void stop() {
        console.close();
    }

    private static JsonNode list(String query) throws Exception {
        HttpResponse<String> answer = console.get("/api/v1/idempotency-keys?" + query);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonMapper.shared().readTree(answer.body());
    }

    @Test
    void aKeyThatManyHaveIsFoundByItsTenant() throws Exception {
        assertThat(list("key=invoice&tenant=tenant-100&limit=10").get("items")).hasSize(1);
        assertThat(list("key=invoice&scope=orders&state=completed&limit=10").get("items"))
                .hasSize(10);
        assertThat(list("key=invoice&state=failed&limit=10").get("items")).isEmpty();
        assertThat(console.get("/idempotency-keys?key=invoice&tenant=tenant-100")
                        .body())
                .contains("tenant-100")
                .doesNotContain("that fit");
    }

    @Test
    void theKeysOfAllWhoHaveItArePagedThrough() throws Exception {
        List<String> ids = new ArrayList<>();
        String after = "";
        while (after != null) {
            JsonNode page = list("key=invoice&limit=30" + after);
            page.get("items").forEach(each -> ids.add(each.get("id").asString()));
            after = page.get("next").isNull()
                    ? null
                    : "&after=" + page.get("next").asString();
            assertThat(ids).hasSizeLessThanOrEqualTo(100);
        }
        assertThat(ids).hasSize(100).doesNotHaveDuplicates();
    }
}
