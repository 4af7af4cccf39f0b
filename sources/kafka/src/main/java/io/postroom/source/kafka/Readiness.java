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

/** What a move still waits for, here and in Kafka. For one thread. */
record Readiness(Move move, Moves moves, Brokers brokers) {

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
            brokers.begin(move.group(), move.offsets());
            return null;
        } catch (PostroomException e) {
            Throwable cause = e.getCause();
            if (cause instanceof UnknownMemberIdException
                    || cause instanceof GroupNotEmptyException
                    || cause instanceof RebalanceInProgressException) {
                return "group " + move.group() + " to be left by its members";
            }
            if (cause instanceof RetriableException || e.code().equals(Brokers.NO_ANSWER)) {
                return "Kafka to answer (" + e.getMessage() + ")";
            }
            throw e;
        }
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
        long behind = move.target() == ServedBy.POSTGRES ? behind() : 0;
        if (behind > 0) {
            found.add("group " + move.group() + " to apply " + behind + " more records");
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
        Map<String, Long> committed = brokers.committed(move.group());
        if (move.offsets().entrySet().stream()
                .allMatch(each -> committed.getOrDefault(each.getKey(), -1L) >= each.getValue())) {
            return 0;
        }
        // What Kafka has deleted nobody can apply; a partition that never had a record has nothing to apply.
        Map<String, Long> beginnings = brokers.beginnings();
        return move.offsets().entrySet().stream()
                .mapToLong(each -> each.getValue()
                        - Math.max(
                                committed.getOrDefault(each.getKey(), 0L), beginnings.getOrDefault(each.getKey(), 0L)))
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
        brokers.committed(move.group()).forEach((partition, offset) -> {
            long records = beginnings.getOrDefault(partition, 0L) - offset;
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
