package io.postroom.source.kafka;

import static java.util.Map.entry;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.inbox.Inbox;
import io.postroom.inbox.Retention;
import io.postroom.relay.Projection;
import io.postroom.retry.Backoff;
import io.postroom.retry.RetryPolicy;
import io.postroom.source.NotServedException;
import io.postroom.source.Reception;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a projection apply what comes from Kafka topics: each message once, in the order of its key, whatever dies.
 *
 * <p>{@link #start} runs it on threads of its own until {@link #close}, which finishes what is open and leaves the group. Any number of
 * processes may run one for the same consumer; Kafka shares the partitions among them. How far it is
 * is kept in the transactions of the effects, and goes back with them when the database does; the group is told afterwards. It works while the subscription of its name
 * is served by Kafka, or if there is none; else it waits, outside of the group.
 */
public final class KafkaSource implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaSource.class);
    /** How often to look whether it is served now, and for dead letters that were redriven. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private static final Backoff TROUBLE = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(30));

    private final Reception reception;
    private final RecordReader reader;
    private final Inbox inbox;
    private final Retention retention;
    private final List<String> topics;
    private final String group;
    private final Map<String, Object> settings;
    private final Duration grace;
    /** What was said already, by the thread that polls. */
    private final Set<String> doubts = new HashSet<>();

    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile @Nullable GroupSession session;
    private @Nullable Thread poller;
    private @Nullable Thread redriver;

    private KafkaSource(Builder builder, Reception reception, RecordReader reader, Map<String, Object> settings) {
        this.reception = reception;
        this.reader = reader;
        this.inbox = builder.postroom.inbox();
        this.retention = builder.retention;
        this.topics = List.copyOf(builder.topics);
        this.group = builder.group == null ? builder.consumer : builder.group;
        this.settings = settings;
        this.grace = builder.grace;
    }

    public static Builder builder(Postroom postroom) {
        return new Builder(postroom);
    }

    /** Begins to receive, on threads of its own. Throws if the database cannot be used as it is; later trouble is retried. */
    public synchronized void start() {
        if (poller != null) {
            throw new IllegalStateException("source " + reception.consumer() + " was started already");
        }
        inbox.declare(reception.consumer(), retention);
        reception.begin();
        poller = thread("poll", this::poll);
        redriver = thread("redrive", this::redrive);
    }

    private Thread thread(String what, Runnable work) {
        Thread thread = new Thread(work, "postroom-" + what + "-" + reception.consumer());
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Whether it is in the group now. */
    public boolean isReceiving() {
        return session != null;
    }

    /** Ends when the source is closed. Whatever happens to a session, another one is begun. */
    private void poll() {
        int failures = 0;
        while (!isClosing(Duration.ZERO)) {
            try {
                if (reception.isServed(group, topics)) {
                    serve();
                }
                failures = 0;
                isClosing(LOOK);
            } catch (KafkaException | PostroomException e) {
                failures++;
                Duration wait = TROUBLE.after(failures);
                LOG.warn(
                        "source {} cannot receive: {}: {}; it is tried again in {} ms",
                        reception.consumer(),
                        e.getClass().getSimpleName(),
                        e.getMessage(),
                        wait.toMillis());
                isClosing(wait);
            } catch (RuntimeException | Error e) {
                LOG.error("source {} failed in a way that nobody foresaw; it begins anew", reception.consumer(), e);
                isClosing(LOOK);
            }
        }
    }

    private void serve() {
        Map<String, UUID> ids;
        try (Brokers brokers = Brokers.of(settings, topics)) {
            ids = brokers.requireTopics();
            brokers.requireRemembered(retention, this::doubt);
        }
        try (GroupSession begun = new GroupSession(settings, ids, reception, reader, grace)) {
            session = begun;
            LOG.info("source {} receives from {}", reception.consumer(), topics);
            if (closing.getCount() > 0) {
                begun.run();
            }
        } finally {
            session = null;
        }
    }

    /** Said once: nothing can be done about it here. */
    private void doubt(String about) {
        if (doubts.add(about)) {
            LOG.warn("source {}: {}", reception.consumer(), about);
        }
    }

    /** Ends when the source is closed; trouble makes it look again later. */
    private void redrive() {
        boolean troubled = false;
        while (!isClosing(LOOK)) {
            try {
                while (reception.redrive()) {
                    if (isClosing(Duration.ZERO)) {
                        return;
                    }
                }
                GroupSession open = session;
                if (open != null) {
                    open.requireNotBack();
                }
                troubled = false;
            } catch (NotServedException e) {
                // Nobody redrives here until it is served. A session that is brought nothing would not find out.
                stop();
            } catch (RuntimeException | Error e) {
                if (!troubled) {
                    troubled = true;
                    LOG.warn(
                            "source {} cannot redrive dead letters: {}; it is tried again",
                            reception.consumer(),
                            e.toString());
                }
            }
        }
    }

    private boolean isClosing(Duration wait) {
        try {
            return closing.await(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Finishes what is open, tells Kafka, leaves the group. */
    @Override
    public synchronized void close() {
        closing.countDown();
        stop();
        join(poller);
        join(redriver);
    }

    private void stop() {
        GroupSession open = session;
        if (open != null) {
            open.stop();
        }
    }

    private void join(@Nullable Thread thread) {
        try {
            if (thread != null) {
                thread.join(grace.multipliedBy(2).plusSeconds(10).toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Collects a source; {@link #build} reports every problem at once. */
    public static final class Builder {
        private static final Pattern NODE = Pattern.compile("[A-Za-z0-9._-]{1,100}");

        private final Postroom postroom;
        private final Map<String, String> properties = new LinkedHashMap<>();
        private List<String> topics = List.of();
        private String bootstrapServers = "";
        private String consumer = "";
        private @Nullable String group;
        private String node = "local";
        private RetryPolicy retry = RetryPolicy.STANDARD;
        private Retention retention = Retention.USUAL;
        private Duration deadline = Duration.ofSeconds(60);
        private Duration grace = Duration.ofSeconds(10);
        private int batchMax = 500;
        private int transactionsMax = 8;

        private Builder(Postroom postroom) {
            this.postroom = postroom;
        }

        /** Some brokers, as {@code host:port,host:port}. */
        public Builder bootstrapServers(String bootstrapServers) {
            this.bootstrapServers = bootstrapServers;
            return this;
        }

        public Builder topics(String... topics) {
            this.topics = List.of(topics);
            return this;
        }

        /** Whose inbox it is; the name of the subscription, if there is one that moves between PostgreSQL and Kafka. */
        public Builder consumer(String consumer) {
            this.consumer = consumer;
            return this;
        }

        /** The consumer group; the consumer's name unless given. */
        public Builder group(String group) {
            this.group = group;
            return this;
        }

        /** How operators call this process; a host or pod name is a good one. */
        public Builder node(String node) {
            this.node = node;
            return this;
        }

        public Builder retry(RetryPolicy retry) {
            this.retry = retry;
            return this;
        }

        /**
         * How long messages are remembered, and how long Kafka may bring them again: as long as it keeps the topic. A topic that keeps them
         * for longer than they are remembered is not received from, which is logged; one that keeps them for ever is, with a warning.
         */
        public Builder retention(Retention retention) {
            this.retention = retention;
            return this;
        }

        /** How long the projection may take over a batch before it is interrupted, and each statement of it; 60 s unless given. */
        public Builder deadline(Duration deadline) {
            this.deadline = deadline;
            return this;
        }

        /** How long a partition that is taken away is waited for; 10 s unless given. */
        public Builder grace(Duration grace) {
            this.grace = grace;
            return this;
        }

        /** How many messages one transaction takes on; 500 unless given. */
        public Builder batchMax(int messages) {
            this.batchMax = messages;
            return this;
        }

        /** How many transactions are open at once in this process; 8 unless given. */
        public Builder transactionsMax(int transactions) {
            this.transactionsMax = transactions;
            return this;
        }

        /** Another property of the consumer: security, fetch sizes. Those that carry the source's guarantees are refused. */
        public Builder property(String name, String value) {
            properties.put(name, value);
            return this;
        }

        /** The projection as relays get it, but not behind an inbox: it is behind this source's. */
        public KafkaSource build(Projection projection) {
            List<String> problems = new ArrayList<>();
            if (bootstrapServers.isBlank()) {
                problems.add("bootstrapServers is empty; give host:port of some brokers");
            }
            if (topics.isEmpty() || topics.stream().anyMatch(String::isBlank)) {
                problems.add("there is no topic, or one without a name; name them with topics");
            }
            if (!NODE.matcher(node).matches()) {
                problems.add(
                        "node is '" + node + "'; it is made of letters, digits, '.', '_' and '-', at most 100 of them");
            }
            Duration graceMax = Duration.ofMillis(pollIntervalMillis() / 3);
            if (grace.isNegative() || grace.compareTo(graceMax) > 0) {
                problems.add("grace is " + grace + ", the range is 0 to " + graceMax
                        + ", a third of max.poll.interval.ms: a member that takes longer loses its partitions");
            }
            Map<String, Object> settings = ConsumerSettings.merge(
                    Map.ofEntries(
                            entry(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers),
                            entry(ConsumerConfig.GROUP_ID_CONFIG, group == null ? consumer : group),
                            entry(ConsumerConfig.CLIENT_ID_CONFIG, "postroom-source-" + node)),
                    properties,
                    problems);
            if (problems.isEmpty()) {
                ConsumerSettings.check(settings, problems);
            }
            if (!problems.isEmpty()) {
                throw new IllegalArgumentException("could not build Kafka source: " + String.join("; ", problems));
            }
            RecordReader reader = new RecordReader(consumer);
            Reception reception = postroom.reception()
                    .consumer(consumer)
                    .node(node)
                    .retry(retry)
                    .deadline(deadline)
                    .batchMax(batchMax)
                    .transactionsMax(transactionsMax)
                    .reader(reader::again)
                    .build(projection);
            return new KafkaSource(this, reception, reader, settings);
        }

        private long pollIntervalMillis() {
            try {
                return Long.parseLong(properties.getOrDefault(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, "300000"));
            } catch (NumberFormatException e) {
                // The consumer itself says so.
                return 300_000;
            }
        }
    }
}
