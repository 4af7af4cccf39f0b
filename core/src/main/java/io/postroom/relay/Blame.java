package io.postroom.relay;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Whose fault it is that messages are not accepted, the destination's or their own, where nobody has said so: shared by the lanes that
 * send to it.
 *
 * <p>A destination may fail everybody without saying that it is unavailable: then messages of many keys fail one after the other, and
 * none is accepted in between. From that on their failures count as the destination's.
 *
 * <p>The other way round, one message may fail as if the destination was away, though only that message's is: a host of its own, say.
 * So where nobody has said whose fault it is, others go as probes too, and a message that fails once more after one of those was
 * accepted fails by itself. Safe for use by many threads.
 */
final class Blame {
    /** When the latest of the messages that were answered was sent. */
    private volatile long answeredSentNanos = System.nanoTime();

    /** When the latest of the messages that were accepted was sent. */
    private volatile long acceptedSentNanos = answeredSentNanos;

    /** Positions whose messages failed as if the destination was away, and when they did last. */
    private final Map<Long, Long> turnedAway = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
            return size() > RelaySettings.TURNED_AWAY_MAX;
        }
    };

    /** Keys whose messages failed since something was accepted last; no more than need be known. */
    private final Set<Integer> failing = new HashSet<>();

    private long failingSinceNanos;
    private volatile boolean hasFailing;

    /**
     * The destination has answered for itself: it accepted a message, or has something against it.
     *
     * @param sentNanos when that message was sent
     */
    void answered(long sentNanos) {
        if (sentNanos - answeredSentNanos > 0) {
            answeredSentNanos = sentNanos;
        }
    }

    /** The destination has accepted a message: it does not fail everybody. */
    void accepted(long sentNanos) {
        if (hasFailing) {
            forgetFailing();
        }
        if (sentNanos - acceptedSentNanos > 0) {
            acceptedSentNanos = sentNanos;
        }
        answered(sentNanos);
    }

    private synchronized void forgetFailing() {
        failing.clear();
        hasFailing = false;
    }

    /** Whether the destination has answered a message that was sent after a time. */
    boolean hasAnsweredSince(long nanos) {
        return answeredSentNanos - nanos > 0;
    }

    /**
     * A message failed that would be tried again: whether the destination fails everybody.
     *
     * @param keys so many different ones say so; zero if none do
     */
    synchronized boolean failsEverybody(int keyHash, int keys) {
        long now = System.nanoTime();
        if (failing.isEmpty()) {
            failingSinceNanos = now;
        }
        if (failing.size() < keys) {
            failing.add(keyHash);
            hasFailing = true;
        }
        return keys > 0 && failing.size() >= keys && now - failingSinceNanos >= RelaySettings.OUTAGE_AFTER.toNanos();
    }

    /**
     * A message failed as if the destination was away: whether that is its own fault, because another one was accepted that was sent
     * after this one failed the last time. What is not known of that time, after a restart, because there were many since or because it
     * is long ago, speaks for the message.
     */
    synchronized boolean failsAlone(long position) {
        long now = System.nanoTime();
        Long before = turnedAway.remove(position);
        turnedAway.put(position, now);
        return before != null
                && now - before < RelaySettings.TURNED_AWAY_FOR.toNanos()
                && acceptedSentNanos - before > 0;
    }
}
