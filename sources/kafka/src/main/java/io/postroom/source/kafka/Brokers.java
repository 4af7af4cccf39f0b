package io.postroom.source.kafka;

import io.postroom.PostroomException;
import io.postroom.inbox.Retention;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;

/** What a move, and a source that begins, ask of Kafka; offsets by {@code topic/partition}. For one thread. */
final class Brokers implements AutoCloseable {
    /** The code of an error: Kafka did not answer in time. */
    static final String NO_ANSWER = "kafka.no-answer";

    private static final String SIGNATURE = "postroom consumer ";
    private static final Duration ANSWER = Duration.ofSeconds(30);

    private final Admin admin;
    private final List<String> topics;

    Brokers(Map<String, Object> settings, List<String> topics) {
        this.admin = admin(settings);
        this.topics = topics;
    }

    private static Admin admin(Map<String, Object> settings) {
        try {
            return Admin.create(settings);
        } catch (KafkaException e) {
            // What it says of other settings may hold a password.
            boolean isAddress = e.getCause() instanceof ConfigException cause
                    && String.valueOf(cause.getMessage()).contains("bootstrap");
            throw new PostroomException(
                    "kafka.settings-invalid",
                    "could not ask Kafka: "
                            + (isAddress
                                    ? "bootstrap servers are '"
                                            + settings.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG)
                                            + "', none of which has an address; give host:port,host:port"
                                    : "its client does not take the value of a property; check each"),
                    e);
        }
    }

    /** The same for a consumer's settings, as far as they mean something to an admin client. */
    static Brokers of(Map<String, Object> consumerSettings, List<String> topics) {
        Map<String, Object> settings = new HashMap<>(consumerSettings);
        settings.keySet().retainAll(AdminClientConfig.configNames());
        settings.remove(AdminClientConfig.METRIC_REPORTER_CLASSES_CONFIG);
        return new Brokers(settings, topics);
    }

    /** Of each topic; empty if this login may not see them. */
    private Map<ConfigResource, Config> configs() {
        try {
            return answer(
                    "read the settings of topics " + topics,
                    admin.describeConfigs(topics.stream()
                                    .map(topic -> new ConfigResource(ConfigResource.Type.TOPIC, topic))
                                    .toList())
                            .all());
        } catch (PostroomException e) {
            if (e.getCause() instanceof AuthorizationException) {
                return Map.of();
            }
            throw e;
        }
    }

    /**
     * Refuses topics that keep messages for longer than the consumer's inbox remembers them: one that is read again after it was forgotten
     * takes effect twice. {@code doubt} is told of those that keep them for longer than any inbox can.
     */
    void requireRemembered(Retention retention, Consumer<String> doubt) {
        configs().forEach((topic, config) -> {
            String text = config.get(TopicConfig.RETENTION_MS_CONFIG).value();
            Duration kept = Duration.ofMillis(Long.parseLong(text));
            if (kept.isNegative() || kept.compareTo(Retention.KEPT_MAX) > 0) {
                doubt.accept("topic " + topic.name() + " keeps messages for "
                        + (kept.isNegative() ? "ever" : kept.toDays() + " days") + ", the inbox remembers them for "
                        + retention.kept()
                        + ": what is read again after that takes effect twice, if the group's offsets are put back"
                        + " and the database's are lost; give the topic a retention.ms");
            } else if (kept.compareTo(retention.kept()) > 0) {
                throw new PostroomException(
                        "kafka.retention-too-short",
                        "could not receive from topic " + topic.name() + ": it keeps messages for " + kept
                                + ", the inbox remembers them for " + retention.kept()
                                + ", and one that is read again after it was forgotten takes effect twice; give the source a retention of"
                                + " at least that, or the topic a shorter retention.ms");
            }
        });
    }

    /** Why the topics are no place for messages that must all arrive, each a sentence; what nobody may see is not asked for. */
    List<String> obstacles() {
        return configs().entrySet().stream()
                .filter(each -> String.valueOf(each.getValue()
                                .get(TopicConfig.CLEANUP_POLICY_CONFIG)
                                .value())
                        .contains(TopicConfig.CLEANUP_POLICY_COMPACT))
                .map(each -> "topic " + each.getKey().name()
                        + " is compacted: of each key Kafka keeps the newest message only, and the others are lost to whoever is behind;"
                        + " set its cleanup.policy to delete")
                .sorted()
                .toList();
    }

    /** Refuses topics that are not there, or are no place for messages. Returns which ones they are: names can be used again. */
    Map<String, UUID> requireTopics() {
        Map<String, UUID> ids = new HashMap<>();
        answer("describe topics " + topics, admin.describeTopics(topics).allTopicNames())
                .forEach((topic, description) -> ids.put(
                        topic,
                        new UUID(
                                description.topicId().getMostSignificantBits(),
                                description.topicId().getLeastSignificantBits())));
        List<String> obstacles = obstacles();
        if (!obstacles.isEmpty()) {
            throw new PostroomException("kafka.topic-unfit", String.join("; ", obstacles));
        }
        return ids;
    }

    /** Where the topics end: behind everything that Kafka has acknowledged so far. */
    Map<String, Long> ends() {
        return offsets(OffsetSpec.latest());
    }

    Map<String, Long> beginnings() {
        return offsets(OffsetSpec.earliest());
    }

    private Map<String, Long> offsets(OffsetSpec spec) {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        Map<String, TopicDescription> described =
                answer("describe topics " + topics, admin.describeTopics(topics).allTopicNames());
        described.forEach((topic, description) -> description
                .partitions()
                .forEach(partition -> wanted.put(new TopicPartition(topic, partition.partition()), spec)));
        Map<String, Long> offsets = new TreeMap<>();
        answer("read the offsets of topics " + topics, admin.listOffsets(wanted).all())
                .forEach((partition, found) -> offsets.put(Partitions.name(partition), found.offset()));
        return offsets;
    }

    /** What is told to Kafka with each offset: whose it is. */
    static String signature(String consumer) {
        return SIGNATURE + consumer;
    }

    /** Whether an offset is that of another consumer. */
    static boolean isOther(OffsetAndMetadata offset, String consumer) {
        return offset.metadata().startsWith(SIGNATURE) && !offset.metadata().equals(signature(consumer));
    }

    /** The other consumer whose group it is, in words. */
    Optional<String> owner(String group, String consumer) {
        return answer(
                        "read the offsets of group " + group,
                        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
                .values()
                .stream()
                .filter(offset -> offset != null && isOther(offset, consumer))
                .map(OffsetAndMetadata::metadata)
                .findFirst();
    }

    /** Lets a group that has no members begin at offsets. */
    void begin(String group, String consumer, Map<String, Long> offsets) {
        Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
        offsets.forEach((partition, offset) ->
                all.put(Partitions.of(partition), new OffsetAndMetadata(offset, signature(consumer))));
        answer(
                "set the offsets of group " + group,
                admin.alterConsumerGroupOffsets(group, all).all());
    }

    private static <T> T answer(String attempt, KafkaFuture<T> future) {
        try {
            return future.get(ANSWER.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new PostroomException(
                    "kafka.refused",
                    "could not " + attempt + ": " + cause.getClass().getSimpleName() + ": " + cause.getMessage()
                            + "; check the names, and what this login may do with them",
                    cause);
        } catch (TimeoutException e) {
            throw new PostroomException(
                    NO_ANSWER,
                    "could not " + attempt + ": no answer within " + ANSWER.toSeconds() + " s; check the brokers",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PostroomException("kafka.interrupted", "could not " + attempt + ": interrupted", e);
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }
}
