package io.postroom.sink.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.message.Message;
import io.postroom.relay.Outcome;
import io.postroom.sink.kafka.testing.KafkaBroker;
import io.postroom.testkit.Messages;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rows of the README's table that a real broker can produce. */
class KafkaOutcomeTest {
    private static KafkaBroker broker;

    @BeforeAll
    static void startBroker() {
        broker = KafkaBroker.start(Map.of(
                "authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "allow.everyone.if.no.acl.found", "true"));
    }

    @AfterAll
    static void stopBroker() {
        broker.close();
    }

    @Test
    void rejectsARecordOverTheLimitOfTheTopic() throws Exception {
        broker.createTopic("small", 1, Map.of("max.message.bytes", "2000"));
        try (KafkaSink sink = sink("small").build()) {
            Outcome outcome = send(sink, Messages.order("4711", "\"" + "x".repeat(2000) + "\""));
            assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
            assertThat(outcome.toString()).contains("RecordTooLargeException");
            assertThat(send(sink, Messages.order("4711"))).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void rejectsARecordOverTheLimitOfARequest() throws Exception {
        broker.createTopic("request", 1);
        try (KafkaSink sink =
                sink("request").property("max.request.size", "2000").build()) {
            Outcome outcome = send(sink, Messages.order("4711", "\"" + "x".repeat(2000) + "\""));
            assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
            assertThat(outcome.toString()).contains("RecordTooLargeException").contains("max.request.size");
            assertThat(send(sink, Messages.order("4711"))).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void rejectsATopicThatKafkaKeepsForItself() throws Exception {
        broker.createTopic("__consumer_offsets", 1);
        try (KafkaSink sink = sink("{aggregateType}").build()) {
            Message message = Message.about("__consumer_offsets", "1")
                    .event("X")
                    .payload("{}")
                    .build();
            Outcome outcome = send(sink, message);
            assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
            assertThat(outcome.toString()).contains("InvalidTopicException");
        }
    }

    @Test
    void rejectsAMessageWithoutATopic() throws Exception {
        try (KafkaSink sink = sink("events.{aggregateType}").build()) {
            Message message =
                    Message.about("größe", "1").event("X").payload("{}").build();
            Outcome outcome = send(sink, message);
            assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
            assertThat(outcome.toString())
                    .contains("could not route message " + message.id())
                    .contains("U+00F6");
        }
    }

    @Test
    void rejectsARecordThatTheBrokerFindsInvalid() throws Exception {
        broker.createTopic("recent", 1, Map.of("message.timestamp.before.max.ms", "3600000"));
        try (KafkaSink sink = sink("recent")
                .property("interceptor.classes", Antedate.class.getName())
                .build()) {
            Outcome outcome = send(sink, Messages.sample());
            assertThat(outcome).isInstanceOf(Outcome.Rejected.class);
            assertThat(outcome.toString()).contains("InvalidTimestampException");
        }
    }

    @Test
    void waitsForAMissingTopicIfThereIsNoOther() throws Exception {
        try (KafkaSink sink = sink("missing").build()) {
            Outcome outcome = send(sink, Messages.sample());
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            assertThat(outcome.toString())
                    .contains("UnknownTopicOrPartitionException")
                    .contains("create the topic");
            broker.createTopic("missing", 1);
            assertThat(send(sink, Messages.sample())).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void retriesAMissingTopicIfThereAreOthers() throws Exception {
        try (KafkaSink sink = sink("missing.{aggregateType}").build()) {
            Outcome outcome = send(sink, Messages.sample());
            assertThat(outcome).isInstanceOf(Outcome.Retry.class);
            assertThat(outcome.toString())
                    .contains("UnknownTopicOrPartitionException")
                    .contains("create the topic");
            broker.createTopic("missing.order", 1);
            assertThat(send(sink, Messages.sample())).isInstanceOf(Outcome.Accepted.class);
        }
    }

    @Test
    void waitsOrRetriesUntilItMayWriteToTheTopic() throws Exception {
        broker.createTopic("secret.order", 1);
        List<AclBinding> rules = allBut(AclOperation.WRITE, ResourceType.TOPIC, "secret.order");
        try (KafkaSink single = sink("secret.order").build();
                KafkaSink many = sink("secret.{aggregateType}").build();
                Admin admin = broker.admin()) {
            admin.createAcls(rules).all().get();
            Outcome refused = sendUntil(Outcome.Unavailable.class, single);
            assertThat(refused.toString()).contains("TopicAuthorizationException");
            sendUntil(Outcome.Retry.class, many);

            admin.deleteAcls(filters(rules)).all().get();
            sendUntil(Outcome.Accepted.class, single);
            sendUntil(Outcome.Accepted.class, many);
        }
    }

    @Test
    void replacesAProducerThatMayNotSendAndGoesOnWhenItMay() throws Exception {
        broker.createTopic("closed-shop", 1);
        List<AclBinding> rules = new ArrayList<>(allBut(AclOperation.WRITE, ResourceType.TOPIC, "*"));
        rules.addAll(allBut(AclOperation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, "kafka-cluster"));
        try (KafkaSink first = sink("closed-shop").build();
                KafkaSink sink = sink("closed-shop").build();
                Admin admin = broker.admin()) {
            admin.createAcls(rules).all().get();
            sendUntil(Outcome.Unavailable.class, first);
            // A producer that is new by now gets no id from the broker, and stays without one.
            Outcome refused = send(sink, Messages.sample());
            assertThat(refused).isInstanceOf(Outcome.Unavailable.class);
            assertThat(refused.toString())
                    .contains("ClusterAuthorizationException")
                    .contains("the producer is replaced");

            admin.deleteAcls(filters(rules)).all().get();
            sendUntil(Outcome.Accepted.class, sink);
            assertThat(broker.read("closed-shop")).isNotEmpty();
        }
    }

    @Test
    void waitsForANameThatCannotBeResolved() throws Exception {
        try (KafkaSink sink = KafkaSink.builder()
                .bootstrapServers("kafka.invalid:9092")
                .topic("orders")
                .build()) {
            Outcome outcome = send(sink, Messages.sample());
            assertThat(outcome).isInstanceOf(Outcome.Unavailable.class);
            assertThat(outcome.toString()).contains("kafka.invalid:9092");
        }
    }

    /** Everybody may do everything with the resource but this one thing. */
    private static List<AclBinding> allBut(AclOperation operation, ResourceType type, String name) {
        ResourcePattern pattern = new ResourcePattern(type, name, PatternType.LITERAL);
        return List.of(
                new AclBinding(
                        pattern, new AccessControlEntry("User:*", "*", AclOperation.ALL, AclPermissionType.ALLOW)),
                new AclBinding(pattern, new AccessControlEntry("User:*", "*", operation, AclPermissionType.DENY)));
    }

    private static List<AclBindingFilter> filters(List<AclBinding> rules) {
        return rules.stream().map(AclBinding::toFilter).toList();
    }

    /** Sends until the answer is of the given kind: rules reach the broker a little after the admin's answer. */
    private static Outcome sendUntil(Class<? extends Outcome> kind, KafkaSink sink) throws Exception {
        long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        Outcome outcome = send(sink, Messages.sample());
        while (!kind.isInstance(outcome)) {
            assertThat(System.nanoTime()).as("still %s", outcome).isLessThan(deadline);
            outcome = send(sink, Messages.sample());
        }
        return outcome;
    }

    private static KafkaSink.Builder sink(String topic) {
        return KafkaSink.builder()
                .bootstrapServers(broker.bootstrapServers())
                .topic(topic)
                .deliveryTimeout(Duration.ofSeconds(5))
                .waitMax(Duration.ofSeconds(1));
    }

    private static Outcome send(KafkaSink sink, Message message) throws Exception {
        return sink.send(Messages.firstAttempt(message)).toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    /** Gives each record a timestamp of long ago, which the sink itself never does. */
    public static final class Antedate implements ProducerInterceptor<byte[], byte[]> {

        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            return new ProducerRecord<>(record.topic(), null, 0L, record.key(), record.value(), record.headers());
        }

        @Override
        public void onAcknowledgement(@Nullable RecordMetadata metadata, @Nullable Exception exception) {}

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> settings) {}
    }
}
