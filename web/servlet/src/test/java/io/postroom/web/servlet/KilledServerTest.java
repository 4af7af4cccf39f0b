package io.postroom.web.servlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.testkit.ChildJvm;
import io.postroom.testkit.CrashPoint;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SIGKILL at every point of a request: the client asks another server again, and there is one order and one answer. */
class KilledServerTest {
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private static TestDatabase database;
    private static ChildJvm survivor;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("create table orders (id bigint generated always as identity, body text)");
        survivor = server("none");
    }

    @AfterAll
    static void drop() {
        survivor.close();
        database.close();
    }

    private static ChildJvm server(String point) {
        return ChildJvm.start(ServerMain.class, List.of("-Xmx128m"), database.url(), point);
    }

    @ParameterizedTest
    @CsvSource({"claimed, false", "ordered, false", "before the answer is stored, false", "stored, true"})
    void anotherServerAnswersOnce(String point, boolean stored) throws Exception {
        String body = "{\"do\":\"order\",\"point\":\"" + point + "\"}";
        try (ChildJvm dying = server(point)) {
            HttpRequest request = request(dying, point, body);
            assertThatThrownBy(() -> HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()))
                    .isInstanceOf(IOException.class);
            assertThat(dying.awaitExit(DEADLINE)).isEqualTo(CrashPoint.EXIT_CODE);
        }
        HttpResponse<String> answer = send(point, body);
        for (int tries = 0; answer.statusCode() == 425 && tries < 1_000; tries++) {
            // PostgreSQL may not have noticed yet that its client is gone.
            answer = send(point, body);
        }
        assertThat(answer.statusCode()).isEqualTo(201);
        assertThat(answer.headers().firstValue("Idempotent-Replayed").isPresent())
                .isEqualTo(stored);
        assertThat(send(point, body).body()).isEqualTo(answer.body());
        assertThat(database.queryLong("select count(*) from orders where body like '%\"" + point + "\"%'"))
                .isEqualTo(1);
    }

    private static HttpResponse<String> send(String point, String body) throws Exception {
        return HttpClient.newHttpClient().send(request(survivor, point, body), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(ChildJvm server, String point, String body) throws InterruptedException {
        String port = server.awaitLine("port ", DEADLINE).substring("port ".length());
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/orders"))
                .header("X-Tenant", "t1")
                .header("Idempotency-Key", '"' + point + '"')
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
    }
}
