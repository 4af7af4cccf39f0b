package io.postroom.job;

import io.postroom.message.Codec;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** How a group of workers works; made by its {@link Workers.Builder}. */
record WorkerSettings(
        UUID id,
        String name,
        List<String> queues,
        Duration lease,
        Duration stopGrace,
        Duration pollMin,
        Duration pollMax,
        Codec codec) {

    /** A third of the lease: two beats may be lost. */
    Duration heartbeat() {
        return lease.dividedBy(3);
    }

    /** How long after a beat was sent the worker trusts itself: a little less than others do. */
    long selfTrustNanos() {
        return lease.toNanos() / 10 * 9;
    }
}
