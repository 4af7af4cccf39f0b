package io.postroom.sink.kafka;

import static java.util.Map.entry;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producer's settings: which of them carry the sink's guarantees, which it chooses, and which are the user's. */
final class ProducerSettings {
    /** Postroom's limit for a payload is another one, so this only bounds a request; the topic's own limit is the judge. */
    private static final int REQUEST_BYTES_MAX = 10 * 1024 * 1024;

    private static final Duration REQUEST_TIMEOUT_MAX = Duration.ofSeconds(30);

    private static final String ORDER = "messages of one key must stay in one partition";
    private static final String BYTES = "the key is the aggregate id and the value the payload, byte for byte";
    private static final String TRANSACTION = "the sink accepts each message by itself and uses no Kafka transaction";

    /** What a user may not set, and why or where else. */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            entry(ProducerConfig.ACKS_CONFIG, "the sink sets all, since with less an accepted message can be lost"),
            entry(
                    ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                    "the sink sets true, since without it a retry can change the order"),
            entry(
                    ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                    "the sink sets 5, the most with which Kafka keeps the order over retries"),
            entry(
                    ProducerConfig.RETRIES_CONFIG,
                    "the producer retries until the delivery timeout; use deliveryTimeout"),
            entry(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, BYTES),
            entry(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, BYTES),
            entry(ProducerConfig.PARTITIONER_CLASS_CONFIG, ORDER),
            entry(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, ORDER),
            entry(ProducerConfig.TRANSACTIONAL_ID_CONFIG, TRANSACTION),
            entry(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "use bootstrapServers"),
            entry(ProducerConfig.CLIENT_ID_CONFIG, "use node"),
            entry(ProducerConfig.COMPRESSION_TYPE_CONFIG, "use compression"),
            entry(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "use deliveryTimeout"),
            entry(
                    ProducerConfig.MAX_BLOCK_MS_CONFIG,
                    "the sink sets 0, since no lane may wait for Kafka; use waitMax"));

    private ProducerSettings() {}

    /** Puts the user's properties under the sink's own; adds every problem to the list. */
    static Map<String, Object> merge(Map<String, String> own, Map<String, String> properties, List<String> problems) {
        Map<String, Object> settings = new HashMap<>();
        long deliveryMillis = Long.parseLong(own.get(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG));
        // Nothing lingers: a lane's messages come in a burst and gather while requests are under way, so waiting for
        // more
        // would only delay the last of them. That is also why the sink has nothing to do in flush().
        settings.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        settings.put(
                ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
                Long.toString(Math.min(REQUEST_TIMEOUT_MAX.toMillis(), deliveryMillis)));
        settings.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(REQUEST_BYTES_MAX));
        properties.forEach((name, value) -> {
            String why = REFUSED.get(name);
            if (why != null) {
                problems.add("property " + name + " cannot be set: " + why);
            } else if (!ProducerConfig.configNames().contains(name)) {
                // The producer would only warn: a misspelt security.protocol would send in the clear.
                problems.add("property " + name + " is not a setting of Kafka's producer");
            } else {
                settings.put(name, value);
            }
        });
        settings.put(ProducerConfig.ACKS_CONFIG, "all");
        settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        settings.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "5");
        settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "0");
        settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        settings.putAll(own);
        return settings;
    }

    /** Lets the producer itself judge the settings, without connecting. */
    static void check(Map<String, Object> settings, List<String> problems) {
        try {
            ProducerConfig config = new ProducerConfig(settings);
            long delivery = config.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
            long linger = config.getLong(ProducerConfig.LINGER_MS_CONFIG);
            long request = config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
            if (delivery < linger + request) {
                problems.add("deliveryTimeout is " + delivery + " ms, less than linger.ms " + linger
                        + " and request.timeout.ms " + request + " together");
            }
        } catch (ConfigException e) {
            problems.add("the producer refuses its settings: " + e.getMessage());
        }
    }
}
