package io.postroom.server.dev;

import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts what flows. */
final class Flow implements Telemetry {
    private final LongAdder stamped = new LongAdder();
    private final Map<String, LongAdder> delivered = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> failed = new ConcurrentHashMap<>();

    @Override
    public void stamped(long messages, Duration took) {
        stamped.add(messages);
    }

    @Override
    public void delivered(String subscription, long messages) {
        delivered.computeIfAbsent(subscription, ignored -> new LongAdder()).add(messages);
    }

    @Override
    public void failed(String subscription, String eventType, String reason) {
        failed.computeIfAbsent(subscription, ignored -> new LongAdder()).increment();
    }

    long stamped() {
        return stamped.sum();
    }

    long delivered(String subscription) {
        return sum(delivered, subscription);
    }

    long failed(String subscription) {
        return sum(failed, subscription);
    }

    private static long sum(Map<String, LongAdder> counts, String subscription) {
        LongAdder count = counts.get(subscription);
        return count == null ? 0 : count.sum();
    }
}
