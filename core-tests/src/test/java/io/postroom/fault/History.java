package io.postroom.fault;

import io.postroom.message.Envelope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * What was written and what was delivered in one run, and whether the one may follow from the other.
 *
 * <p>A write has three ends: acknowledged, failed, or unknown because the answer to its commit was lost. Only acknowledged ones
 * must be there; only failed ones must not. Safe for use by many threads while a run is recorded.
 */
final class History {
    private static final int EXAMPLES_MAX = 5;

    private final Set<UUID> acknowledged = new HashSet<>();
    private final Set<UUID> unknown = new HashSet<>();
    private final Set<UUID> failed = new HashSet<>();
    private final Set<UUID> withheld = new HashSet<>();
    private final Set<UUID> scheduled = new HashSet<>();
    private final List<Delivery> deliveries = new ArrayList<>();

    /** A message as it is stored: which version of which key it tells of. */
    record Stored(UUID id, String key, long version, long position) {}

    /** One acceptance by a sink. */
    record Delivery(String relay, UUID id, String key, long version, long position) {
        static Delivery of(String relay, Envelope envelope) {
            Long version = envelope.message().aggregateVersion();
            return new Delivery(
                    relay,
                    envelope.message().id(),
                    envelope.message().aggregateId(),
                    version == null ? 0 : version,
                    envelope.position());
        }
    }

    synchronized void acknowledged(Collection<UUID> ids) {
        acknowledged.addAll(ids);
    }

    synchronized void unknown(Collection<UUID> ids) {
        unknown.addAll(ids);
    }

    synchronized void failed(Collection<UUID> ids) {
        failed.addAll(ids);
    }

    /** They were given up, or wait behind one that was: they must not be delivered, and their keys go on without them. */
    synchronized void withheld(Collection<UUID> ids) {
        withheld.addAll(ids);
    }

    /** They come in their own time, whatever their key does. */
    synchronized void scheduled(Collection<UUID> ids) {
        scheduled.addAll(ids);
    }

    synchronized void delivered(Delivery delivery) {
        deliveries.add(delivery);
        notifyAll();
    }

    synchronized List<Delivery> deliveries() {
        return List.copyOf(deliveries);
    }

    synchronized Set<UUID> deliveredIds() {
        Set<UUID> ids = new HashSet<>();
        deliveries.forEach(one -> ids.add(one.id()));
        return ids;
    }

    synchronized Set<UUID> acknowledgedIds() {
        return Set.copyOf(acknowledged);
    }

    /** The same run as if messages that are not among these had never been: a server has lost them. */
    synchronized History of(Set<UUID> remaining) {
        History rest = new History();
        rest.acknowledged(both(acknowledged, remaining));
        rest.unknown(both(unknown, remaining));
        rest.failed(failed);
        deliveries.stream().filter(one -> remaining.contains(one.id())).forEach(rest::delivered);
        return rest;
    }

    synchronized int acknowledgedCount() {
        return acknowledged.size();
    }

    synchronized int unknownCount() {
        return unknown.size();
    }

    synchronized Set<UUID> unknownIds() {
        return Set.copyOf(unknown);
    }

    synchronized int failedCount() {
        return failed.size();
    }

    /** How many deliveries were repetitions. */
    synchronized int duplicates() {
        return deliveries.size() - deliveredIds().size();
    }

    /** Every broken promise, each in one line with some examples; empty if all was well. */
    synchronized List<String> violations(Collection<Stored> stored) {
        Map<UUID, Stored> committed = new LinkedHashMap<>();
        stored.forEach(one -> committed.put(one.id(), one));
        Set<UUID> delivered = deliveredIds();
        List<String> found = new ArrayList<>();
        report(found, "acknowledged but not stored", minus(acknowledged, committed.keySet()));
        Set<UUID> ghosts = minus(committed.keySet(), acknowledged);
        ghosts.removeAll(unknown);
        report(found, "stored but never acknowledged", ghosts);
        report(found, "failed but delivered", both(failed, delivered));
        report(found, "withheld but delivered", both(withheld, delivered));
        report(found, "lost", minus(minus(committed.keySet(), delivered), withheld));
        report(found, "invented", minus(delivered, committed.keySet()));
        report(found, "delivered out of order", outOfOrder(stored));
        report(found, "versions that do not count up from one", gaps(stored));
        report(found, "delivered at two positions", movedPositions(committed));
        report(found, "positions that are not 1, 2, 3, …", brokenPositions(stored));
        return found;
    }

    /** Looks at each message's first delivery only: a repetition may come at any time. */
    private Set<String> outOfOrder(Collection<Stored> stored) {
        Map<String, TreeSet<Long>> expected = new HashMap<>();
        for (Stored one : stored) {
            if (!withheld.contains(one.id()) && !scheduled.contains(one.id())) {
                expected.computeIfAbsent(one.key(), key -> new TreeSet<>()).add(one.version());
            }
        }
        Map<String, Long> last = new HashMap<>();
        Set<UUID> seen = new HashSet<>();
        Set<String> wrong = new LinkedHashSet<>();
        for (Delivery one : deliveries) {
            if (seen.add(one.id()) && !withheld.contains(one.id()) && !scheduled.contains(one.id())) {
                Long before = last.put(one.key(), one.version());
                Long next = expected.getOrDefault(one.key(), new TreeSet<>()).higher(before == null ? 0 : before);
                if (before != null && before >= one.version()) {
                    wrong.add(one.key() + " version " + one.version() + " after " + before);
                } else if (next != null && next != one.version()) {
                    wrong.add(one.key() + " version " + one.version() + " directly after " + before);
                }
            }
        }
        return wrong;
    }

    private static Set<String> gaps(Collection<Stored> stored) {
        Map<String, TreeSet<Long>> versions = new TreeMap<>();
        Set<String> wrong = new LinkedHashSet<>();
        for (Stored one : stored) {
            if (!versions.computeIfAbsent(one.key(), key -> new TreeSet<>()).add(one.version())) {
                wrong.add(one.key() + " version " + one.version() + " twice");
            }
        }
        versions.forEach((key, numbers) -> {
            if (numbers.first() != 1 || numbers.last() != numbers.size()) {
                wrong.add(key + " has " + numbers.size() + " versions up to " + numbers.last());
            }
        });
        return wrong;
    }

    private Set<String> movedPositions(Map<UUID, Stored> committed) {
        Set<String> wrong = new LinkedHashSet<>();
        for (Delivery one : deliveries) {
            Stored there = committed.get(one.id());
            if (there != null && there.position() != one.position()) {
                wrong.add(one.id() + " at " + one.position() + ", stored at " + there.position());
            }
        }
        return wrong;
    }

    private static Set<Long> brokenPositions(Collection<Stored> stored) {
        Set<Long> wrong = new LinkedHashSet<>();
        long expected = 1;
        for (long position :
                stored.stream().mapToLong(Stored::position).sorted().toArray()) {
            if (position != expected) {
                wrong.add(position);
            }
            expected = position + 1;
        }
        return wrong;
    }

    private static <T> Set<T> minus(Set<T> all, Set<T> without) {
        Set<T> rest = new LinkedHashSet<>(all);
        rest.removeAll(without);
        return rest;
    }

    private static <T> Set<T> both(Set<T> one, Set<T> other) {
        Set<T> common = new LinkedHashSet<>(one);
        common.retainAll(other);
        return common;
    }

    private static void report(List<String> found, String what, Set<?> examples) {
        if (!examples.isEmpty()) {
            found.add(what + ": " + examples.size() + ", for example "
                    + examples.stream().limit(EXAMPLES_MAX).toList());
        }
    }
}
