package io.postroom.relay;

import java.sql.Connection;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a relay serves besides its targets: their copies, made by operators, and what its rosters name. They come and go; only beats
 * look for them.
 */
final class Guests {
    private static final Logger LOG = LoggerFactory.getLogger(Guests.class);

    private final Map<String, Relay.Target> targets;
    private final List<Roster> rosters;
    private final Lane.Surroundings surroundings;
    private final Function<String, Circuit> circuits;
    private volatile Map<String, Served> found = Map.of();

    Guests(
            Map<String, Relay.Target> targets,
            List<Roster> rosters,
            Lane.Surroundings surroundings,
            Function<String, Circuit> circuits) {
        this.targets = targets;
        this.rosters = rosters;
        this.surroundings = surroundings;
        this.circuits = circuits;
    }

    /** A target, and the journal as far as it is delivered to it. */
    record Served(Relay.Target target, Lane.Surroundings surroundings, AtomicLong last, boolean isCopy) {}

    /** Looks who is there now; returns whether somebody may go further than before. */
    boolean find(Connection tx) {
        Map<String, Served> now = new HashMap<>();
        findCopies(tx, now);
        boolean further = false;
        for (Roster roster : rosters) {
            for (Roster.Entry entry : roster.entries(tx)) {
                further |= welcome(entry, now);
            }
        }
        found = now;
        return further;
    }

    @Nullable
    Served served(String subscription) {
        return found.get(subscription);
    }

    Set<String> names() {
        return found.keySet();
    }

    Collection<Served> all() {
        return found.values();
    }

    private boolean welcome(Roster.Entry entry, Map<String, Served> now) {
        String name = entry.subscription().name();
        if (targets.containsKey(name)) {
            return false;
        }
        Served known = found.get(name);
        if (known == null || known.isCopy()) {
            known = guest(
                    entry.subscription(),
                    new Relay.Receiver(null, entry.projection()),
                    circuits.apply(name),
                    entry.last(),
                    false);
            LOG.info("relay {} serves {}", surroundings.settings().name(), name);
        }
        now.put(name, known);
        return known.last().getAndSet(entry.last()) < entry.last();
    }

    /** A copy goes where its original goes, as long as it is there, and ends at a position. */
    private void findCopies(Connection tx, Map<String, Served> now) {
        for (RelayTable.Copy copy : surroundings.table().copies(tx, targets.keySet())) {
            Relay.Target original = targets.get(copy.original());
            if (original == null || targets.containsKey(copy.name())) {
                continue;
            }
            Served known = found.get(copy.name());
            boolean same = known != null
                    && known.last().get() == copy.last()
                    && known.target().subscription().filter().equals(copy.filter());
            now.put(copy.name(), same ? known : copyOf(original, copy));
        }
    }

    private Served copyOf(Relay.Target original, RelayTable.Copy copy) {
        Subscription like = original.subscription();
        Subscription subscription = new Subscription(
                copy.name(),
                like.lanes(),
                like.order(),
                copy.filter(),
                like.start(),
                like.retry(),
                like.onBurial(),
                like.deadline(),
                like.outageKeys());
        LOG.info(
                "relay {} serves {}, a copy of {} that ends at position {}",
                surroundings.settings().name(),
                copy.name(),
                copy.original(),
                copy.last());
        return guest(subscription, original.receiver(), original.circuit(), copy.last(), true);
    }

    private Served guest(
            Subscription subscription, Relay.Receiver receiver, Circuit circuit, long last, boolean isCopy) {
        AtomicLong bound = new AtomicLong(last);
        Lane.Surroundings bounded = new Lane.Surroundings(
                surroundings.relayId(),
                surroundings.database(),
                surroundings.journal().endingAt(bound::get),
                surroundings.table(),
                surroundings.deliveries(),
                surroundings.settings(),
                surroundings.telemetry(),
                surroundings.suspects());
        surroundings.telemetry().serves(subscription.name());
        return new Served(new Relay.Target(subscription, receiver, circuit), bounded, bound, isCopy);
    }
}
