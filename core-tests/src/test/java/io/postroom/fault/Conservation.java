package io.postroom.fault;

import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where every message of a subscription is, by the database alone: in exactly one place at any time.
 *
 * <p>A look is one statement, so it sees one snapshot, whatever relays and operators do meanwhile.
 */
final class Conservation {
    private static final int EXAMPLES_MAX = 20;

    /**
     * Entries of the journal with what is known of them, and after them what belongs to no entry. Every message has at most one
     * delivery (primary key) and at most one open dead letter (unique index), so each is in one place unless the two contradict.
     * After the number of lanes was changed, what the former lanes had delivered counts until the new ones are beyond it.
     */
    private static final String LOOK = """
            select j.position, greatest(l.position, s.former_positions[1 + j.key_hash % cardinality(s.former_positions)]) as settled,
                   d.state, d.lane <> l.lane as astray, letter.open, letter.last
            from postroom.journal as j
            join postroom.subscription as s on s.name = ?
            join postroom.lane as l on l.subscription = s.name and l.lane = j.key_hash % s.lanes
            left join postroom.delivery as d on d.subscription = s.name and d.position = j.position
            left join (
                select position, bool_or(resolution is null) as open,
                       (array_agg(coalesce(resolution, 'open') order by id desc))[1] as last
                from postroom.dead_letter where owner = ? group by position
            ) as letter on letter.position = j.position
            union all
            select d.position, null, 'of no entry', null, null, null
            from (select subscription, position from postroom.delivery union select owner, position from postroom.dead_letter) as d
            where d.subscription = ? and not exists (select from postroom.journal as j where j.position = d.position)
            """;

    /** Where a message is. */
    enum Place {
        /** The lane has not come to it, as far as it is settled. */
        AHEAD,
        /** It has a delivery. */
        IN_DELIVERY,
        /** It has an open dead letter; if that holds its key, a delivery marks the place. */
        DEAD,
        /** An operator has ended it. */
        DISCARDED,
        /** The lane is beyond it, or it was redriven, and nothing is left to do. */
        DELIVERED
    }

    /** What one look has seen: where each message is, the states of deliveries, and contradictions. */
    record Look(Map<Long, Place> places, Set<String> states, List<String> wrong) {}

    private Conservation() {}

