package io.postroom.server.overview;

import static org.assertj.core.api.Assertions.assertThat;

import io.postroom.subscription.Pause;
import io.postroom.subscription.PutAside;
import io.postroom.subscription.SubscriptionState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TroublesTest {
    private static final Instant NOW = Instant.parse("2026-11-16T12:00:00Z");
    private static final Footing FIRM = new Footing(1, 7, Duration.ZERO, null, null, 0);

    private static SubscriptionState state(
            String name,
            int leased,
            long lag,
            Duration age,
            @Nullable Pause pause,
            @Nullable Instant unavailableSince,
            long heldKeys,
            long deadLetters) {
        return state(name, leased, lag, age, pause, unavailableSince, heldKeys, deadLetters, PutAside.NOTHING);
    }

    private static SubscriptionState aside(String name, @Nullable Pause pause, PutAside putAside) {
        return state(name, 2, 0, Duration.ZERO, pause, null, 0, 0, putAside);
    }

    private static SubscriptionState state(
            String name,
            int leased,
            long lag,
            Duration age,
            @Nullable Pause pause,
            @Nullable Instant unavailableSince,
            long heldKeys,
            long deadLetters,
            PutAside putAside) {
        return new SubscriptionState(
                name,
                2,
                null,
                leased,
                "key",
                null,
                null,
                null,
                "continue",
                "quick",
                NOW,
                100 - lag,
                lag,
                age,
                pause,
                unavailableSince,
                heldKeys,
                deadLetters,
                putAside,
                null,
                null,
                0,
                null,
                false,
                "postgres");
    }

    private static SubscriptionState fine(String name) {
        return state(name, 2, 0, Duration.ZERO, null, null, 0, 0);
    }

    private static Sample sample(Footing footing, SubscriptionState... states) {
        return new Sample(NOW, 100, List.of(states), List.of(), footing, Work.FINE);
    }

    private static List<String> whats(Sample sample) {
        return Troubles.of(sample).stream().map(Trouble::what).toList();
    }

    @Test
    void saysThatAllIsWellInASentence() {
        Sample sample = sample(FIRM, fine("billing"));
        assertThat(Troubles.of(sample)).isEmpty();
        assertThat(Troubles.sentence(sample, List.of())).isEqualTo("Everything is delivered.");
        assertThat(Troubles.sentence(sample(FIRM), List.of())).contains("nobody subscribes");
    }

    @Test
    void ranksWhatIsStuckBeforeWhatHurtsBeforeWhatSomebodyWanted() {
        Sample sample = sample(
                FIRM,
                state("a", 2, 0, Duration.ZERO, null, null, 0, 3),
                state("b", 0, 50, Duration.ofMinutes(5), new Pause(NOW, "anna", "lunch"), null, 0, 0),
                state("c", 2, 7, Duration.ofSeconds(1), null, NOW, 0, 0),
                state("d", 0, 9, Duration.ofMinutes(1), null, null, 0, 0),
                state("e", 2, 1, Duration.ofSeconds(1), null, null, 1, 0));
        assertThat(whats(sample))
                .containsExactly(
                        "Nobody serves d",
                        "The destination of c takes nothing",
                        "1 key of e held",
                        "3 dead letters of a",
                        "b is paused");
        assertThat(Troubles.sentence(sample, Troubles.of(sample))).isEqualTo("3 things need you now.");
    }

    @Test
    void whatWasPassedAndDidNotGoThroughIsNotDelivered() {
        PutAside young = new PutAside(2, 1, 40, 0, Duration.ofMinutes(1));
        Sample sample = sample(FIRM, aside("a", null, young));
        assertThat(Troubles.of(sample)).isEmpty();
        assertThat(Troubles.sentence(sample, List.of())).isEqualTo("Everything is flowing.");
        assertThat(sample.lag()).isEqualTo(Duration.ofMinutes(1));
        assertThat(sample.putAside()).isEqualTo(43);

        PutAside old = new PutAside(2, 1, 40, 0, Duration.ofMinutes(6));
        Trouble retried = Troubles.of(sample(FIRM, aside("a", null, old))).get(0);
        assertThat(retried.level()).isEqualTo(Trouble.Level.WARNING);
        assertThat(retried.what()).isEqualTo("3 messages of a tried again and again");
        assertThat(retried.why()).isEqualTo("the oldest for 6m 0s; 40 more behind them");
        assertThat(whats(sample(FIRM, aside("a", new Pause(NOW, "anna", "lunch"), old))))
                .containsExactly("a is paused");
        assertThat(whats(sample(FIRM, state("a", 2, 0, Duration.ZERO, null, NOW, 0, 0, old))))
                .containsExactly("The destination of a takes nothing");

        PutAside unreadable = new PutAside(0, 0, 0, 1, Duration.ofSeconds(2));
        Trouble stuck = Troubles.of(sample(FIRM, aside("a", null, unreadable))).get(0);
        assertThat(stuck.level()).isEqualTo(Trouble.Level.BAD);
        assertThat(stuck.what()).isEqualTo("1 message of a cannot be read");
    }

    @Test
    void tellsOfAFootingThatGivesWay() {
        assertThat(whats(sample(new Footing(0, 1, Duration.ofMinutes(20), 77, "report", 0), fine("billing"))))
                .containsExactly("No relay is running", "Partitions run out", "A transaction is open for 20m 0s");
    }

    @Test
    void aPauseHidesNoLagOfOthersAndIsNoBacklog() {
        Sample sample = sample(
                FIRM, state("b", 0, 50, Duration.ofMinutes(5), new Pause(NOW, "anna", "lunch"), null, 0, 0), fine("c"));
        assertThat(sample.backlog()).isZero();
        assertThat(sample.lag()).isZero();
    }

    @Test
    void jobsAndViewsAreTroublesTooWhereNobodySubscribes() {
        Work work = new Work(10_000, List.of("mail"), List.of("shop.sales"));
        Sample sample = new Sample(NOW, 100, List.of(), List.of(), FIRM, work);
        List<Trouble> troubles = Troubles.of(sample);
        assertThat(troubles)
                .extracting(Trouble::what)
                .containsExactly(
                        "Nobody works on queue mail", "10\u202f000+ failed jobs", "Refreshing shop.sales fails");
        assertThat(Troubles.sentence(sample, troubles)).isEqualTo("One thing needs you now.");
        assertThat(sample.deadLetters()).isEqualTo(10_000);
    }
}
