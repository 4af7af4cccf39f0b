package io.postroom.source.kafka;

import io.postroom.source.Move;
import io.postroom.source.Outlook;
import io.postroom.source.ServedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a move would do now.
 *
 * @param obstacles what speaks against it, here and in Kafka, each a sentence with what to do; none: it can be moved
 * @param underWay the move that has begun already, whose cut is used; null if there is none
 * @param ends where the topics end, by {@code topic/partition}
 * @param head where the journal ends
 */
public record MovePlan(
        String subscription,
        ServedBy target,
        String feed,
        String group,
        Outlook outlook,
        List<String> obstacles,
        @Nullable Move underWay,
        Map<String, Long> ends,
        long head) {

    public MovePlan {
        obstacles = List.copyOf(obstacles);
        ends = Map.copyOf(ends);
    }

    /** Whether it is done already. */
    public boolean isDone() {
        return outlook.servedBy() == target;
    }

    /** The steps, in words. */
    public List<String> steps() {
        List<String> steps = new ArrayList<>();
        String offsets = new TreeMap<>(underWay == null ? ends : underWay.offsets()).toString();
        if (target == ServedBy.KAFKA) {
            long cut = underWay == null ? head : underWay.position();
            steps.add("note the ends of the topics, " + offsets + ", then the journal's end, " + cut
                    + ": everything after it lies beyond these offsets");
            steps.add("let group " + group + " begin at these offsets");
            steps.add("wait until every lane of " + subscription + " has passed position " + cut
                    + " (the slowest is at " + outlook.position() + ") and nothing before it waits");
            steps.add(
                    "take the lanes from the relays and switch to Kafka in one transaction; what waits of later messages is dropped,"
                            + " for Kafka brings it, and " + outlook.letters() + " open dead letters go along");
        } else {
            long cut = underWay == null ? outlook.feedPosition() : underWay.position();
            steps.add("note where feed " + feed + " is, position " + cut + ", then the ends of the topics, " + offsets
                    + ": everything up to it lies before these offsets, but for what waits in the feed");
            steps.add("wait until group " + group + " has applied all before these offsets");
            steps.add("switch to PostgreSQL in one transaction; the lanes of " + subscription + " begin at position "
                    + cut + ", what waits in the feed waits there, too, and " + outlook.letters()
                    + " open dead letters go along");
        }
        steps.add("what both bring is known to the inbox and takes effect once");
        return steps;
    }
}
