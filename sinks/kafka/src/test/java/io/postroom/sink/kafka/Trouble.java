package io.postroom.sink.kafka;

import io.postroom.relay.Outcome;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.Messages;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Ways in which a message is not written without an error of Kafka's own, by the error class that the README has for them. */
interface Trouble {
    String NOBODY = "127.0.0.1:1";

    Map<String, Trouble> TABLE = Map.of(
            "kafka.no-topic",
            () -> sendMany(sink(NOBODY, "events.{tenantId}"), 1),
            "kafka.no-producer",
            () -> sendMany(sink("kafka.invalid:9092", "orders"), 1),
            "kafka.buffer-full",
            Trouble::fullBuffer,
            "kafka.busy",
            () -> sendMany(sink(NOBODY, "orders").waitMax(Duration.ofMinutes(1)), 10_001),
            "kafka.no-answer",
            Trouble::silent,
            "kafka.closed",
            Trouble::closed);

    /** Makes it, and returns what the sink answered. */
    Outcome make() throws Exception;

    private static KafkaSink.Builder sink(String servers, String topic) {
        return KafkaSink.builder()
                .bootstrapServers(servers)
                .topic(topic)
                .deliveryTimeout(Duration.ofSeconds(2))
                .waitMax(Duration.ofSeconds(1))
                .property("request.timeout.ms", "1000");
    }

    private static Outcome sendMany(KafkaSink.Builder builder, int count) throws Exception {
        try (KafkaSink sink = builder.build()) {
            return sendMany(sink, count, "{}");
        }
    }

    /** The answer to the last one. */
    private static Outcome sendMany(KafkaSink sink, int count, String payload) throws Exception {
        for (int n = 1; n < count; n++) {
            sink.send(Messages.firstAttempt(Messages.order("order-" + n, payload)));
        }
        CompletionStage<Outcome> last = sink.send(Messages.firstAttempt(Messages.order("last", payload)));
        return last.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static Outcome fullBuffer() throws Exception {
        try (KafkaBroker broker = KafkaBroker.start()) {
            broker.createTopic("full", 1);
            try (KafkaSink sink = sink(broker.bootstrapServers(), "full")
                    .property("buffer.memory", "100000")
                    // Else it forgets the topic when there is no broker left.
                    .property("metadata.recovery.strategy", "none")
                    .deliveryTimeout(Duration.ofSeconds(4))
                    .build()) {
                sendMany(sink, 1, "{}");
                broker.stop();
                return sendMany(sink, 20, "\"" + "x".repeat(30_000) + "\"");
            }
        }
    }

    private static Outcome silent() throws Exception {
        try (DeafProxy proxy = new DeafProxy(DeafProxy.INIT_PRODUCER_ID);
                KafkaBroker broker =
                        KafkaBroker.start(Map.of("advertised.listeners", "BROKER://127.0.0.1:" + proxy.port()))) {
            proxy.passTo(broker.port());
            broker.createTopic("silent", 1);
            return sendMany(sink("127.0.0.1:" + proxy.port(), "silent"), 5);
        }
    }

    private static Outcome closed() throws Exception {
        KafkaSink sink = sink(NOBODY, "orders").build();
        sink.close();
        return sendMany(sink, 1, "{}");
    }
}
