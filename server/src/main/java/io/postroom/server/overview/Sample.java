package io.postroom.server.overview;

import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How everything stood at one moment.
 *
 * @param position the end of the journal
 * @param delays from stamp to settlement of what was settled during the last minute; empty if nothing was. A message is stamped some
 *     milliseconds after its commit: nobody can see it earlier
 * @param footing what the database itself is at
 * @param work what is amiss besides deliveries
 */
public record Sample(
        Instant at,
        long position,
        List<SubscriptionState> subscriptions,
        List<Delay> delays,
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

    /**
     * From commit to delivery. What has not been delivered counts with how long it has waited so far: while a destination is down the
     * figure grows.
     */
    Delay.@Nullable Percentiles commitToDelivery() {
        List<Delay> all = new ArrayList<>(delays);
        for (SubscriptionState state : current()) {
            all.addAll(Delay.stretch(Duration.ZERO, state.lag(), state.lagMessages()));
            all.addAll(Delay.stretch(
                    Duration.ZERO, state.putAside().oldest(), state.putAside().total()));
        }
        return Delay.percentiles(
                all.stream().filter(delay -> delay.messages() > 0).toList());
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
