package io.postroom.web.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.Postroom;
import io.postroom.idempotency.Answer;
import io.postroom.idempotency.CanonicalHash;
import io.postroom.idempotency.Steps;
import io.postroom.idempotency.http.KeyedRoute;
import io.postroom.testkit.FakeProvider;
import io.postroom.testkit.TestDatabase;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What servlets do besides writing bytes: each of it behind the filter, asked for twice. */
class IdempotencyFilterTest {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final AtomicInteger RUNS = new AtomicInteger();

    private static TestDatabase database;
    private static FakeProvider provider;
    private static JettyServer server;
    private static int keys;

    /** What each path answers. */
    private interface Page {
        void answer(HttpServletRequest request, HttpServletResponse response) throws Exception;
    }

    private static final Map<String, Page> PAGES = new HashMap<>(Map.of(
            "/writer",
                    (request, response) -> {
                        response.setContentType("text/plain");
                        response.setCharacterEncoding("utf-16be");
                        response.getWriter().print("caf\u00e9");
                    },
            "/error",
                    (request, response) -> {
                        response.getWriter().print("forgotten");
                        response.sendError(404, "no such order");
                    },
            "/redirect", (request, response) -> response.sendRedirect("/orders/7"),
            "/seeother", (request, response) -> response.sendRedirect("/orders/8", 303),
            "/reset",
                    (request, response) -> {
                        response.setHeader("ETag", "\"old\"");
                        response.getWriter().print("old");
                        response.reset();
                        response.setStatus(202);
                        response.getWriter().print("new");
                    },
            "/form",
                    (request, response) -> {
                        response.setCharacterEncoding("utf-8");
                        response.getWriter()
                                .print(request.getParameter("a")
                                        + request.getParameterMap().keySet()
                                        + request.getParameterValues("b").length);
                    },
            "/upload",
                    (request, response) -> {
                        Part file = request.getPart("receipt");
                        String content = new String(file.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                        response.getWriter()
                                .print(file.getSubmittedFileName() + " " + file.getContentType() + " " + content + " "
                                        + request.getParameter("title"));
                    },
            "/async",
                    (request, response) -> {
                        assertThat(request.isAsyncSupported()).isFalse();
                        request.startAsync();
                    },
            "/without", (request, response) -> response.getWriter().print("no transaction was taken"),
            "/steps/charge", IdempotencyFilterTest::charge));

    static {
        PAGES.put("/steps/last", (request, response) -> {
            response.setHeader("ETag", "\"written\"");
            response.getWriter().print("written");
            IdempotentRequest.steps(request).answer(tx -> Answer.json(201, "{\"stored\":true}"));
        });
        PAGES.put("/read", (request, response) -> response.getWriter().print(request.getParameter("a")));
        PAGES.put("/member", (request, response) -> response.getWriter().print("done"));
    }

    /** Dies between the two steps the first time; the second time it must charge nothing again. */
    private static void charge(HttpServletRequest request, HttpServletResponse response) throws Exception {
        Steps steps = IdempotentRequest.steps(request);
        String order = steps.step("reserve", tx -> "order-" + RUNS.get());
        FakeProvider.charge(provider.url(), "charge:" + order + ":r1", "{}");
        if (!steps.isResumed()) {
            throw new IllegalStateException("out of luck");
        }
        response.setStatus(201);
        response.getWriter().print(steps.step("note", tx -> "paid " + order));
    }

    @BeforeAll
    static void start() {
        database = TestDatabase.create();
        provider = FakeProvider.start();
        Filter cors = (request, response, chain) -> {
            ((HttpServletResponse) response).setHeader("X-Before", "kept");
            chain.doFilter(request, response);
        };
        server = new JettyServer(new PageServlet())
                .filter("/*", cors)
                .filter("/read", (request, response, chain) -> {
                    request.getParameter("a");
                    chain.doFilter(request, response);
                })
                .filter("/steps/*", IdempotencyFilter.steps(route("steps.page"), request -> ""))
                .start();
        for (String path : PAGES.keySet()) {
            if (!path.startsWith("/steps/")) {
                server.filter(
                        path,
                        IdempotencyFilter.once(route("page" + path.replace('/', '.')), request -> "")
                                .principal(request -> Objects.requireNonNullElse(request.getHeader("X-Member"), "")));
            }
        }
    }

    private static KeyedRoute route(String scope) {
        Postroom postroom = database.postroom();
        return KeyedRoute.builder(postroom.database(), postroom.idempotency(), scope)
                .build();
    }

    @AfterAll
    static void stop() {
        server.close();
        provider.close();
        database.close();
    }

    private static final class PageServlet extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            RUNS.incrementAndGet();
            try {
                PAGES.get(request.getRequestURI()).answer(request, response);
            } catch (IOException | RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new ServletException(e);
            }
        }
    }

    private static HttpResponse<byte[]> post(String path, String key, String type, String body) throws Exception {
        return CLIENT.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                        .header("Idempotency-Key", key)
                        .header("Content-Type", type)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    /** Twice: the same status, body and headers, and the servlet runs once. */
    private static HttpResponse<byte[]> twice(String path, String type, String body) throws Exception {
        String key = "key-" + ++keys;
        int before = RUNS.get();
        HttpResponse<byte[]> first = post(path, key, type, body);
        HttpResponse<byte[]> again = post(path, key, type, body);
        assertThat(RUNS.get() - before).isEqualTo(1);
        assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(again.statusCode()).isEqualTo(first.statusCode());
        assertThat(again.body()).isEqualTo(first.body());
        for (String name : new String[] {"Content-Type", "Location", "ETag", "X-Before"}) {
            assertThat(again.headers().allValues(name))
                    .as(name)
                    .isEqualTo(first.headers().allValues(name));
        }
        assertThat(again.headers().firstValue("X-Before")).contains("kept");
        return first;
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    @Test
    void whatIsWrittenAsTextKeepsItsEncoding() throws Exception {
        HttpResponse<byte[]> response = twice("/writer", "text/plain", "");
        assertThat(new String(response.body(), StandardCharsets.UTF_16BE)).isEqualTo("caf\u00e9");
        assertThat(response.headers().firstValue("Content-Type").orElseThrow()).containsIgnoringCase("utf-16be");
    }

    @Test
    void anErrorIsItsStatusWithoutAPage() throws Exception {
        HttpResponse<byte[]> response = twice("/error", "text/plain", "");
        assertThat(response.statusCode()).isEqualTo(404);
        assertThat(response.body()).isEmpty();
    }

    @Test
    void aRedirectIsRepeated() throws Exception {
        HttpResponse<byte[]> found = twice("/redirect", "text/plain", "");
        assertThat(found.statusCode()).isEqualTo(302);
        assertThat(found.headers().firstValue("Location")).contains("/orders/7");
        HttpResponse<byte[]> other = twice("/seeother", "text/plain", "");
        assertThat(other.statusCode()).isEqualTo(303);
        assertThat(other.headers().firstValue("Location")).contains("/orders/8");
    }

    @Test
    void whatWasResetIsNotSent() throws Exception {
        String key = "key-" + ++keys;
        HttpResponse<byte[]> response = post("/reset", key, "text/plain", "");
        assertThat(response.statusCode()).isEqualTo(202);
        assertThat(text(response)).isEqualTo("new");
        assertThat(response.headers().firstValue("ETag")).isEmpty();
        assertThat(text(post("/reset", key, "text/plain", ""))).isEqualTo("new");
    }

    @Test
    void aFormIsReadAsAlways() throws Exception {
        assertThat(text(twice("/form", "application/x-www-form-urlencoded", "a=%C3%A9+x&b=1&b=2&c")))
                .isEqualTo("\u00e9 x[a, b, c]2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"klingon-8", "a b", "\"\""})
    void aCharsetThatNobodyKnowsIsTheClientsMistake(String charset) throws Exception {
        int before = RUNS.get();
        HttpResponse<byte[]> response =
                post("/form", "key-" + ++keys, "application/x-www-form-urlencoded; charset=" + charset, "a=1");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(text(response)).contains("idempotency.charset-unknown");
        assertThat(RUNS.get()).isEqualTo(before);
    }

    /** What is left of it is empty, and would be the same as any other form. */
    @Test
    void aFormThatAnotherFilterHasReadIsRefused() throws Exception {
        String key = "key-" + ++keys;
        int before = RUNS.get();
        for (String form : new String[] {"a=1", "a=2"}) {
            assertThat(post("/read", key, "application/x-www-form-urlencoded", form)
                            .statusCode())
                    .isEqualTo(500);
        }
        assertThat(RUNS.get()).isEqualTo(before);
    }

    @Test
    void whatTheLastStepHasStoredIsWhatTheFirstClientGetsToo() throws Exception {
        HttpResponse<byte[]> response = twice("/steps/last", "text/plain", "");
        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(text(response)).isEqualTo("{\"stored\":true}");
        assertThat(response.headers().firstValue("ETag")).isEmpty();
    }

    @Test
    void membersOfATenantDoNotGetEachOthersAnswers() throws Exception {
        String key = "key-" + ++keys;
        for (String member : new String[] {"anna", "bert"}) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/member"))
                    .header("Idempotency-Key", key)
                    .header("X-Member", member)
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            assertThat(CLIENT.send(request, HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(member.equals("anna") ? 200 : 409);
        }
    }

    @Test
    void aFileIsTheSameUnderAnotherBoundary() throws Exception {
        String key = "key-" + ++keys;
        HttpResponse<byte[]> first = post("/upload", key, "multipart/form-data; boundary=one", upload("one", "19.99"));
        assertThat(text(first)).isEqualTo("r.txt text/plain 19.99 lunch");
        HttpResponse<byte[]> again = post("/upload", key, "multipart/form-data; boundary=two", upload("two", "19.99"));
        assertThat(again.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(post("/upload", key, "multipart/form-data; boundary=two", upload("two", "99.19"))
                        .statusCode())
                .isEqualTo(409);
    }

    private static String upload(String boundary, String content) {
        return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nlunch\r\n--" + boundary
                + "\r\nContent-Disposition: form-data; name=\"receipt\"; filename=\"r.txt\"\r\nContent-Type: text/plain\r\n\r\n"
                + content + "\r\n--" + boundary + "--\r\n";
    }

    @Test
    void anAnswerForLaterIsRefused() throws Exception {
        assertThat(post("/async", "key-" + ++keys, "text/plain", "").statusCode())
                .isEqualTo(500);
    }

    @Test
    void aServletNeedNotTakeItsTransaction() throws Exception {
        assertThat(text(twice("/without", "text/plain", ""))).isEqualTo("no transaction was taken");
    }

    @Test
    void whatFailsBetweenStepsGoesOnAndChargesOnce() throws Exception {
        String key = "key-" + ++keys;
        assertThat(post("/steps/charge", key, "application/json", "{}").statusCode())
                .isEqualTo(500);
        HttpResponse<byte[]> second = post("/steps/charge", key, "application/json", "{ }");
        assertThat(second.statusCode()).isEqualTo(201);
        HttpResponse<byte[]> third = post("/steps/charge", key, "application/json", "{}");
        assertThat(third.headers().firstValue("Idempotent-Replayed")).contains("true");
        assertThat(text(third)).isEqualTo(text(second)).startsWith("paid order-");
        assertThat(provider.charges()).isEqualTo(1);
        assertThat(CanonicalHash.ofJson("{ }".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(CanonicalHash.ofJson("{}".getBytes(StandardCharsets.UTF_8)));
    }
}
