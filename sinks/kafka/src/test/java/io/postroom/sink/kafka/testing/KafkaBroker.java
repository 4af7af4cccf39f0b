package io.postroom.sink.kafka.testing;

import io.postroom.testkit.FreePort;
import io.postroom.testkit.Scratch;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.jspecify.annotations.Nullable;

/**
 * A real Kafka broker in this JVM: one node that is broker and controller (KRaft), on random ports of 127.0.0.1.
 *
 * <p>What was acknowledged survives {@link #stop} and {@link #restart}, which keep ports and log directory; {@link #close}
 * deletes the directory. Topics are not created on first use unless {@code auto.create.topics.enable} says so. Methods are
 * for one thread at a time; clients may of course connect from any.
 */
public final class KafkaBroker implements AutoCloseable {
    private static final int NODE = 1;
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final Map<String, String> settings;
    private final Path directory;
    private final int port;
    private final int controllerPort;
    private @Nullable KafkaRaftServer server;

    private KafkaBroker(Map<String, String> settings) throws IOException {
        this.settings = Map.copyOf(settings);
        directory = Scratch.directory("postroom-kafka");
        port = FreePort.find();
        controllerPort = FreePort.find();
    }

    /** A running broker with small buffers, no automatic topics and no access control. */
    public static KafkaBroker start() {
        return start(Map.of());
    }

    /** A running broker; the given broker settings come on top of the usual ones. */
    public static KafkaBroker start(Map<String, String> settings) {
        try {
            KafkaBroker broker = new KafkaBroker(settings);
            broker.format();
            broker.boot();
            return broker;
        } catch (Exception e) {
            throw new IllegalStateException("could not start Kafka broker: " + e.getMessage(), e);
        }
    }

    /** For {@code bootstrap.servers}; the same for the whole life of this broker. */
    public String bootstrapServers() {
        return "127.0.0.1:" + port;
    }

    /** Where it listens, whatever it tells clients. */
    public int port() {
        return port;
    }

    /** Shuts the broker down and leaves its log and its ports for {@link #restart}. */
    public void stop() {
        if (server != null) {
            server.shutdown();
            server.awaitShutdown();
            server = null;
        }
    }

    /** Starts the stopped broker again, on the same port and log directory. */
    public void restart() {
        if (server != null) {
            throw new IllegalStateException("broker at " + bootstrapServers() + " is running; stop it first");
        }
        boot();
    }

    /** Creates a topic and returns when it can be written to; the settings are topic settings. */
    public void createTopic(String topic, int partitions, Map<String, String> topicSettings) {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1).configs(topicSettings)))
                    .all()
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("could not create topic " + topic + ": " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("could not create topic " + topic + ": interrupted", e);
        }
    }

    public void createTopic(String topic, int partitions) {
        createTopic(topic, partitions, Map.of());
    }

    /** A client for everything else; the caller closes it. */
    public Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrapServers()));
    }

    /** What the topic holds now, by partition and offset. */
    public List<ConsumerRecord<byte[], byte[]>> read(String topic) {
        return read(topic, new ByteArrayDeserializer());
    }

    /** What the topic holds now, by partition and offset, with values read by the given deserializer. */
    public <V> List<ConsumerRecord<byte[], V>> read(String topic, Deserializer<V> values) {
        // The last fetch finds nothing; it need not wait for more to come.
        Map<String, Object> consumer = Map.of("bootstrap.servers", bootstrapServers(), "fetch.max.wait.ms", 20);
        try (KafkaConsumer<byte[], V> reader = new KafkaConsumer<>(consumer, new ByteArrayDeserializer(), values)) {
            List<TopicPartition> partitions = reader.partitionsFor(topic, DEADLINE).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            reader.assign(partitions);
            reader.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = reader.endOffsets(partitions, DEADLINE);
            List<ConsumerRecord<byte[], V>> records = new ArrayList<>();
            long deadline = System.nanoTime() + DEADLINE.toNanos();
            while (!reached(reader, ends)) {
                if (System.nanoTime() > deadline) {
                    throw new IllegalStateException("could not read topic " + topic + ": got " + records.size()
                            + " records within " + DEADLINE.toSeconds() + " s, ends are " + ends);
                }
                reader.poll(Duration.ofMillis(100)).forEach(records::add);
            }
            records.sort(Comparator.comparingInt((ConsumerRecord<byte[], V> record) -> record.partition())
                    .thenComparingLong(ConsumerRecord::offset));
            return records;
        }
    }

    @Override
    public void close() {
        stop();
        try (Stream<Path> paths = Files.walk(directory)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("could not delete " + directory, e);
        }
    }

    private static boolean reached(KafkaConsumer<?, ?> reader, Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().allMatch(end -> reader.position(end.getKey(), DEADLINE) >= end.getValue());
    }

    private void format() throws Exception {
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setNodeId(NODE)
                .setClusterId(Uuid.randomUuid().toString())
                .addDirectory(directory.toString())
                .setMetadataLogDirectory(directory.toString())
                .setControllerListenerName("CONTROLLER")
                .run();
    }

    private void boot() {
        KafkaRaftServer starting = new KafkaRaftServer(new KafkaConfig(config()), Time.SYSTEM);
        starting.startup();
        server = starting;
    }

    private Map<String, String> config() {
        Map<String, String> config = new HashMap<>();
        config.put("process.roles", "broker,controller");
        config.put("node.id", Integer.toString(NODE));
        config.put("controller.quorum.voters", NODE + "@127.0.0.1:" + controllerPort);
        config.put("listeners", "BROKER://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort);
        config.put("listener.security.protocol.map", "BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT");
        config.put("controller.listener.names", "CONTROLLER");
        config.put("inter.broker.listener.name", "BROKER");
        config.put("log.dirs", directory.toString());
        config.put("auto.create.topics.enable", "false");
        config.put("offsets.topic.num.partitions", "1");
        config.put("offsets.topic.replication.factor", "1");
        config.put("transaction.state.log.num.partitions", "1");
        config.put("transaction.state.log.replication.factor", "1");
        config.put("transaction.state.log.min.isr", "1");
        config.put("group.initial.rebalance.delay.ms", "0");
        config.put("group.min.session.timeout.ms", "1000");
        // One test at a time does not need the threads and buffers of a production broker.
        config.put("num.network.threads", "1");
        config.put("num.io.threads", "2");
        config.put("num.recovery.threads.per.data.dir", "1");
        config.put("background.threads", "2");
        config.put("log.cleaner.dedupe.buffer.size", "4194304");
        config.putAll(settings);
        return config;
    }
}
