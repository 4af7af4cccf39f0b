package io.postroom.source.kafka;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.source.Move;
import io.postroom.source.Moves;
import io.postroom.source.Outlook;
import io.postroom.source.ServedBy;
import io.postroom.subscription.Act;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.jspecify.annotations.Nullable;

/**
 * Moves a subscription from relays to Kafka or back while messages flow: nothing is lost, and nothing takes effect twice.
 *
 * <p>To Kafka: (1) note where the topics end; (2) then where the journal ends: what lies in the topics before those offsets has positions
 * up to there, so everything later lies beyond them; (3) let the group begin at the offsets; (4) wait until the lanes have passed that
 * position and nothing before it waits; (5) switch. To PostgreSQL: (1) note how far the feed is: all up to there is with Kafka, but for what
 * waits in the feed; (2) then where the topics end; (3) wait until the group has applied all before; (4) switch, with the lanes at the
 * feed's position. What both sides bring is kept from taking effect twice by the inbox, and each side goes in the order of keys.
 *
 * <p>The cut is kept in the database before anything changes. Whoever dies in between changes nothing by it; asking again goes on with the
 * same cut. For one thread.
 */
public final class KafkaMove {
    private static final long LOOK_AGAIN_MILLIS = 200;

    /** How long a switch waits for the transactions of sources, which begin none meanwhile: the first time, and at most. */
    private static final Duration HOLD = Duration.ofSeconds(10);

    private static final Duration HOLD_MAX = Duration.ofSeconds(80);

    private static final Duration SWITCH_MIN = Duration.ofSeconds(30);

    private final Postroom postroom;
    private final Moves moves;
    private final List<String> topics;
    private final @Nullable String group;
    private final String feed;
    private final boolean acceptLoss;
    private final Duration hold;
    private final Map<String, Object> settings;

    private KafkaMove(Builder builder, Map<String, Object> settings) {
        this.postroom = builder.postroom;
        this.moves = postroom.moves();
        this.topics = builder.topics.stream().sorted().toList();
        this.group = builder.group;
        this.feed = builder.feed;
        this.acceptLoss = builder.acceptLoss;
        this.hold = builder.hold;
        this.settings = settings;
    }

    public static Builder builder(Postroom postroom) {
        return new Builder(postroom);
    }

    /** What {@link #run} would do now; changes nothing. */
    public MovePlan plan(String subscription, ServedBy target) {
        Way way = way(subscription, target);
        try (Brokers brokers = new Brokers(settings, way.topics())) {
            return plan(subscription, target, way, brokers);
        }
    }

    private MovePlan plan(String subscription, ServedBy target, Way way, Brokers brokers) {
        Outlook outlook = moves.outlook(subscription, way.feed());
        List<String> obstacles = new ArrayList<>(outlook.obstacles());
        obstacles.addAll(obstacles(subscription, target, way, brokers));
        return new MovePlan(
                subscription,
                target,
                way.feed(),
                way.group(),
                outlook,
                obstacles,
                moves.underWay(subscription).orElse(null),
                brokers.ends(),
                postroom.journal().refreshHead().position());
    }

    /**
     * Moves a subscription, or goes on with a move that has begun. Says what it waits for.
     *
     * @return whether something was moved; false if it is served so already
     * @throws PostroomException if something speaks against it, or it takes longer than the patience; a move that has begun stays, and
     *     asking again goes on with it
     */
    public boolean run(String subscription, ServedBy target, Act act, Duration patience, Consumer<String> progress) {
        long deadline = System.nanoTime() + patience.toNanos();
        Way way = way(subscription, target);
        try (Brokers brokers = new Brokers(settings, way.topics())) {
            Move move = moves.outlook(subscription, way.feed()).servedBy() == target
                    ? null
                    : begin(subscription, target, way, act, brokers).orElse(null);
            if (move == null) {
                return false;
            }
            progress.accept("the cut is position " + move.position() + ", offsets " + new TreeMap<>(move.offsets()));
            Readiness readiness = new Readiness(move, moves, brokers);
            Duration hold = this.hold;
            do {
                if (target == ServedBy.KAFKA) {
                    await(readiness::group, move, deadline, progress);
                }
                await(readiness::hindrance, move, deadline, progress);
                readiness.lost().ifPresent(lost -> tell(move, lost, progress));
                if (moves.switchOver(move, act, rest(deadline), hold)) {
                    return true;
                }
                // Perhaps something waits again; perhaps a transaction of a source takes longer than that.
                hold = hold.compareTo(HOLD_MAX) < 0 ? hold.multipliedBy(2) : HOLD_MAX;
            } while (System.nanoTime() - deadline < 0);
            throw waits(move, "transactions of its source to end");
        }
    }

    private void tell(Move move, String lost, Consumer<String> progress) {
        if (!acceptLoss) {
            throw new PostroomException(
                    "subscription.records-lost",
                    "could not move subscription " + move.subscription() + " to "
                            + move.target().word() + " yet: " + lost
                            + "; to go on nevertheless, say so with accept-loss");
        }
        progress.accept(lost);
    }

    private static Duration rest(long deadline) {
        Duration rest = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        return rest.compareTo(SWITCH_MIN) < 0 ? SWITCH_MIN : rest;
    }

    private static List<String> obstacles(String subscription, ServedBy target, Way way, Brokers brokers) {
        if (target == ServedBy.POSTGRES) {
            return List.of();
        }
        List<String> found = new ArrayList<>(brokers.obstacles());
        brokers.owner(way.group(), subscription)
                .ifPresent(owner -> found.add("group " + way.group() + " is that of " + owner
                        + ", and each would get a part of the messages only; give it a group of its own"));
        return found;
    }

