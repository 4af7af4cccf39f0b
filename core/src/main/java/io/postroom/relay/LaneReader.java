package io.postroom.relay;

import io.postroom.journal.Batch;
import io.postroom.journal.Journal;
import io.postroom.journal.LanePosition;
import io.postroom.message.Message;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A lane's share of the journal, read from where the lane was settled on. For the lane's thread. */
final class LaneReader {
    private final Subscription subscription;
    private final RelayTable.Taken taken;
    private final Journal journal;
    private final RelaySettings settings;
    private final LaneStore store;

    /** Positions that have deliveries, though the lane has not come to them: they are not read again. */
    private final Set<Long> known = new HashSet<>();

    private Journal.@Nullable Lane share;
    private @Nullable Replay replay;
    private @Nullable LanePosition read;
    /** Up to this position messages may have been with a relay that died. */
    private long cautiousTo;
    /** How many messages at most. */
    private int cautious;

    LaneReader(Subscription subscription, RelayTable.Taken taken, Lane.Surroundings surroundings, LaneStore store) {
        this.subscription = subscription;
        this.taken = taken;
        this.journal = surroundings.journal();
        this.settings = surroundings.settings();
        this.store = store;
    }

    /**
     * What was read.
     *
     * @param to everything up to here is among the items, or not for this lane
     * @param careful whether a relay that died may have been sending them
     */
    record Portion(List<Batch.Item> items, long to, boolean careful) {
        static final Portion NONE = new Portion(List.of(), 0, false);
    }

    boolean hasBegun() {
        return share != null;
    }

    /** Takes the lane up where it was left; returns the keys that have deliveries. */
    List<Integer> begin() {
        LaneStore.Begun begun = store.begin();
        known.addAll(begun.known());
        replay = Replay.of(begun.plan());
        if (taken.unclean()) {
            // What was committed later cannot have been with the relay that died.
            cautiousTo = journal.refreshHead().position();
            cautious = RelaySettings.WINDOW_MESSAGES_MAX;
        }
        share = new Journal.Lane(
                taken.lane(),
                begun.plan().lanes(),
                subscription.filter(),
                begun.plan().formerPositions());
        return begun.blocked();
    }

    /** Whether the journal has gone back behind what was read of it. */
    boolean isAhead() {
        LanePosition from = from();
        // Of a lane just taken another relay may know more than this one has heard; what it has read itself was there.
        return from.position() > taken.position() && journal.endsBefore(from);
    }

    /** Reads on, as many messages as there is room for at most. */
    Portion read(int room) {
        LanePosition from = from();
        boolean careful = cautious > 0 && from.position() < cautiousTo;
        int wanted = Math.min(settings.batchMessages(), room);
        wanted = careful ? Math.min(wanted, RelaySettings.CAUTIOUS_BATCH) : wanted;
        wanted = replay == null ? wanted : replay.allowed(wanted, System.nanoTime());
        if (wanted == 0) {
            return Portion.NONE;
        }
        Batch batch = journal.read(Objects.requireNonNull(share), from, readableTo(), wanted, settings.batchBytes());
        read = batch.next();
        if (replay != null) {
            replay.took(batch.items().size());
        }
        List<Batch.Item> items = unknown(batch.items());
        cautious -= careful ? items.size() : 0;
        return new Portion(items, batch.next().position(), careful);
    }

    private List<Batch.Item> unknown(List<Batch.Item> items) {
        if (known.isEmpty()) {
            return items;
        }
        List<Batch.Item> unknown = new ArrayList<>(items.size());
        for (Batch.Item item : items) {
            if (!known.remove(item.position())) {
                unknown.add(item);
            }
        }
        return unknown;
    }

    /** The message as its receiver is to see it. */
    Message marked(Message message) {
        return replay == null ? message : replay.marked(message);
    }

    boolean hasMore() {
        return read == null || read.position() < readableTo();
    }

    /** How long until more may be read. */
    long restNanos(long now) {
        return replay == null ? 0 : replay.restNanos(now);
    }

    /** Ends a replay all of which is settled; returns where the lane goes on then. */
    OptionalLong endReplay() {
        Replay replaying = replay;
        if (replaying == null || store.settled() < replaying.to()) {
            return OptionalLong.empty();
        }
        store.endReplay(replaying.resumeAt());
        replay = null;
        read = null;
        return OptionalLong.of(replaying.resumeAt());
    }

    private LanePosition from() {
        LanePosition from = read == null ? journal.locate(store.settled()) : read;
        read = from;
        return from;
    }

    private long readableTo() {
        long head = journal.head().position();
        return replay == null ? head : Math.min(head, replay.to());
    }
}
