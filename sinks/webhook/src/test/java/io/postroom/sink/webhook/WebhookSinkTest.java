package io.postroom.sink.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.message.OwnHeaders;
import io.postroom.relay.Outcome;
import io.postroom.testkit.Messages;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class WebhookSinkTest {
    private static final UUID ID = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");

    private final CountDownLatch release = new CountDownLatch(1);
    private final Semaphore arrived = new Semaphore(0);
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger underWayMost = new AtomicInteger();
    private Receiver receiver;

    @BeforeEach
    void open() throws Exception {
        receiver = new Receiver();
    }

    @AfterEach
    void close() {
        release.countDown();
        receiver.close();
    }

    /** Makes the receiver wait until {@link #release}. */
    private void holdAnswers() {
        receiver.answer(request -> {
            underWayMost.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            arrived.release();
            release.await();
            underWay.decrementAndGet();
            return Receiver.Answer.of(204);
        });
    }

    private void awaitArrivals(int count) throws InterruptedException {
        assertThat(arrived.tryAcquire(count, 20, TimeUnit.SECONDS)).isTrue();
    }

    private static List<CompletionStage<Outcome>> sendMany(WebhookSink sink, int count) {
        List<CompletionStage<Outcome>> answers = new ArrayList<>();
        for (Message message : Messages.ofManyKeys("order", count)) {
            answers.add(sink.send(Messages.firstAttempt(message)));
        }
        return answers;
    }

    @Test
    void sendsWhatIsNoMessageWithTheSameBodyAtEveryAttempt() throws Exception {
        Webhook webhook = new Webhook("job-1f-42", "job 42", "receipt.\"send\"", "acme", "{ \"a\": 1.00 }");
        try (WebhookSink sink = Sending.local(receiver.url("/hook")).build()) {
            assertThat(Sending.answer(sink.send(webhook))).isInstanceOf(Outcome.Accepted.class);
            assertThat(Sending.answer(sink.send(webhook))).isInstanceOf(Outcome.Accepted.class);
        }
        for (Receiver.Request request : receiver.requests()) {
            assertThat(new String(request.body(), StandardCharsets.UTF_8))
                    .isEqualTo("{\"type\":\"receipt.\\\"send\\\"\",\"data\":{ \"a\": 1.00 }}");
            assertThat(request.header("webhook-id")).isEqualTo("job-1f-42");
            assertThat(request.header("webhook-signature")).startsWith("v1,");
        }
        assertThat(receiver.requests()).hasSize(2);
    }

    @Test
    void sendsWhatIsNoMessageAsACloudEvent() throws Exception {
        Webhook webhook = new Webhook("job-1f-42", "job 42", "receipt.send", "acme", "{ \"a\": 1.00 }");
        try (WebhookSink sink =
                Sending.local(receiver.url("/hook")).cloudEvents("/shop").build()) {
            assertThat(Sending.answer(sink.send(webhook))).isInstanceOf(Outcome.Accepted.class);
        }
        Receiver.Request request = receiver.only();
        assertThat(new String(request.body(), StandardCharsets.UTF_8)).isEqualTo("{ \"a\": 1.00 }");
        assertThat(request.header("ce-id")).isEqualTo("job-1f-42");
        assertThat(request.header("ce-type")).isEqualTo("receipt.send");
        assertThat(request.header("ce-source")).isEqualTo("/shop");
        assertThat(request.header("ce-tenantid")).isEqualTo("acme");
    }

    @Test
    void saysOfWhatIsNoMessageWhatItIs() throws Exception {
        receiver.answer(Receiver.Answer.of(503));
        try (WebhookSink sink = Sending.local(receiver.url("/hook")).build()) {
            Outcome outcome = Sending.answer(sink.send(new Webhook("job-42", "job 42", "a", null, "{}")));
            assertThat(Sending.reason(outcome))
                    .startsWith("could not send job 42 to http://127.0.0.1:")
                    .endsWith("the endpoint answered 503; it waits for its next attempt");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a.b", "a b", "a\r\nx: y", "ä"})
    void takesNoIdThatTheSignatureOrAHeaderCouldMistake(String id) {
        assertThatThrownBy(() -> new Webhook(id, "job 42", "a", null, "{}"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("could not make webhook of job 42");
    }

    @Test
    void splicesThePayloadIntoTheStandardBody() throws Exception {
        Message message = Message.about("order", "o-1")
                .id(ID)
                .event("Order\"Confirmed\\\n")
                .payload("{ \"a\": 1.00 }")
                .occurredAt(Instant.parse("2026-03-01T12:00:00Z"))
                .header("authorization", "of the application alone")
                .build();
        try (WebhookSink sink = Sending.local(receiver.url("/hook?a=b"))
                .header("X-Partner", "blue")
                .build()) {
            Sending.send(sink, message);
        }
        Receiver.Request request = receiver.only();
        assertThat(new String(request.body(), StandardCharsets.UTF_8))
                .isEqualTo("{\"type\":\"Order\\\"Confirmed\\\\\\u000a\",\"timestamp\":\"2026-03-01T12:00:00Z\","
                        + "\"data\":{ \"a\": 1.00 }}");
        assertThat(request.target()).isEqualTo("/hook?a=b");
        assertThat(request.header("content-type")).isEqualTo("application/json");
        assertThat(request.header("x-partner")).isEqualTo("blue");
        assertThat(request.headers().firstValue("authorization")).isEmpty();
    }

    @Test
    void putsTheAttributesOfACloudEventIntoEncodedHeaders() throws Exception {
        Message message = Message.about("order", "Zoë\r\nx: 1 \"50%\"")
                .id(ID)
                .tenantId("acme")
                .event("com.example.OrderConfirmed")
                .eventVersion(2)
                .aggregateVersion(7)
                .payload("{}")
                .occurredAt(Instant.parse("2026-03-01T12:00:00Z"))
                .header("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                .header("x-internal", "stays")
                .header(OwnHeaders.PAYLOAD_HASH, "0f\r\nx: 1")
                .build();
        try (WebhookSink sink =
                Sending.local(receiver.url("/")).cloudEvents("/orders").build()) {
            Sending.answer(sink.send(new Envelope(42, message, 1)));
        }
        Receiver.Request request = receiver.only();
        assertThat(request.body()).isEqualTo("{}".getBytes(StandardCharsets.UTF_8));
        Map.ofEntries(
                        Map.entry("ce-specversion", "1.0"),
                        Map.entry("ce-id", ID.toString()),
                        Map.entry("ce-source", "/orders"),
                        Map.entry("ce-type", "com.example.OrderConfirmed"),
                        Map.entry("ce-time", "2026-03-01T12:00:00Z"),
                        Map.entry("ce-subject", "Zo%C3%AB%0D%0Ax:%201%20%2250%25%22"),
                        Map.entry("ce-partitionkey", "Zo%C3%AB%0D%0Ax:%201%20%2250%25%22"),
                        Map.entry("ce-sequence", "0000000000000000042"),
                        Map.entry("ce-tenantid", "acme"),
                        Map.entry("ce-aggregatetype", "order"),
                        Map.entry("ce-aggregateversion", "7"),
                        Map.entry("ce-eventversion", "2"),
                        Map.entry("ce-traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                        Map.entry(OwnHeaders.PAYLOAD_HASH, "0f%0D%0Ax:%201"),
                        Map.entry("content-type", "application/json"))
                .forEach((name, value) ->
                        assertThat(request.header(name)).as(name).isEqualTo(value));
        assertThat(request.headers().firstValue("x")).isEmpty();
        assertThat(request.headers().firstValue("x-internal")).isEmpty();
        assertThat(request.headers().firstValue("ce-datacontenttype")).isEmpty();
    }

    @Test
    void sendsDifferentKeysAtOnceUpToTheLimit() throws Exception {
        holdAnswers();
        try (WebhookSink sink = Sending.local(receiver.url("/")).concurrency(3).build()) {
            List<CompletionStage<Outcome>> answers = sendMany(sink, 9);
            awaitArrivals(3);
            assertThat(answers).noneMatch(answer -> answer.toCompletableFuture().isDone());
            release.countDown();
            for (CompletionStage<Outcome> answer : answers) {
                assertThat(Sending.answer(answer)).isInstanceOf(Outcome.Accepted.class);
            }
            assertThat(underWayMost).hasValue(3);
        }
    }

    @Test
    void refusesMoreThanMayWait() throws Exception {
        holdAnswers();
        try (WebhookSink sink =
                Sending.local(receiver.url("/")).concurrency(1).waitingMax(2).build()) {
            List<CompletionStage<Outcome>> taken = sendMany(sink, 1);
            awaitArrivals(1);
            taken.addAll(sendMany(sink, 2));
            Outcome refused = Sending.send(sink);
            assertThat(refused).isInstanceOf(Outcome.Unavailable.class);
            assertThat(Sending.reason(refused)).contains("2 messages wait for a worker already");
            release.countDown();
            for (CompletionStage<Outcome> answer : taken) {
                assertThat(Sending.answer(answer)).isInstanceOf(Outcome.Accepted.class);
            }
        }
    }

    @Test
    void aSlowEndpointDelaysNoOther() throws Exception {
        holdAnswers();
        try (Receiver healthy = new Receiver();
                WebhookSink slow =
                        Sending.local(receiver.url("/")).concurrency(2).build();
                WebhookSink quick = Sending.local(healthy.url("/")).build()) {
            List<CompletionStage<Outcome>> stuck = sendMany(slow, 20);
            awaitArrivals(2);
            for (CompletionStage<Outcome> answer : sendMany(quick, 50)) {
                assertThat(Sending.answer(answer)).isInstanceOf(Outcome.Accepted.class);
            }
            assertThat(stuck).noneMatch(answer -> answer.toCompletableFuture().isDone());
            release.countDown();
        }
    }

    @Test
    void answersEveryMessageThoughTheEndpointHangs() throws Exception {
        holdAnswers();
        try (WebhookSink sink = Sending.local(receiver.url("/"))
                .concurrency(1)
                .attemptTimeout(Duration.ofMillis(200))
                .build()) {
            for (CompletionStage<Outcome> answer : sendMany(sink, 50)) {
                // Retry for one that the endpoint hung on, unavailable for those that waited for a worker in vain.
                assertThat(Sending.answer(answer)).isInstanceOfAny(Outcome.Retry.class, Outcome.Unavailable.class);
            }
            assertThat(arrived.availablePermits())
                    .as("the others were not even tried")
                    .isLessThan(10);
        }
    }

    @Test
    void closingWaitsForWhatIsUnderWayAndGivesBackWhatIsNot() throws Exception {
        holdAnswers();
        WebhookSink sink = Sending.local(receiver.url("/")).concurrency(1).build();
        List<CompletionStage<Outcome>> answers = sendMany(sink, 3);
        awaitArrivals(1);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(sink::close);
        while (!closed(sink)) {
            Thread.onSpinWait();
        }
        assertThat(closing).isNotDone();
        release.countDown();
        closing.get(20, TimeUnit.SECONDS);
        assertThat(Sending.answer(answers.get(0))).isInstanceOf(Outcome.Accepted.class);
        assertThat(Sending.reason(Sending.answer(answers.get(1)))).contains("the sink was closed");
        assertThat(Sending.reason(Sending.answer(answers.get(2)))).contains("the sink was closed");
        assertThat(receiver.requests()).hasSize(1);
    }

    /** Whether it refuses at once; a queue that is full refuses for another reason. */
    private static boolean closed(WebhookSink sink) {
        CompletableFuture<Outcome> answer =
                sink.send(Messages.firstAttempt(Messages.sample())).toCompletableFuture();
        return answer.isDone() && Sending.reason(answer.join()).contains("the sink is closed");
    }

    @Test
    void closingWaitsNoLongerThanItsTimeout() throws Exception {
        holdAnswers();
        WebhookSink sink = Sending.local(receiver.url("/"))
                .closeTimeout(Duration.ofMillis(100))
                .build();
        CompletionStage<Outcome> answer = sink.send(Messages.firstAttempt(Messages.sample()));
        awaitArrivals(1);
        sink.close();
        assertThat(answer.toCompletableFuture()).isCompleted();
        assertThat(Sending.reason(Sending.answer(answer))).contains("closed before the endpoint answered");
    }

    @Test
    void itsThreadsHaveNamesAndKeepNoProcessAlive() throws Exception {
        holdAnswers();
        try (WebhookSink sink = Sending.local("http://named.example:" + receiver.port() + "/")
                .resolver(Names.of("named.example", "127.0.0.1"))
                .build()) {
            sink.send(Messages.firstAttempt(Messages.sample()));
            awaitArrivals(1);
            List<Thread> threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().contains("named.example"))
                    .toList();
            assertThat(threads)
                    .extracting(Thread::getName)
                    .contains(
                            "postroom-webhook-worker-named.example-1",
                            "postroom-webhook-lookup-named.example-1",
                            "postroom-webhook-deadline-named.example-1");
            assertThat(threads).allMatch(Thread::isDaemon);
            release.countDown();
        }
    }

    @Test
    void reasonsTellTheOperatorWhatHappenedAndNothingConfidential() throws Exception {
        receiver.answer(new Receiver.Answer(
                500, Map.of(), "echo {\"card\":\"4111 1111 1111 1111\"} whsec_abc password=hunter2\r\nBearer abc.def"));
        Message message = Message.about("order", "o-1")
                .id(ID)
                .event("OrderConfirmed")
                .payload("{\"card\":\"4111 1111 1111 1111\"}")
                .build();
        String url = receiver.url("/token-4711?key=4712");
        try (WebhookSink sink =
                Sending.local(url).header("authorization", "Basic 4713").build()) {
            String reason = Sending.reason(Sending.send(sink, message));
            assertThat(reason)
                    .isEqualTo("could not send message " + ID + " to http://127.0.0.1:" + receiver.port()
                            + ": the endpoint answered 500; it will be tried again");
            assertThat(sink).hasToString("webhook sink http://127.0.0.1:" + receiver.port());
        }
        try (WebhookSink sink = Sending.local(url).showResponses().build()) {
            assertThat(Sending.reason(Sending.send(sink, message)))
                    .contains(
                            "answered 500 with \"echo {\"card\":\"***\"} *** password=*** Bearer ***\"; it will be tried again");
        }
    }

    @Test
    void showsOneShortLineOfAnAnswer() {
        assertThat(Excerpt.of("a\u001b[31m\r\n\u202eb" + "x".repeat(1_000)))
                .hasSize(Excerpt.LENGTH_MAX + 1)
                .startsWith("a bx")
                .endsWith("…");
        assertThat(Excerpt.of("x".repeat(Excerpt.LENGTH_MAX - 1) + "\ud83d\ude00 and more"))
                .isEqualTo("x".repeat(Excerpt.LENGTH_MAX - 1) + "…");
        assertThat(Excerpt.of("x".repeat(Excerpt.LENGTH_MAX - 20) + " password=hunter2-hunter2-hunter2"))
                .doesNotContain("hunter");
        assertThat(Excerpt.of("-----BEGIN PRIVATE KEY-----\nabc")).isEqualTo("***");
        assertThat(Excerpt.of("jdbc:postgresql://user:pw@db/x")).isEqualTo("jdbc:postgresql://***@db/x");
    }

    @Test
    void keepsConnectionsOpenBetweenWebhooks() throws Exception {
        try (WebhookSink sink = Sending.local(receiver.url("/")).build()) {
            for (int n = 0; n < 100; n++) {
                assertThat(Sending.send(sink)).isInstanceOf(Outcome.Accepted.class);
            }
            assertThat(receiver.connections()).isEqualTo(1);
        }
    }
}
