package io.postroom.relay;

import io.postroom.PostroomException;
import io.postroom.journal.Journal;
import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import io.postroom.retry.Backoff;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries messages to the sinks and handlers of some subscriptions. Any number of relays may run at once, in one process or in
 * many; they share the lanes.
 *
 * <p>{@link #start} runs it on threads of its own until {@link #close}, which finishes what is on its way, settles it and gives
 * the lanes back. {@link #runOnce} does one round on the caller's thread instead, for tests; a relay may be stepped first and
 * started then. If the process dies, its lanes are taken over when their leases run out, and what was not settled is delivered
 * again.
 */
public final class Relay implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Relay.class);

    /** A notification takes a lock that all of the cluster's notifiers share. */
    private static final long NOTIFY_INTERVAL_NANOS = 20_000_000;

    private final UUID id = UUID.randomUUID();
    private final Map<String, Target> targets;
    private final Database database;
    private final Journal journal;
    private final RelayTable table;
    private final RelaySettings settings;
    private final List<Roster> rosters;
    private final Lanes lanes;
    private final Stamper stamper;
    private final Listener listener;
    /** Only the stamper's thread uses it. */
    private long notifiedNanos = System.nanoTime();

    private Runnable forget = () -> {};
    private boolean subscribed;
    private boolean started;
    private boolean closed;

    private Relay(Builder builder, RelaySettings settings) {
        this.targets = new LinkedHashMap<>();
        builder.deliveries.forEach((subscription, receiver) -> targets.put(
                subscription.name(), new Target(subscription, receiver, circuit(subscription.name(), settings))));
        targets.keySet().forEach(builder.telemetry::serves);
        this.database = builder.database;
        this.journal = builder.journal;
        this.table = new RelayTable(database.schema());
        this.settings = settings;
        this.rosters = List.copyOf(builder.rosters);
        Lane.Surroundings surroundings = new Lane.Surroundings(
                id,
                database,
                journal,
                table,
                new DeliveryTable(database.schema()),
                settings,
                builder.telemetry,
                new Suspects());
        Guests guests = new Guests(targets, rosters, surroundings, name -> circuit(name, settings));
        this.lanes = new Lanes(id, targets, guests, surroundings);
        this.stamper = new Stamper(journal, settings, this::moved);
        this.listener = new Listener(database, settings, this::heard);
    }

    private Circuit circuit(String subscription, RelaySettings settings) {
        return new Circuit(subscription, settings.backoff(), this::circuitChanged);
    }

    /** What a subscription is delivered to. */
    record Target(Subscription subscription, Receiver receiver, Circuit circuit) {}

    /** A sink, or a projection: one of them. */
    record Receiver(@Nullable Sink sink, @Nullable Projection projection) {
        String word() {
            return projection == null ? "sink" : projection instanceof InboxProjection ? "inbox" : "projection";
        }

        /** Whose inbox the projection is behind, if it is behind one. */
        @Nullable
        String consumer() {
            return projection instanceof InboxProjection inbox ? inbox.consumer() : null;
        }
    }

    /** Begins to deliver, on threads of its own. Throws if the database cannot be used as it is; later trouble is retried. */
    public synchronized void start() {
        if (started || closed) {
            throw new IllegalStateException("relay " + settings.name() + " was started or closed already");
        }
        subscribe();
        rosters.forEach(Roster::open);
        started = true;
        // First: there may be much to stamp, and lanes take their time until they are taken.
        stamper.start();
        try {
            lanes.start();
        } catch (RuntimeException e) {
            // What was taken already is given back: whoever starts again begins from nothing.
            stamper.stop();
            lanes.stop();
            closed = true;
            throw e;
        }
        listener.start();
        forget = journal.onNudge(stamper::expect);
        LOG.info("relay {} ({}) started, serving {}", settings.name(), id, lanes.names());
    }

    /**
     * Takes the lanes it can get, stamps, delivers everything that is due and settles it, on the caller's thread.
     *
     * @return how many messages were accepted
     */
    public synchronized long runOnce() {
        if (started) {
            throw new IllegalStateException("relay " + settings.name() + " runs on its own threads");
        }
        subscribe();
        rosters.forEach(Roster::open);
        lanes.balance();
        journal.stampAll();
        return lanes.deliverAll();
    }

    /** Says that something was committed just now in this process: the relay looks at once instead of at its next poll. */
    public void nudge() {
        stamper.nudge();
    }

    /** How far each of this relay's subscriptions is behind. */
    public List<Lag> lag() {
        return database.run(tx -> table.lag(tx, lanes.names()));
    }

    /** The relay's own name for itself in the database. */
    public UUID id() {
        return id;
    }

    /** Finishes what is on its way, settles, gives its lanes back. Sinks are left to those who made them. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        forget.run();
        listener.stop();
        stamper.stop();
        lanes.stop();
        try {
            database.run(tx -> {
                table.withdraw(tx, id);
                table.notifyOthers(tx, Listener.channel(database), Listener.LANES);
                return true;
            });
        } catch (DatabaseException e) {
            LOG.warn("relay {} could not say goodbye: {}", settings.name(), e.getMessage());
        }
        // It hears the goodbye, too.
        listener.join();
        LOG.info("relay {} ({}) stopped", settings.name(), id);
    }

    /** A destination went away or came back: lanes that wait for it go on, and operators see it. */
    private void circuitChanged() {
        lanes.wake();
        lanes.balanceSoon();
    }

    private void heard(String what) {
        if (what.equals(Listener.DELIVERIES)) {
            lanes.look();
        } else if (what.equals(Listener.LANES)) {
            lanes.look();
            lanes.balanceSoon();
        } else {
            stamper.nudge();
        }
    }

    /** The journal has moved: wake this relay's lanes, and tell other relays, but not too often. */
    private void moved(boolean byUs) {
        lanes.wake();
        long now = System.nanoTime();
        if (byUs && lanes.hasOthers() && now - notifiedNanos > NOTIFY_INTERVAL_NANOS) {
            notifiedNanos = now;
            database.run(tx -> {
                table.notifyOthers(tx, Listener.channel(database), Listener.JOURNAL);
                return true;
            });
        }
    }

    private void subscribe() {
        if (subscribed) {
            return;
        }
        Subscriber subscriber = new Subscriber(database.schema(), journal);
        for (Target target : targets.values()) {
            long position = subscriber.beginning(target.subscription());
            boolean made = database.transactPromptly(
                    tx -> subscriber.subscribe(tx, target.subscription(), target.receiver(), position));
            if (made) {
                subscriber.warnIfMessagesAreGone(target.subscription(), position);
            }
        }
        subscribed = true;
    }

    /** Collects a relay; {@link #build} reports every problem at once. */
    public static final class Builder {
        private final Database database;
        private final Journal journal;
        private final Telemetry telemetry;
        private final Map<Subscription, Receiver> deliveries = new LinkedHashMap<>();
        private final Set<String> names = new HashSet<>();
        private final List<Roster> rosters = new ArrayList<>();
        private final List<String> problems = new ArrayList<>();
        private String name = "relay";
        private Duration lease = Duration.ofSeconds(15);
        private Duration settleInterval = Duration.ofMillis(200);
        private Duration pollMin = Duration.ofMillis(2);
        private Duration pollMax = Duration.ofMillis(200);
        private Duration stopGrace = Duration.ofSeconds(10);
        private Duration probeFirst = Duration.ofMillis(100);
        private Duration probeLongest = Duration.ofSeconds(30);
        private int batchMessages = 1_000;
        private long batchBytes = 1_048_576;

        public Builder(Database database, Journal journal, Telemetry telemetry) {
            this.database = database;
            this.journal = journal;
            this.telemetry = telemetry;
        }

        /** Delivers a subscription to a sink. The sink is closed by whoever made it, after the relay. */
        public Builder deliver(Subscription subscription, Sink sink) {
            return receive(subscription, new Receiver(sink, null));
        }

        /** Lets code in this process apply a subscription to this database, in the transactions that move its lanes. */
        public Builder project(Subscription subscription, Projection projection) {
            return receive(subscription, new Receiver(null, projection));
        }

        /** Serves what a roster names, as long as it does. */
        public Builder serve(Roster roster) {
            rosters.add(roster);
            return this;
        }

        private Builder receive(Subscription subscription, Receiver receiver) {
            deliveries.put(subscription, receiver);
            if (!names.add(subscription.name())) {
                problems.add("subscription " + subscription.name() + " is there twice");
            }
            return this;
        }

        /** Delivers a subscription to code in this process. */
        public Builder handle(Subscription subscription, Handler handler) {
            return deliver(subscription, handler.asSink());
        }

        /** How operators call this relay; a host or pod name is a good one. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** How long a lane stays with a relay that is not heard of; 15 s unless given. Renewed at a third of it. */
        public Builder lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        /** How often a lane's position is written at most; what was delivered since is delivered again after a crash. */
        public Builder settleInterval(Duration settleInterval) {
            this.settleInterval = settleInterval;
            return this;
        }

        /** How often to look for messages: from the first, when busy, to the second, when nothing happens. */
        public Builder poll(Duration min, Duration max) {
            this.pollMin = min;
            this.pollMax = max;
            return this;
        }

        /** How long {@link Relay#close} waits for the sink's answers. */
        public Builder stopGrace(Duration stopGrace) {
            this.stopGrace = stopGrace;
            return this;
        }

        /**
         * How long a destination that takes nothing is left alone before one message goes as a probe, doubling from the first wait
         * to the longest; 100 ms to 30 s unless given.
         */
        public Builder probe(Duration first, Duration longest) {
            this.probeFirst = first;
            this.probeLongest = longest;
            return this;
        }

        /** How much one read takes on, by count and by bytes. */
        public Builder batch(int messages, long bytes) {
            this.batchMessages = messages;
            this.batchBytes = bytes;
            return this;
        }

        public Relay build() {
            check(
                    !deliveries.isEmpty() || !rosters.isEmpty(),
                    "there is no subscription; add one with deliver, handle, project or serve");
            check(!name.isBlank() && name.length() <= 200, "name is '" + name + "', it must be 1 to 200 characters");
            check(
                    name.chars().noneMatch(Character::isISOControl),
                    "name has a control character, such as a line break; leave it out");
            check(
                    within(lease, Duration.ofMillis(100), Duration.ofHours(1)),
                    "lease is " + lease + ", the range is 100 ms to 1 h");
            check(
                    within(settleInterval, Duration.ZERO, lease),
                    "settle interval is " + settleInterval + ", the range is 0 to the lease");
            check(
                    within(pollMin, Duration.ofNanos(100_000), pollMax),
                    "poll min is " + pollMin + ", the range is 0.1 ms to poll max");
            check(
                    within(pollMax, pollMin, Duration.ofMinutes(1)),
                    "poll max is " + pollMax + ", the range is poll min to 1 min");
            check(
                    within(stopGrace, Duration.ZERO, Duration.ofHours(1)),
                    "stop grace is " + stopGrace + ", the range is 0 to 1 h");
            check(
                    within(probeFirst, Duration.ofMillis(1), probeLongest),
                    "first probe is after " + probeFirst + ", the range is 1 ms to the longest");
            check(
                    batchMessages >= 1 && batchMessages <= 10_000,
                    "batch is " + batchMessages + " messages, the range is 1 to 10000");
            check(
                    batchBytes >= 1_024 && batchBytes <= 268_435_456,
                    "batch is " + batchBytes + " bytes, the range is 1024 to 268435456");
            if (!problems.isEmpty()) {
                throw new PostroomException(
                        "relay.invalid", "could not make relay " + name + ": " + String.join("; ", problems));
            }
            return new Relay(
                    this,
                    new RelaySettings(
                            name,
                            lease,
                            settleInterval,
                            pollMin,
                            pollMax,
                            stopGrace,
                            batchMessages,
                            batchBytes,
                            new Backoff(probeFirst, probeLongest)));
        }

        private void check(boolean holds, String problem) {
            if (!holds) {
                problems.add(problem);
            }
        }

        private static boolean within(Duration value, Duration least, Duration most) {
            return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
        }
    }
}
