package io.postroom.source.kafka;

import static java.util.Map.entry;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** The consumer's settings: which of them carry the source's guarantees, which it chooses, and which are the user's. */
final class ConsumerSettings {
    private static final String BYTES = "records are read as the Kafka sink writes them";

    /** What a user may not set, and why or where else. */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            entry(
                    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                    "offsets are committed after the transaction, never before"),
            entry(
                    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                    "a group without offsets begins at the beginning, and offsets that are gone are said to be"),
            entry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "what was undone must not take effect"),
            entry(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "a misspelt topic would be made and waited for"),
            entry(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, BYTES),
            entry(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, BYTES),
            entry(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "use bootstrapServers"),
            entry(ConsumerConfig.GROUP_ID_CONFIG, "use group"),
            entry(ConsumerConfig.CLIENT_ID_CONFIG, "use node"));

    private ConsumerSettings() {}

    /** Puts the user's properties under the source's own; adds every problem to the list. */
    static Map<String, Object> merge(Map<String, String> own, Map<String, String> properties, List<String> problems) {
        Map<String, Object> settings = new HashMap<>();
        if (!"consumer".equalsIgnoreCase(properties.get(ConsumerConfig.GROUP_PROTOCOL_CONFIG))) {
            // Partitions stay where they are when a process comes or goes, but for those that change hands. Newer
            // brokers see to that.
            settings.put(
                    ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        }
        properties.forEach((name, value) -> {
            String why = REFUSED.get(name);
            if (why != null) {
                problems.add("property " + name + " cannot be set: " + why);
            } else if (!ConsumerConfig.configNames().contains(name)) {
                // The consumer would only warn: a misspelt security.protocol would talk in the clear.
                problems.add("property " + name + " is not a setting of Kafka's consumer");
            } else {
                settings.put(name, value);
            }
        });
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        settings.putAll(own);
        return settings;
    }

    /** Lets the consumer itself judge the settings, without connecting. */
    static void check(Map<String, Object> settings, List<String> problems) {
        try {
            new ConsumerConfig(settings);
        } catch (ConfigException e) {
            problems.add("the consumer refuses its settings: " + e.getMessage());
        }
    }
}
