package io.postroom.server.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The API is what its description says: each call is made once, and what it answers is held against its schema. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiDocumentTest {
    private String key() throws Exception {
        return JsonMapper.shared()
                .readTree(console.get("/api/v1/idempotency-keys?limit=1").body())
                .get("items")
                .get(0)
                .get("id")
                .asString();
    }

    private static final String PLACE = "https://postroom.test/openapi.json";
    private static final String REASON = "{\"reason\": \"a test\"}";
    private static final String LETTERS =
            "{\"subscription\": \"shipping\", \"rate\": 0.1, \"canary\": 1, \"reason\": \"a test\"}";

    private ConsoleUnderTest console;
    private JsonNode document;
    private SchemaRegistry schemas;
    private final Set<String> called = new LinkedHashSet<>();

    @BeforeAll
    void start() throws Exception {
        console = ConsoleUnderTest.start();
        Hostile.fill(console.database());
        String text = console.get("/api/v1/openapi.json").body();
        document = JsonMapper.shared().readTree(text);
        schemas = SchemaRegistry.withDefaultDialect(
                SpecificationVersion.DRAFT_2020_12, builder -> builder.schemas(Map.of(PLACE, text)));
    }

    @AfterAll
    void stop() {
        console.close();
    }

    @Test
    void theDescriptionIsOpenApiAndTellsOfEverything() {
        ParseOptions options = new ParseOptions();
        options.setResolve(true);
        assertThat(new OpenAPIV3Parser()
                        .readContents(document.toString(), null, options)
                        .getMessages())
                .isEmpty();
        Set<String> ids = new LinkedHashSet<>();
        document.get("paths")
                .forEachEntry((path, methods) -> methods.forEachEntry((method, operation) -> {
                    String at = method + " " + path;
                    assertThat(ids.add(operation.path("operationId").asString("")))
                            .as(at)
                            .isTrue();
                    assertThat(operation.path("summary").asString(""))
                            .as(at)
                            .isNotEmpty()
                            .doesNotEndWith(".");
                    assertThat(operation.path("tags").size()).as(at).isEqualTo(1);
                    assertThat(operation.path("responses").has("200")).as(at).isTrue();
                    assertThat(operation.path("responses").has("default"))
                            .as(at)
                            .isTrue();
                    assertThat(operation.has("requestBody")).as(at).isEqualTo(method.equals("post"));
                }));
        document.at("/components/schemas").forEachEntry((name, schema) -> {
            assertThat(schema.path("description").asString("")).as(name).endsWith(".");
            assertThat(document.toString()).as("nobody uses " + name).contains("#/components/schemas/" + name + "\"");
        });
    }

    @Test
    void everyCallAnswersWhatItsDescriptionSays() throws Exception {
        String message = first("/messages?limit=1", "id");
        String letter = first("/dead-letters?limit=1", "id");
        get("/status", "/status");
        watch("/events", "/events", "status");
        watch("/messages/live", "/messages/live?after=0", "message");
        get("/subscriptions", "/subscriptions");
        get("/subscriptions/{name}", "/subscriptions/shipping");
        get("/subscriptions/{name}/held-keys", "/subscriptions/shipping/held-keys");
        get("/subscriptions/{name}/deliveries", "/subscriptions/claims/deliveries?limit=2");
        get("/lanes", "/lanes?subscription=shipping");
        get("/messages", "/messages?type=OrderPaid&limit=2");
        get("/messages/{id}", "/messages/" + message);
        get("/messages/{id}/why", "/messages/" + message + "/why");
        get("/dead-letters", "/dead-letters?subscription=shipping&limit=2");
        get("/dead-letters/groups", "/dead-letters/groups");
        get("/dead-letters/resolved", "/dead-letters/resolved?resolution=discarded");
        get("/nodes", "/nodes");
        get("/dead-letters/{id}", "/dead-letters/" + letter);
        get("/jobs", "/jobs?queue=mail");
        get("/jobs/{id}", "/jobs/1");
        get("/queues", "/queues");
        get("/schedules", "/schedules");
        get("/read-models", "/read-models");
        get("/materialized-views", "/materialized-views");
        get("/idempotency-keys", "/idempotency-keys");
        post("/idempotency-keys/{id}/release", "/idempotency-keys/" + key() + "/release", REASON);
        get("/database", "/database");
        get("/doctor", "/doctor");
        get("/advice", "/advice");
        get("/settings", "/settings");
        post("/subscriptions/{name}/pause", "/subscriptions/shipping/pause", REASON);
        post("/subscriptions/{name}/resume", "/subscriptions/shipping/resume", REASON);
        post("/messages/{id}/reveal", "/messages/" + message + "/reveal", REASON);
        post("/dead-letters/{id}/reveal", "/dead-letters/" + letter + "/reveal", REASON);
        post("/jobs/{id}/reveal", "/jobs/1/reveal", REASON);
        post("/queues/{name}/pause", "/queues/mail/pause", REASON);
        post("/queues/{name}/resume", "/queues/mail/resume", REASON);
        post("/schedules/{name}/pause", "/schedules/nightly/pause", REASON);
        post("/schedules/{name}/resume", "/schedules/nightly/resume", REASON);
        post("/schedules/{name}/run", "/schedules/nightly/run", REASON);
        get("/schedules/{name}", "/schedules/nightly");
        post("/schedules/{name}/remove", "/schedules/nightly/remove", REASON);
        post("/jobs/{id}/retry", "/jobs/1/retry", REASON);
        post("/jobs/{id}/cancel", "/jobs/1/cancel", REASON);
        post("/redrives/plan", "/redrives/plan", "{\"subscription\": \"shipping\", \"rate\": 10}");
        String redrive = post("/redrives", "/redrives", LETTERS).get("id").asString();
        get("/redrives/{id}", "/redrives/" + redrive);
        get("/redrives", "/redrives?limit=5");
        post("/redrives/{id}/cancel", "/redrives/" + redrive + "/cancel", REASON);
        get("/audit", "/audit?limit=3");
        List<String> described = new ArrayList<>();
        document.get("paths")
                .forEachEntry((path, methods) ->
                        methods.propertyNames().forEach(method -> described.add(method + " " + path)));
        assertThat(called).containsExactlyInAnyOrderElementsOf(described);
    }

    @Test
    void whatIsNotDescribedIsRefused() throws Exception {
        for (String path : document.get("paths").propertyNames()) {
            if (document.get("paths").get(path).has("get") && !path.contains("{")) {
                HttpResponse<String> answer = console.get("/api/v1" + path + "?nonsense=1");
                assertThat(answer.statusCode()).as(path).isEqualTo(400);
                assertThat(answer.body()).contains("'nonsense' is not a parameter here");
                hold(answer.body(), PLACE + "#/components/schemas/Problem", path);
            }
        }
    }

    private String first(String path, String name) throws Exception {
        JsonNode items = JsonMapper.shared()
                .readTree(console.get("/api/v1" + path).body())
                .get("items");
        return items.get(0).get(name).asString();
    }

    private void get(String path, String actual) throws Exception {
        answered("get", path, console.get("/api/v1" + actual));
    }

    private void watch(String path, String actual, String event) throws Exception {
        try (Events events = console.watch(actual)) {
            assertThat(events.status()).as(path).isEqualTo(200);
            assertThat(events.type()).startsWith("text/event-stream");
            String schema = PLACE + "#/paths/" + path.replace("/", "~1")
                    + "/get/responses/200/content/text~1event-stream/x-events/" + event;
            hold(events.next(event).toString(), schema, path);
            called.add("get " + path);
        }
    }

    private JsonNode post(String path, String actual, String body) throws Exception {
        return answered("post", path, console.call(actual, UUID.randomUUID().toString(), body));
    }

    private JsonNode answered(String method, String path, HttpResponse<String> answer) {
        assertThat(answer.statusCode())
                .as(method + " " + path + ": " + answer.body())
                .isEqualTo(200);
        String schema = PLACE + "#/paths/" + path.replace("/", "~1") + "/" + method
                + "/responses/200/content/application~1json/schema";
        hold(answer.body(), schema, method + " " + path);
        called.add(method + " " + path);
        return JsonMapper.shared().readTree(answer.body());
    }

    private void hold(String answer, String schema, String what) {
        Schema held = schemas.getSchema(SchemaLocation.of(schema));
        assertThat(held.validate(JsonMapper.shared().readTree(answer)))
                .as(what + ": " + answer)
                .isEmpty();
    }
}