    static Look look(Connection connection, String subscription) throws SQLException {
        Map<Long, Place> places = new TreeMap<>();
        Set<String> states = new TreeSet<>();
        List<String> wrong = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(LOOK)) {
            statement.setString(1, subscription);
            statement.setString(2, subscription);
            statement.setString(3, subscription);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    long position = row.getLong("position");
                    String state = row.getString("state");
                    boolean open = row.getBoolean("open");
                    boolean held = "held".equals(state);
                    boolean astray = row.getBoolean("astray") || "of no entry".equals(state);
                    if (astray || state != null && open != held) {
                        wrong.add(position + " is " + state + (open ? " and dead" : "") + (astray ? ", astray" : ""));
                    }
                    if (state != null) {
                        states.add(state);
                    }
                    Place before = places.put(
                            position, place(state, open, row.getString("last"), position > row.getLong("settled")));
                    if (before != null) {
                        wrong.add(position + " is there twice");
                    }
                }
            }
        }
        return new Look(places, states, wrong);
    }

    /**
     * The messages that a relay has delivered and of which the database does not know: they may be delivered again. To be asked while
     * nobody else can take its lanes.
     */
    static Map<Long, Place> unrecorded(TestDatabase database, String subscription, String relay, DeliveryFile file)
            throws SQLException, IOException {
        Set<Long> delivered = file.deliveries().stream()
                .filter(one -> one.relay().equals(relay))
                .map(History.Delivery::position)
                .collect(Collectors.toSet());
        try (Connection connection = database.dataSource().getConnection()) {
            return look(connection, subscription).places().entrySet().stream()
                    .filter(each -> each.getValue() != Place.DELIVERED && delivered.contains(each.getKey()))
                    .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (a, b) -> a, TreeMap::new));
        }
    }

    private static Place place(@Nullable String state, boolean open, @Nullable String last, boolean ahead) {
        if (open) {
            return Place.DEAD;
        }
        if (state != null) {
            return Place.IN_DELIVERY;
        }
        if (last != null) {
            return last.equals("discarded") ? Place.DISCARDED : Place.DELIVERED;
        }
        return ahead ? Place.AHEAD : Place.DELIVERED;
    }

    /**
     * Looks again and again while a test goes on, and compares each look with the one before and with what was really delivered: what
     * the database takes for delivered must be in the file, and what has ended must stay so.
     */
    static final class Watch implements AutoCloseable {
        private static final long PAUSE_NANOS_MIN = 25_000_000;

        /** It must not take the processor from those whom it watches: it rests so many times as long as it looked. */
        private static final int PAUSE_TIMES = Boolean.getBoolean("postroom.long") ? 3 : 9;

        private final TestDatabase database;
        private final String subscription;
        private final DeliveryFile file;
        private final boolean operators;
        private final Thread thread;
        private final List<String> wrong = new ArrayList<>();
        private final Set<Place> seen = EnumSet.noneOf(Place.class);
        private final Set<String> states = new TreeSet<>();
        private final Set<Long> delivered = new HashSet<>();
        private Map<Long, Place> last = Map.of();
        private int read;
        private int looks;
        private volatile boolean stopped;

        /** {@code operators} says whether anybody but relays may act on dead letters. */
        Watch(TestDatabase database, String subscription, Path file, boolean operators) {
            this.database = database;
            this.subscription = subscription;
            this.file = DeliveryFile.at(file);
            this.operators = operators;
            this.thread = new Thread(this::run, "conservation-" + subscription);
            thread.setDaemon(true);
            thread.start();
        }

        /** Ends when stopped, or when there is more wrong than anybody wants to read. */
        private void run() {
            try (Connection connection = database.dataSource().getConnection()) {
                // The tables are new to the planner, who takes them for small ones.
                set(connection, "set enable_nestloop = off");
                while (!stopped && wrong().size() < EXAMPLES_MAX) {
                    long began = System.nanoTime();
                    look(connection);
                    LockSupport.parkNanos(Math.max(PAUSE_NANOS_MIN, PAUSE_TIMES * (System.nanoTime() - began)));
                }
                set(connection, "reset enable_nestloop");
            } catch (SQLException | IOException | RuntimeException e) {
                add("the watch broke: " + e);
            }
        }

        private static void set(Connection connection, String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }

        private void look(Connection connection) throws SQLException, IOException {
            Look look = Conservation.look(connection, subscription);
            // The file is read after the look: an effect comes before its record, never after.
            List<History.Delivery> all = file.deliveries();
            all.subList(read, all.size()).forEach(one -> delivered.add(one.position()));
            read = all.size();
            synchronized (this) {
                looks++;
                look.wrong().forEach(this::add);
                states.addAll(look.states());
                seen.addAll(look.places().values());
            }
            look.places().forEach((position, place) -> {
                if (place == Place.DELIVERED && !delivered.contains(position)) {
                    add(position + " counts as delivered and was not");
                }
            });
            last.forEach((position, before) -> {
                Place now = look.places().get(position);
                boolean mayEnd =
                        before == Place.AHEAD || before == Place.IN_DELIVERY || before == Place.DEAD && operators;
                if (now == null || now != before && !mayEnd) {
                    add(position + " was " + before + " and is " + now);
                }
            });
            last = look.places();
        }

        private synchronized void add(String what) {
            wrong.add(what);
        }

        /** What contradicted itself, or that it could not look. */
        synchronized List<String> wrong() {
            return List.copyOf(wrong);
        }

        /** The places in which it has seen messages. */
        synchronized Set<Place> seen() {
            return EnumSet.copyOf(seen);
        }

        /** The states in which it has seen deliveries. */
        synchronized Set<String> states() {
            return Set.copyOf(states);
        }

        synchronized int looks() {
            return looks;
        }

        /** Ends after one more look at how things are now. */
        void stop() throws InterruptedException {
            int before = looks();
            Deadline.await(
                    () -> "another look: " + wrong(),
                    FaultProcess.PATIENCE,
                    () -> looks() > before + 1 || !thread.isAlive());
            close();
            thread.join(FaultProcess.PATIENCE.toMillis());
        }

        @Override
        public void close() {
            stopped = true;
        }
    }
}
