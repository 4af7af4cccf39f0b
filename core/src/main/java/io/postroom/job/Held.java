package io.postroom.job;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** The claims that this process knows it has: waiting, running, or ended and not written yet. Safe for use by many threads. */
final class Held {
    private final Map<Long, Long> fences = new ConcurrentHashMap<>();

    void add(ClaimedJob job) {
        fences.put(job.id(), job.fence());
    }

    /** Nothing happens if the job has been claimed anew meanwhile. */
    void remove(ClaimedJob job) {
        fences.remove(job.id(), job.fence());
    }

    boolean isEmpty() {
        return fences.isEmpty();
    }

    /** The fence of each, by the job's id. */
    SortedMap<Long, Long> fences() {
        return new TreeMap<>(fences);
    }
}
