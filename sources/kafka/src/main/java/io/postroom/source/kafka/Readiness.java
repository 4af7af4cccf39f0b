package io.postroom.source.kafka;

import io.postroom.PostroomException;
import io.postroom.source.Move;
import io.postroom.source.Moves;
import io.postroom.source.ServedBy;
import io.postroom.source.Waiting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.jspecify.annotations.Nullable;

/**
 * What a move still waits for, here and in Kafka. For one thread.
 *
 * @param added partitions that the cut does not know, and where they ended when they were first seen
 */
record Readiness(Move move, Moves moves, Brokers brokers, Map<String, Long> added) {

    Readiness(Move move, Moves moves, Brokers brokers) {
        this(move, moves, brokers, new TreeMap<>());
    }

    /**
     * Lets the group begin at the cut; says what it waits for if it cannot. It has no members while PostgreSQL serves, for sources stay
     * out of it, but one may be about to leave.
     */
    @Nullable
    String group() {
        if (isOver()) {
            // The group is in use then, or will never be.
            return null;
        }
        try {
            brokers.begin(move.group(), move.subscription(), move.offsets());
            return null;
        } catch (PostroomException e) {
            Throwable cause = e.getCause();
            if (cause instanceof UnknownMemberIdException
                    || cause instanceof GroupNotEmptyException
                    || cause instanceof RebalanceInProgressException) {
                return "group " + move.group() + " to be left by its members";
            }
            return silence(e);
        }
    }

    /** What it waits for if Kafka is only away; else it throws what was thrown. */
    private static String silence(PostroomException e) {
        if (e.getCause() instanceof RetriableException || e.code().equals(Brokers.NO_ANSWER)) {
            return "Kafka to answer (" + e.getMessage() + ")";
        }
        throw e;
    }

    /** What must still happen before it can be switched; null: nothing. */
    @Nullable
    String hindrance() {
        if (isOver()) {
            return null;
        }
        Waiting waiting = moves.waiting(move);
        List<String> found = new ArrayList<>();
        if (waiting.lanes() > 0) {
            found.add(waiting.lanes() + " lanes to pass position " + move.position());
        }
        if (waiting.deliveries() > 0) {
            found.add(waiting.deliveries() + " deliveries to be settled");
        }
        if (waiting.redriven() > 0) {
            found.add(waiting.redriven() + " redriven dead letters to be applied");
        }
        try {
            long behind = move.target() == ServedBy.POSTGRES ? behind() : 0;
            if (behind > 0) {
                found.add("group " + move.group() + " to apply " + behind + " more records");
            }
        } catch (PostroomException e) {
            found.add(silence(e));
        }
        return found.isEmpty() ? null : String.join(", ", found);
    }

    /** Whether somebody else has ended it. */
    private boolean isOver() {
        return moves.underWay(move.subscription())
                .filter(open -> open.id() == move.id())
                .isEmpty();
    }

    private long behind() {
        // Not what the group was told: that stays when the database goes back.
        Map<String, Long> applied = moves.applied(move.subscription());
        // The broker that was asked for the cut may not have known of a partition yet that the feed wrote to already.
        brokers.ends().forEach((partition, end) -> {
            if (!move.offsets().containsKey(partition)) {
                added.putIfAbsent(partition, end);
            }
        });
        Map<String, Long> wanted = new TreeMap<>(move.offsets());
        wanted.putAll(added);
        if (wanted.entrySet().stream().allMatch(each -> applied.getOrDefault(each.getKey(), -1L) >= each.getValue())) {
            return 0;
        }
        // What Kafka has deleted nobody can apply; a partition that never had a record has nothing to apply.
        Map<String, Long> beginnings = brokers.beginnings();
        return wanted.entrySet().stream()
                .mapToLong(each -> each.getValue()
                        - Math.max(applied.getOrDefault(each.getKey(), 0L), beginnings.getOrDefault(each.getKey(), 0L)))
                .filter(records -> records > 0)
                .sum();
    }

    /** What Kafka has deleted before it was applied, in words, if it has. */
    Optional<String> lost() {
        if (move.target() != ServedBy.POSTGRES || isOver()) {
            return Optional.empty();
        }
        Map<String, Long> beginnings = brokers.beginnings();
        Map<String, Long> lost = new TreeMap<>();
        Map<String, Long> applied = moves.applied(move.subscription());
        move.offsets().keySet().forEach(partition -> {
            long records = beginnings.getOrDefault(partition, 0L) - applied.getOrDefault(partition, 0L);
            if (records > 0) {
                lost.put(partition, records);
            }
        });
        return lost.isEmpty()
                ? Optional.empty()
                : Optional.of("Kafka has deleted records that group " + move.group() + " had not read, " + lost
                        + ": they are lost to it, but not to the journal; when it is moved, replay subscription "
                        + move.subscription() + " from before that time, and what has taken effect is known");
    }
}
