package io.postroom.server.overview;

import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;

/**
 * How everything stood at one moment.
 *
 * @param position the end of the journal
 * @param delays from stamp to settlement of what was settled during the last minute; empty if nothing was
 * @param footing what the database itself is at
 * @param work what is amiss besides deliveries
 */
public record Sample(
        Instant at,
        long position,
        List<SubscriptionState> subscriptions,
        List<Duration> delays,
        Footing footing,
        Work work) {
    public Sample {
        subscriptions = List.copyOf(subscriptions);
        delays = List.copyOf(delays);
    }

    /** Those that are meant to flow: copies that are done say nothing about today, and a pause is somebody's wish. */
    public List<SubscriptionState> current() {
        return subscriptions.stream()
                .filter(state -> !state.isDone() && state.pause() == null)
                .toList();
    }

    /** How many messages the slowest subscription is behind. */
    public long backlog() {
        return current().stream()
                .mapToLong(SubscriptionState::lagMessages)
                .max()
                .orElse(0);
    }

    /** How long the oldest message waits, behind a lane or put aside. */
    public Duration lag() {
        return current().stream()
                .flatMap(state -> Stream.of(state.lag(), state.putAside().oldest()))
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    /** How many messages were passed and have not gone through. */
    public long putAside() {
        return current().stream().mapToLong(state -> state.putAside().total()).sum();
    }

    /** Of messages and jobs: what the page of dead letters lists. */
    public long deadLetters() {
        return subscriptions.stream().mapToLong(SubscriptionState::deadLetters).sum() + work.failedJobs();
    }

    public long heldKeys() {
        return subscriptions.stream().mapToLong(SubscriptionState::heldKeys).sum();
    }
}
