package io.postroom.relay;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Lets the lanes of one relay send messages that a relay may have died of: those of one lane at a time, and in the end a single one
 * while nothing else is on its way. So if the process ends, it is known in the end of which. Safe for use by many threads.
 */
final class Suspects {
    /** Lanes that were about to send when a suspect was isolated have done so by then. */
    private static final long HUSH_NANOS = RelaySettings.HUSH.toNanos();

    /** How many messages are with sinks. */
    private final LongAdder flying = new LongAdder();

    private @Nullable Object lane;
    private volatile @Nullable Object isolated;
    private long hushUntilNanos;

    /** Whether this lane may send some now. */
    synchronized boolean enter(Object who) {
        if (lane != null && lane != who) {
            return false;
        }
        lane = who;
        return true;
    }

    /** The lane has a single one: nothing else is to be on its way while that is. */
    synchronized void isolate(Object who) {
        hushUntilNanos = System.nanoTime() + HUSH_NANOS;
        isolated = who;
    }

    synchronized void leave(Object who) {
        if (lane == who) {
            lane = null;
            isolated = null;
        }
    }

    /** Whether a lane may send; one that has isolated its suspect may when it is quiet. */
    boolean allow(Object who) {
        return isolated == null || isolated == who && isQuiet();
    }

    private synchronized boolean isQuiet() {
        return hushUntilNanos - System.nanoTime() <= 0 && flying.sum() == 0;
    }

    /** A message goes to a sink. */
    void fly() {
        flying.increment();
    }

    /** Messages were answered, or nobody waits for an answer any more. */
    void land(int messages) {
        flying.add(-messages);
    }
}
