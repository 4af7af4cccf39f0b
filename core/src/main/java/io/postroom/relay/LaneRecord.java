package io.postroom.relay;

import io.postroom.retry.Fault;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a lane has to write beside its position: deliveries that went through, that must wait, that are given up. Written in one
 * transaction with the position, as a whole or not at all. For the lane's thread.
 */
final class LaneRecord {
    final List<Long> accepted = new ArrayList<>();
    final List<Kept> kept = new ArrayList<>();
    final List<Buried> buried = new ArrayList<>();
    final List<Tried> tried = new ArrayList<>();

    /** The keys whose order may have changed. */
    final Set<Integer> keys = new HashSet<>();

    /** Whether it tells what became of the lane's suspect. */
    boolean endsSuspect;

    /** States a relay gives a delivery; {@code held} comes of a burial and {@code sending} of a claim. */
    enum State {
        SCHEDULED,
        WAITING,
        PARKED,
        UNREADABLE;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A message that is to have a delivery.
     *
     * @param dueAt when it is due, where that was said; else {@code after} counts, from when it is written
     * @param attempts those that count
     */
    record Kept(
            Slot.Id id,
            State state,
            Duration after,
            @Nullable Instant dueAt,
            int attempts,
            @Nullable Fault fault) {
        Kept(Slot.Id id, State state, Duration after, int attempts, @Nullable Fault fault) {
            this(id, state, after, null, attempts, fault);
        }
    }

    /** Why a message was given up. */
    enum Cause {
        REJECTED,
        EXHAUSTED,
        CRASHED;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    record Buried(Slot.Id id, Cause cause, int attempts, Fault fault) {}

    /** An attempt that failed, or without a fault one that did not. */
    record Tried(
            long position,
            int attempt,
            Duration took,
            String node,
            String outcome,
            @Nullable Fault fault) {}

    /** A record to which more can be added, this one stays as it is. */
    LaneRecord copy() {
        LaneRecord copy = new LaneRecord();
        copy.accepted.addAll(accepted);
        copy.kept.addAll(kept);
        copy.buried.addAll(buried);
        copy.tried.addAll(tried);
        copy.keys.addAll(keys);
        copy.endsSuspect = endsSuspect;
        return copy;
    }

    boolean isEmpty() {
        return accepted.isEmpty() && kept.isEmpty() && buried.isEmpty() && tried.isEmpty();
    }

    /** The shortest wait among what is kept, and never longer than a long time. */
    Duration firstWait() {
        return kept.stream()
                .filter(each -> each.state() == State.WAITING || each.state() == State.SCHEDULED)
                .map(Kept::after)
                .filter(after -> after.compareTo(RelaySettings.PAUSE_MAX) < 0)
                .min(Duration::compareTo)
                .orElse(RelaySettings.PAUSE_MAX);
    }
}
