package io.postroom.fault;

import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Adds up what one relay tells. */
final class Counters implements Telemetry {
    final AtomicLong published = new AtomicLong();
    final AtomicLong stamped = new AtomicLong();
    final AtomicLong restamped = new AtomicLong();
    final AtomicLong delivered = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final AtomicLong settled = new AtomicLong();
    final AtomicLong staleSettles = new AtomicLong();
    final AtomicLong acquired = new AtomicLong();
    final AtomicLong takeovers = new AtomicLong();
    final AtomicLong lost = new AtomicLong();
    final AtomicLong released = new AtomicLong();

    @Override
    public void published(int messages) {
        published.addAndGet(messages);
    }

    @Override
    public void stamped(long messages, Duration took) {
        stamped.addAndGet(messages);
    }

    @Override
    public void restamped(long messages) {
        restamped.addAndGet(messages);
    }

    @Override
    public void delivered(String subscription, long messages) {
        delivered.addAndGet(messages);
    }

    @Override
    public void failed(Failure failure) {
        failed.incrementAndGet();
    }

    @Override
    public void settled(String subscription, int lane, long position) {
        settled.incrementAndGet();
    }

    @Override
    public void staleSettle(String subscription, int lane) {
        staleSettles.incrementAndGet();
    }

    @Override
    public void laneAcquired(String subscription, int lane, boolean takeover) {
        acquired.incrementAndGet();
        if (takeover) {
            takeovers.incrementAndGet();
        }
    }

    @Override
    public void laneReleased(String subscription, int lane, boolean wasLost) {
        released.incrementAndGet();
        if (wasLost) {
            lost.incrementAndGet();
        }
    }
}
