package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.cloudevents.CloudEvent;
import io.cloudevents.SpecVersion;
import io.cloudevents.kafka.CloudEventDeserializer;
import io.postroom.message.Envelope;
import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.Messages;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class KafkaSinkTest {
    private static KafkaBroker broker;

    @BeforeAll
    static void startBroker() {
        broker = KafkaBroker.start();
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @Test
    void isReadAsACloudEventByTheSdk() throws Exception {
        broker.createTopic("events.invoice", 1);
        Message message = Message.about("invoice", "F-1")
                .tenantId("acme")
                .aggregateVersion(7)
                .event("InvoicePaid")
                .eventVersion(2)
                .payload("{ \"total\": 12.50,\"name\":\"Zoë\" }")
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .header("tracestate", "vendor=1")
                .occurredAt(Instant.parse("2026-03-01T10:15:30.123456Z"))
                .build();
        try (KafkaSink sink =
                sink("events.{aggregateType}").source("/shop/billing").build()) {
            assertThat(answer(sink.send(new Envelope(4711, message, 1)))).isInstanceOf(Outcome.Accepted.class);
        }

        ConsumerRecord<byte[], CloudEvent> record =
                broker.read("events.invoice", new CloudEventDeserializer()).get(0);
        assertThat(record.key()).asString(StandardCharsets.UTF_8).isEqualTo("F-1");
        CloudEvent event = record.value();
        assertThat(event.getSpecVersion()).isEqualTo(SpecVersion.V1);
        assertThat(event.getId()).isEqualTo(message.id().toString());
        assertThat(event.getSource()).isEqualTo(URI.create("/shop/billing"));
        assertThat(event.getType()).isEqualTo("InvoicePaid");
        assertThat(event.getSubject()).isEqualTo("F-1");
        assertThat(event.getTime().toInstant()).isEqualTo(message.occurredAt());
        assertThat(event.getDataContentType()).isEqualTo("application/json");
        assertThat(event.getData().toBytes()).asString(StandardCharsets.UTF_8).isEqualTo(message.payload());
        Map<String, Object> extensions = new LinkedHashMap<>();
        event.getExtensionNames().forEach(name -> extensions.put(name, event.getExtension(name)));
        assertThat(extensions)
                .containsOnly(
                        Map.entry("partitionkey", "F-1"),
                        Map.entry("sequence", "0000000000000004711"),
                        Map.entry("tenantid", "acme"),
                        Map.entry("aggregatetype", "invoice"),
                        Map.entry("aggregateversion", "7"),
                        Map.entry("eventversion", "2"),
                        Map.entry("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                        Map.entry("tracestate", "vendor=1"));
        assertThat(extensions.keySet()).allMatch(name -> name.matches("[a-z0-9]{1,20}"));
        assertThat(headers(record))
                .containsEntry("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .containsEntry("tracestate", "vendor=1");
    }

    @Test
    void carriesTheMessagesOwnHeadersAndLetsNoneChangeTheEvent() throws Exception {
        broker.createTopic("headers", 1);
        Message message = Message.about("order", "4711")
                .event("OrderConfirmed")
                .payload("{}")
                .header("note", "Zoë")
                .header("ce_id", "forged")
                .header("CE_Type", "forged")
                .header("ce_not-a-name", "forged")
                .header("Content-Type", "text/plain")
                .header("header.ce_id", "another")
                .build();
        try (KafkaSink sink = sink("headers").build()) {
            assertThat(answer(sink.send(Messages.firstAttempt(message)))).isInstanceOf(Outcome.Accepted.class);
        }

        assertThat(headers(broker.read("headers").get(0)))
                .containsEntry("note", "Zoë")
                .containsEntry("ce_id", message.id().toString())
                .containsEntry("content-type", "application/json")
                .containsEntry("header.ce_id", "forged")
                .containsEntry("header.CE_Type", "forged")
                .containsEntry("header.ce_not-a-name", "forged")
                .containsEntry("header.Content-Type", "text/plain")
                .containsEntry("header.header.ce_id", "another");
        CloudEvent event =
                broker.read("headers", new CloudEventDeserializer()).get(0).value();
        assertThat(event.getId()).isEqualTo(message.id().toString());
        assertThat(event.getType()).isEqualTo("OrderConfirmed");
    }

    @Test
    void compressesAsTold() throws Exception {
        // Room for the payload only if it is compressed.
        broker.createTopic("compressed", 1, Map.of("max.message.bytes", "5000"));
        String payload = "\"" + "x".repeat(100_000) + "\"";
        try (KafkaSink sink = sink("compressed").compression("zstd").build()) {
            assertThat(send(sink, Messages.order("4711", payload))).isInstanceOf(Outcome.Accepted.class);
        }
        assertThat(broker.read("compressed").get(0).value())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo(payload);
    }

    @Test
    void losesNothingAndKeepsOrderPerKeyWhenTheBrokerRestartsUnderLoad() throws Exception {
        broker.createTopic("load", 3);
        int keys = 8;
        int messagesPerKey = 150;
        CountDownLatch warm = new CountDownLatch(keys * 20);
        CountDownLatch down = new CountDownLatch(1);
        ExecutorService lanes = Executors.newFixedThreadPool(keys);
        try (KafkaSink sink =
                sink("load").deliveryTimeout(Duration.ofSeconds(1)).build()) {
            List<List<Message>> sent = new ArrayList<>();
            List<Future<?>> running = new ArrayList<>();
            for (int key = 0; key < keys; key++) {
                List<Message> messages = Messages.sequence("key-" + key, messagesPerKey);
                sent.add(messages);
                running.add(lanes.submit(() -> {
                    deliver(sink, messages, warm, down);
                    return null;
                }));
            }
            assertThat(warm.await(30, TimeUnit.SECONDS)).isTrue();
            broker.stop();
            down.countDown();
            broker.restart();
            for (Future<?> lane : running) {
                lane.get(60, TimeUnit.SECONDS);
            }

            Map<String, Set<String>> arrived = new LinkedHashMap<>();
            for (ConsumerRecord<byte[], byte[]> record : broker.read("load")) {
                String key = new String(record.key(), StandardCharsets.UTF_8);
                arrived.computeIfAbsent(key, absent -> new LinkedHashSet<>())
                        .add(headers(record).get("ce_id"));
            }
            for (List<Message> messages : sent) {
                assertThat(arrived.get(messages.get(0).aggregateId()))
                        .containsExactlyElementsOf(
                                messages.stream().map(m -> m.id().toString()).toList());
            }
        } finally {
            lanes.shutdownNow();
        }
    }

    /** Sends one message after another, each until it is accepted, as a lane does for one key. */
    private static void deliver(KafkaSink sink, List<Message> messages, CountDownLatch warm, CountDownLatch down)
            throws Exception {
        for (int n = 0; n < messages.size(); n++) {
            if (n == messages.size() / 2) {
                // The second half begins when the broker is down, however fast the first half was.
                down.await();
            }
            Outcome outcome = send(sink, messages.get(n));
            while (!(outcome instanceof Outcome.Accepted)) {
                assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
                outcome = send(sink, messages.get(n));
            }
            warm.countDown();
        }
    }

    @Test
    void makesNoLaneWaitForTopicsThatAreNotThere() throws Exception {
        broker.createTopic("there.yes", 1);
        broker.createTopic("there.too", 1);
        Duration waitMax = Duration.ofSeconds(4);
        try (KafkaSink sink = sink("there.{aggregateType}").waitMax(waitMax).build()) {
            Message good = Message.about("yes", "1").event("X").payload("{}").build();
            assertThat(send(sink, good)).isInstanceOf(Outcome.Accepted.class);

            long start = System.nanoTime();
            List<CompletionStage<Outcome>> missing = IntStream.range(0, 20)
                    .mapToObj(n -> Message.about("no-" + n, "1")
                            .event("X")
                            .payload("{}")
                            .build())
                    .map(message -> sink.send(Messages.firstAttempt(message)))
                    .toList();
            // While missing topics are waited for, messages go through to topics old and new.
            assertThat(send(sink, good)).isInstanceOf(Outcome.Accepted.class);
            Message other = Message.about("too", "1").event("X").payload("{}").build();
            assertThat(send(sink, other)).isInstanceOf(Outcome.Accepted.class);
            assertThat(missing.get(0).toCompletableFuture()).isNotDone();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(waitMax);
            for (CompletionStage<Outcome> answer : missing) {
                assertThat(answer(answer)).isInstanceOf(Outcome.Retry.class);
            }
            // One wait for all of them, not one each.
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(waitMax.multipliedBy(3));
        }
    }

    @Test
    void makesNoLaneWaitForRoomInTheBuffer() throws Exception {
        broker.createTopic("full", 1);
        Duration waitMax = Duration.ofSeconds(2);
        try (KafkaSink sink = sink("full")
                .property("buffer.memory", "100000")
                .waitMax(waitMax)
                .deliveryTimeout(Duration.ofSeconds(4))
                .build()) {
            assertThat(send(sink, Messages.sample())).isInstanceOf(Outcome.Accepted.class);
            broker.stop();
            try {
                String payload = "\"" + "x".repeat(30_000) + "\"";
                long start = System.nanoTime();
                List<CompletableFuture<Outcome>> answers = IntStream.range(0, 50)
                        .mapToObj(n -> sink.send(Messages.firstAttempt(Messages.order("order-" + n, payload)))
                                .toCompletableFuture())
                        .toList();
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(waitMax);
                for (CompletableFuture<Outcome> answer : answers) {
                    assertThat(answer(answer)).isInstanceOf(Outcome.Unavailable.class);
                }
                // One wait for all of them, not one each.
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
            } finally {
                broker.restart();
            }
        }
    }

    @Test
    void answersForEverythingWhenItIsClosed() throws Exception {
        KafkaSink sink = KafkaSink.builder()
                .bootstrapServers("127.0.0.1:1")
                .topic("closed.{aggregateType}")
                .waitMax(Duration.ofSeconds(1))
                .build();
        List<CompletionStage<Outcome>> answers = IntStream.range(0, 20)
                .mapToObj(n ->
                        Message.about("type-" + n, "1").event("X").payload("{}").build())
                .map(message -> sink.send(Messages.firstAttempt(message)))
                .toList();
        sink.close();
        for (CompletionStage<Outcome> answer : answers) {
            assertThat(answer.toCompletableFuture()).isDone();
            assertThat(answer(answer)).isInstanceOf(Outcome.Unavailable.class);
        }
    }

    private static KafkaSink.Builder sink(String topic) {
        return KafkaSink.builder().bootstrapServers(broker.bootstrapServers()).topic(topic);
    }

    private static Outcome send(KafkaSink sink, Message message) throws Exception {
        return answer(sink.send(Messages.firstAttempt(message)));
    }

    private static Outcome answer(CompletionStage<Outcome> answer) throws Exception {
        return answer.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static Map<String, String> headers(ConsumerRecord<byte[], ?> record) {
        Map<String, String> headers = new LinkedHashMap<>();
        record.headers()
                .forEach(header -> assertThat(
                                headers.put(header.key(), new String(header.value(), StandardCharsets.UTF_8)))
                        .isNull());
        return headers;
    }
}
