package io.postroom.sink.kafka;

import static java.util.Map.entry;

import io.postroom.message.Envelope;
import io.postroom.relay.Outcome;
import io.postroom.relay.Sink;
import io.postroom.retry.Fault;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * A sink that writes messages to Kafka, as CloudEvents in binary mode.
 *
 * <p>{@link Outcome.Accepted} means that all replicas in sync have the record. What this process loses when it dies was not
 * accepted; the relay sends it again with the same {@code ce_id}. Messages of one key go to one partition in the order in which
 * they are given. Many lanes may use one sink at once, and none of them waits for the broker.
 */
public final class KafkaSink implements Sink {
    private final TopicTemplate template;
    private final String source;
    private final Dispatch dispatch;

    private KafkaSink(TopicTemplate template, String source, Dispatch dispatch) {
        this.template = template;
        this.source = source;
        this.dispatch = dispatch;
    }

    public static Builder builder() {
        return new Builder();
    }

    @Override
    public CompletionStage<Outcome> send(Envelope envelope) {
        TopicTemplate.Destination destination = template.destination(envelope.message());
        if (destination instanceof TopicTemplate.Topic topic) {
            return dispatch.send(CloudEventRecord.of(envelope, topic.name(), source));
        }
        TopicTemplate.Nowhere nowhere = (TopicTemplate.Nowhere) destination;
        return CompletableFuture.completedFuture(new Outcome.Rejected(Fault.of(Verdict.NO_TOPIC, nowhere.reason())));
    }

    /** Does nothing: the producer holds no record back, and its own flush would block the lane until all is acknowledged. */
    @Override
    public void flush() {}

    /** Waits a few seconds for what is under way; what is not acknowledged by then is answered as unavailable. */
    @Override
    public void close() {
        dispatch.close();
    }

    @Override
    public String toString() {
        return "Kafka sink for " + dispatch;
    }

    /** Collects the settings of a sink; {@link #build} reports every problem at once and connects to nothing. */
    public static final class Builder {
        private static final Pattern ADDRESS =
                Pattern.compile("(?:[0-9a-zA-Z%._-]*://)?\\[?[0-9a-zA-Z%._:-]+]?:([0-9]{1,5})");
        private static final Pattern NODE = Pattern.compile("[a-zA-Z0-9._-]{1,100}");
        private static final List<String> COMPRESSIONS = List.of("none", "gzip", "snappy", "lz4", "zstd");

        private final Map<String, String> properties = new LinkedHashMap<>();
        private String bootstrapServers = "";
        private String topic = "";
        private String node = "local";
        private String source = "/postroom";
        private String compression = "none";
        private Duration deliveryTimeout = Duration.ofSeconds(120);
        private Duration waitMax = Duration.ofSeconds(2);

        private Builder() {}

        /** Some brokers of the cluster, as {@code host:port} with commas between. */
        public Builder bootstrapServers(String bootstrapServers) {
            this.bootstrapServers = bootstrapServers;
            return this;
        }

        /**
         * The topic, or a template for it with {@code {aggregateType}}, {@code {eventType}}, {@code {tenantId}} and
         * {@code {eventVersion}}. A message whose values Kafka does not allow in a topic name is rejected, never renamed.
         */
        public Builder topic(String template) {
            this.topic = template;
            return this;
        }

        /** The relay node, for the broker's logs and quotas: the client id is {@code postroom-relay-<node>}. */
        public Builder node(String node) {
            this.node = node;
            return this;
        }

        /** The CloudEvents source, a URI reference; {@code /postroom} unless given. */
        public Builder source(String source) {
            this.source = source;
            return this;
        }

        /** One of none, gzip, snappy, lz4 and zstd; none unless given. */
        public Builder compression(String compression) {
            this.compression = compression;
            return this;
        }

        /** How long the producer tries before a message is answered as unavailable; two minutes unless given. */
        public Builder deliveryTimeout(Duration deliveryTimeout) {
            this.deliveryTimeout = deliveryTimeout;
            return this;
        }

        /** How long a message waits for its topic to be known or for room in the buffer; two seconds unless given. */
        public Builder waitMax(Duration waitMax) {
            this.waitMax = waitMax;
            return this;
        }

        /** Another property of the producer: security, buffers. Those that carry the sink's guarantees are refused. */
        public Builder property(String name, String value) {
            properties.put(name, value);
            return this;
        }

        public KafkaSink build() {
            List<String> problems = new ArrayList<>();
            TopicTemplate template = TopicTemplate.parse(topic, problems);
            checkNames(problems);
            checkTime("deliveryTimeout", deliveryTimeout, problems);
            checkTime("waitMax", waitMax, problems);
            Map<String, String> own = Map.ofEntries(
                    entry(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers),
                    entry(ProducerConfig.CLIENT_ID_CONFIG, "postroom-relay-" + node),
                    entry(ProducerConfig.COMPRESSION_TYPE_CONFIG, compression),
                    entry(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Long.toString(deliveryTimeout.toMillis())));
            // The producer judges values that are good by themselves; otherwise it would repeat what is said above.
            boolean sound = problems.isEmpty();
            Map<String, Object> settings = ProducerSettings.merge(own, properties, problems);
            if (sound) {
                ProducerSettings.check(settings, problems);
            }
            if (!problems.isEmpty()) {
                throw new IllegalArgumentException("could not build Kafka sink: " + String.join("; ", problems));
            }
            return new KafkaSink(template, source, new Dispatch(settings, template, deliveryTimeout, waitMax));
        }

        private void checkNames(List<String> problems) {
            if (bootstrapServers.isBlank()) {
                problems.add("bootstrapServers is empty; give host:port of some brokers");
            } else {
                // The producer leaves out what it cannot read, and asks nobody for ever if nothing is left.
                Stream.of(bootstrapServers.split(",", -1))
                        .map(String::strip)
                        .filter(server -> !isAddress(server))
                        .forEach(server -> problems.add("bootstrapServers has '" + server
                                + "', which is not host:port with a port of 1 to 65535"));
            }
            if (!NODE.matcher(node).matches()) {
                problems.add(
                        "node is '" + node + "'; it is made of letters, digits, '.', '_' and '-', at most 100 of them");
            }
            if (!COMPRESSIONS.contains(compression)) {
                problems.add("compression is " + compression + "; it is one of " + String.join(", ", COMPRESSIONS));
            }
            try {
                if (new URI(source).toString().isEmpty()) {
                    problems.add("source is empty; give a URI reference such as /shop/orders");
                }
            } catch (URISyntaxException e) {
                problems.add("source is not a URI reference: " + e.getMessage());
            }
        }

        private static boolean isAddress(String server) {
            Matcher matcher = ADDRESS.matcher(server);
            if (!matcher.matches()) {
                return false;
            }
            int port = Integer.parseInt(matcher.group(1));
            return port >= 1 && port <= 65_535;
        }

        private static void checkTime(String name, Duration time, List<String> problems) {
            if (time.toMillis() < 1 || time.toMillis() > Integer.MAX_VALUE) {
                problems.add(name + " is " + time + "; it is at least 1 ms and at most " + Integer.MAX_VALUE + " ms");
            }
        }
    }
}
