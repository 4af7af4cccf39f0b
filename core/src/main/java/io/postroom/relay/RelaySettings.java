package io.postroom.relay;

import io.postroom.retry.Backoff;
import java.time.Duration;

/** How a relay works; made by its {@link Relay.Builder}. */
record RelaySettings(
        String name,
        Duration lease,
        Duration settleInterval,
        Duration pollMin,
        Duration pollMax,
        Duration stopGrace,
        int batchMessages,
        long batchBytes,
        Backoff backoff) {
    /** How many messages a lane may have beyond the last settled one before it stops reading. */
    static final int WINDOW_MESSAGES_MAX = 100_000;

    /** How many batches' worth of bytes a lane holds in memory at most. */
    static final int WINDOW_BATCHES = 4;

    /** Messages that have no position yet are counted no further than this as lag. */
    static final int UNSTAMPED_MAX = 10_000;

    /** However long a sink asks to be left alone, it is asked again after this time. */
    static final Duration PAUSE_MAX = Duration.ofHours(1);

    /** How many messages are noted before they are sent, where the last relay may have died of one of them. */
    static final int CAUTIOUS_BATCH = 100;

    /** After this time without an answer a message is noted among the deliveries, and the position passes it. */
    static final Duration SLOW = Duration.ofSeconds(1);

    /** How often it is remembered when a lane was where. */
    static final Duration MARK_INTERVAL = Duration.ofSeconds(1);

    /** How many deliveries a lane has claimed at once. */
    static final int CLAIM_MAX = 200;

    /** After so much time with what was read a lane looks whether something else is due. */
    static final Duration LOOK_UP = Duration.ofMillis(100);

    /** How often a lane asks whether it may send a message that a relay may have died of. */
    static final Duration SUSPECT_PAUSE = Duration.ofMillis(50);

    /** How long a message that is to be sent alone waits for lanes that were just about to send. */
    static final Duration HUSH = Duration.ofMillis(10);

    /** How often lanes ask whether the one message that is sent alone has come through. */
    static final Duration QUIET_PAUSE = Duration.ofMillis(5);

    /** How much later than the probe a message goes that was given no answer: another one is to be the probe. */
    static final Duration STAND_ASIDE = Duration.ofSeconds(1);

    /** A destination that accepts nothing for so long, and fails messages of many keys, is held to be at fault itself. */
    static final Duration OUTAGE_AFTER = Duration.ofSeconds(2);

    /**
     * How long a probe of such a destination waits at most: perhaps it is well and many messages in a row are not, and one that it takes
     * must be found.
     */
    static final Duration OUTAGE_PROBE_MAX = Duration.ofSeconds(1);

    /** Of so many messages it is known that they failed as if the destination was away. */
    static final int TURNED_AWAY_MAX = 10_000;

    /** And for so long. */
    static final Duration TURNED_AWAY_FOR = Duration.ofMinutes(10);

    /** How many threads of a lane may hang in its sink before it waits for one of them. */
    static final int HUNG_MAX = 8;

    /** A third of the lease: two beats may be missed before anybody takes over. */
    Duration heartbeat() {
        return lease.dividedBy(3);
    }

    long heartbeatNanos() {
        return lease.toNanos() / 3;
    }

    /** After this time without a renewal the relay itself stops sending; the rest of the lease is margin. */
    long selfTrustNanos() {
        return lease.toNanos() / 10 * 9;
    }
}
