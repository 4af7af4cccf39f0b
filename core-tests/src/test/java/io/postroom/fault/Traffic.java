package io.postroom.fault;

import io.postroom.message.Message;
import io.postroom.testkit.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Publishes messages of every {@link Kind} and knows what must become of each. For one thread. */
final class Traffic {
    /** How long a {@link Kind#LATER} message waits. */
    private static final long LATER_MILLIS = 1_000;

    private final TestDatabase database;
    private final Map<String, List<Sent>> byKey = new LinkedHashMap<>();

    Traffic(TestDatabase database) {
        this.database = database;
    }

    /** A message that was published. */
    record Sent(UUID id, Kind kind) {}

    /** Collects messages of several keys, which are published together in an order that mixes the keys. */
    final class Batch {
        private final Map<String, List<Message>> messages = new LinkedHashMap<>();

        /** The next versions of a key. */
        Batch add(String key, Kind... kinds) {
            List<Sent> sent = byKey.computeIfAbsent(key, ignored -> new ArrayList<>());
            for (Kind kind : kinds) {
                Message.Builder message = Message.about("thing", key)
                        .event(kind.eventType())
                        .aggregateVersion(sent.size() + 1L)
                        .payload("{\"kind\":\"" + kind + "\"}");
                if (kind == Kind.LATER) {
                    message.availableAt(Instant.now().plusMillis(LATER_MILLIS));
                }
                Message built = message.build();
                sent.add(new Sent(built.id(), kind));
                messages.computeIfAbsent(key, ignored -> new ArrayList<>()).add(built);
            }
            return this;
        }

        void publish() throws SQLException {
            List<Message> mixed = new ArrayList<>();
            for (int i = 0;
                    mixed.size()
                            < messages.values().stream().mapToInt(List::size).sum();
                    i++) {
                for (List<Message> each : messages.values()) {
                    if (i < each.size()) {
                        mixed.add(each.get(i));
                    }
                }
            }
            try (Connection tx = database.begin()) {
                database.postroom().outbox().publishAll(tx, mixed);
                tx.commit();
            }
        }
    }

    Batch batch() {
        return new Batch();
    }

    /** How many were published. */
    int count() {
        return byKey.values().stream().mapToInt(List::size).sum();
    }

    /** The messages that must be dead in the end. */
    Set<UUID> dead(boolean holds) {
        Set<UUID> dead = new HashSet<>();
        for (List<Sent> key : byKey.values()) {
            for (Sent sent : key) {
                if (sent.kind().isDeadly()) {
                    dead.add(sent.id());
                    if (holds) {
                        break;
                    }
                }
            }
        }
        return dead;
    }

    /** The messages that must not be delivered: the dead, and those whose key they hold. */
    Set<UUID> withheld(boolean holds) {
        Set<UUID> withheld = dead(holds);
        for (List<Sent> key : holds ? byKey.values() : List.<List<Sent>>of()) {
            boolean held = false;
            for (Sent sent : key) {
                held |= withheld.contains(sent.id());
                if (held) {
                    withheld.add(sent.id());
                }
            }
        }
        return withheld;
    }

    /** What happened, to be compared with what is stored. */
    History history(boolean holds, DeliveryFile file) throws IOException {
        History history = new History();
        byKey.values().forEach(key -> {
            history.acknowledged(key.stream().map(Sent::id).toList());
            history.scheduled(key.stream()
                    .filter(sent -> sent.kind() == Kind.LATER)
                    .map(Sent::id)
                    .toList());
        });
        history.withheld(withheld(holds));
        file.deliveries().forEach(history::delivered);
        return history;
    }

    /** How many dead letters each message of a subscription has. */
    static Map<UUID, Integer> letters(TestDatabase database, String subscription) throws SQLException {
        Map<UUID, Integer> letters = new LinkedHashMap<>();
        try (Connection connection = database.dataSource().getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "select message_id from postroom.dead_letter where owner = ? order by id")) {
            statement.setString(1, subscription);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    letters.merge(row.getObject(1, UUID.class), 1, Integer::sum);
                }
            }
        }
        return letters;
    }
}
