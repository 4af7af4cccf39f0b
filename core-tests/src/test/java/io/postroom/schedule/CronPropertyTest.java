package io.postroom.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cron expressions made up at random, beside a clock that is watched minute by minute. */
class CronPropertyTest {
    private static final int ROUNDS = Boolean.getBoolean("postroom.long") ? 5_000 : 60;
    private static final Duration WINDOW = Duration.ofDays(2);

    /** Around each time that clocks are put forward or back, where it goes wrong if it does. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Europe/Berlin",
                "America/New_York",
                "Australia/Lord_Howe",
                "Asia/Kathmandu",
                "America/Sao_Paulo",
                "Africa/Casablanca",
                "Africa/Cairo",
                "Pacific/Apia",
                "Asia/Tehran",
                "America/Caracas",
                "UTC"
            })
    void firesAsAClockThatIsWatchedMinuteByMinute(String zone) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        ZoneId id = ZoneId.of(zone);
        for (int round = 0; round < ROUNDS; round++) {
            String expression = RandomCron.make(random);
            Cron cron;
            try {
                cron = Cron.parse(expression, id);
            } catch (io.postroom.PostroomException e) {
                assertThat(e.code()).as("seed %d: %s", seed, expression).isEqualTo("schedule.never-fires");
                continue;
            }
            Instant from = somewhere(random, id).minus(WINDOW.dividedBy(2));
            Instant to = from.plus(WINDOW);
            assertThat(fires(cron, from, to))
                    .as("seed %d: %s in %s from %s", seed, expression, zone, from)
                    .isEqualTo(watched(expression, id, from, to));
        }
    }

    /** A change of the clock between 1975 and 2035, if there are any; else any time. */
    private static Instant somewhere(Random random, ZoneId zone) {
        Instant any = Instant.parse("1975-01-01T00:00:00Z").plus(Duration.ofHours(random.nextInt(60 * 366 * 24)));
        ZoneOffsetTransition change = zone.getRules().nextTransition(any);
        Instant near = change == null ? any : change.getInstant();
        return near.isBefore(Instant.parse("2037-01-01T00:00:00Z"))
                ? near.plus(Duration.ofMinutes(random.nextInt(240) - 120))
                : any;
    }

    private static List<Instant> fires(Cron cron, Instant from, Instant to) {
        List<Instant> fires = new ArrayList<>();
        for (Instant next = cron.next(from); !next.isAfter(to); next = cron.next(next)) {
            fires.add(next);
        }
        return fires;
    }

    /**
     * What somebody sees who looks at the clock every minute. For every hour of the day: it fires when the clock shows what fits. Otherwise
     * it fires when the clock shows what fits and never did before; if it has jumped over something that fits, at once.
     */
    private static List<Instant> watched(String expression, ZoneId zone, Instant from, Instant to) {
        NaiveCron naive = new NaiveCron(expression);
        List<Instant> fires = new ArrayList<>();
        // Before, so that what the clock has shown already is known.
        Instant begin = from.minus(Duration.ofHours(6));
        LocalDateTime shown = LocalDateTime.ofInstant(begin, zone).minusMinutes(1);
        for (Instant now = begin; !now.isAfter(to); now = now.plus(Duration.ofMinutes(1))) {
            LocalDateTime local = LocalDateTime.ofInstant(now, zone);
            boolean fits = false;
            if (naive.isEveryHour()) {
                fits = naive.fits(local);
            } else {
                while (shown.isBefore(local)) {
                    shown = shown.plusMinutes(1);
                    fits |= naive.fits(shown);
                }
            }
            if (fits && now.isAfter(from)) {
                fires.add(now);
            }
        }
        return fires;
    }

    /** However it is asked, the answers are the same: from each instant between two, the next is the later one. */
    @Test
    void theNextOfAnyInstantBetweenTwoIsTheLater() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < ROUNDS; round++) {
            ZoneId zone = ZoneId.of(random.nextBoolean() ? "Australia/Lord_Howe" : "Europe/Berlin");
            String expression = random.nextInt(60) + " " + RandomCron.make(random);
            Cron cron;
            try {
                cron = Cron.parse(expression, zone);
            } catch (io.postroom.PostroomException e) {
                continue;
            }
            Instant first = cron.next(somewhere(random, zone).minusSeconds(random.nextInt(7_200)));
            Instant second = cron.next(first);
            long between = Duration.between(first, second).toSeconds();
            Instant within = first.plusSeconds(random.nextLong(between)).plusNanos(random.nextInt(1_000_000_000));
            assertThat(cron.next(within.isBefore(second) ? within : first))
                    .as("seed %d: %s in %s after %s", seed, expression, zone, within)
                    .isEqualTo(second);
            assertThat(cron.next(second.minusNanos(1))).isEqualTo(second);
        }
    }
}