    private Optional<Move> begin(String subscription, ServedBy target, Way way, Act act, Brokers brokers) {
        List<String> obstacles = obstacles(subscription, target, way, brokers);
        if (!obstacles.isEmpty()) {
            throw new PostroomException(
                    "subscription.cannot-move",
                    "could not move subscription " + subscription + ": " + String.join("; ", obstacles));
        }
        Moves.Request request = new Moves.Request(subscription, target, way.feed(), way.topics(), way.group(), act);
        if (target == ServedBy.KAFKA) {
            // This order: what is in the topics before the offsets was stamped before, up to the journal's end.
            Map<String, Long> ends = brokers.ends();
            return moves.note(request, postroom.journal().refreshHead().position(), ends);
        }
        // This order: what the feed has delivered by the time the position is noted lies before the offsets.
        return moves.note(request).map(move -> moves.aim(move, brokers.ends()));
    }

    private void await(Supplier<@Nullable String> hindrance, Move move, long deadline, Consumer<String> progress) {
        String said = "";
        for (String now = hindrance.get(); now != null; now = hindrance.get()) {
            if (System.nanoTime() - deadline > 0) {
                throw waits(move, now);
            }
            if (!now.equals(said)) {
                progress.accept("waiting for " + now);
                said = now;
            }
            try {
                TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new PostroomException(
                        "subscription.interrupted",
                        "could not move subscription " + move.subscription()
                                + ": interrupted; it goes on where it is when it is asked for again",
                        e);
            }
        }
    }

    private static PostroomException waits(Move move, String what) {
        return new PostroomException(
                "subscription.move-waits",
                "could not move subscription " + move.subscription() + " to "
                        + move.target().word() + " yet: it waits for " + what
                        + "; the move goes on where it is when it is asked for again, or ends with cancel");
    }

    /** By which feed, topics and group messages come from Kafka. */
    private record Way(String feed, List<String> topics, String group) {}

    /** Back it goes the way it came, unless another one is named; that is refused then. */
    private Way way(String subscription, ServedBy target) {
        Optional<Move> last = target == ServedBy.POSTGRES ? moves.lastToKafka(subscription) : Optional.empty();
        Way way = new Way(
                feed.isBlank() ? last.map(Move::feed).orElse("") : feed,
                topics.isEmpty() ? last.map(Move::topics).orElse(List.of()) : topics,
                group != null ? group : last.map(Move::group).orElse(subscription));
        if (way.feed().isEmpty() || way.topics().isEmpty()) {
            throw new PostroomException(
                    "subscription.unknown-way",
                    "could not move subscription " + subscription + " to " + target.word()
                            + ": it was not moved to Kafka before; name its feed and its topics");
        }
        return way;
    }

    /** Collects a move; {@link #build} reports every problem at once. */
    public static final class Builder {
        private final Postroom postroom;
        private final Map<String, String> properties = new LinkedHashMap<>();
        private String bootstrapServers = "";
        private List<String> topics = List.of();
        private @Nullable String group;
        private String feed = "";
        private boolean asItCame;
        private boolean acceptLoss;
        private Duration hold = HOLD;

        private Builder(Postroom postroom) {
            this.postroom = postroom;
        }

        /** Some brokers, as {@code host:port,host:port}. */
        public Builder bootstrapServers(String bootstrapServers) {
            this.bootstrapServers = bootstrapServers;
            return this;
        }

        /** All topics that the feed writes to and the source reads. */
        public Builder topics(List<String> topics) {
            this.topics = List.copyOf(topics);
            return this;
        }

        /** The consumer group of the source; the subscription's name unless given. */
        public Builder group(@Nullable String group) {
            this.group = group;
            return this;
        }

        /** The subscription that carries messages to these topics. */
        public Builder feed(String feed) {
            this.feed = feed;
            return this;
        }

        /** For a move to PostgreSQL: feed, topics and group need not be given, they are those with which it was moved to Kafka. */
        public Builder asItCame() {
            this.asItCame = true;
            return this;
        }

        /** Moves back even though Kafka has deleted what the source had not applied; it is refused else. */
        public Builder acceptLoss(boolean acceptLoss) {
            this.acceptLoss = acceptLoss;
            return this;
        }

        /** For tests: how long sources stand still at most when it is killed while it switches. */
        Builder hold(Duration hold) {
            this.hold = hold;
            return this;
        }

        /** Another property of Kafka's admin client, such as security. */
        public Builder property(String name, String value) {
            properties.put(name, value);
            return this;
        }

        public KafkaMove build() {
            List<String> problems = new ArrayList<>();
            if (bootstrapServers.isBlank()) {
                problems.add("bootstrapServers is empty; give host:port of some brokers");
            }
            if (topics.isEmpty() && !asItCame || topics.stream().anyMatch(String::isBlank)) {
                problems.add("there is no topic, or one without a name; name them with topics");
            }
            if (feed.isBlank() && !asItCame) {
                problems.add("feed is empty; name the subscription that carries messages to the topics");
            }
            Map<String, Object> settings = new HashMap<>();
            properties.forEach((name, value) -> {
                if (AdminClientConfig.configNames().contains(name)) {
                    settings.put(name, value);
                } else {
                    problems.add("property " + name + " is not a setting of Kafka's admin client");
                }
            });
            settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
            if (!problems.isEmpty()) {
                throw new IllegalArgumentException("could not build Kafka move: " + String.join("; ", problems));
            }
            return new KafkaMove(this, settings);
        }
    }
}
