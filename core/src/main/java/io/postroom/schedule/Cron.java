package io.postroom.schedule;

import io.postroom.PostroomException;
import io.postroom.retry.Spelling;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

/**
 * A cron expression in a time zone.
 *
 * <p>Five fields as in crontab (minute, hour, day of month, month, day of week), or six with seconds before them as in Spring; or one of
 * {@code @hourly @daily @midnight @weekly @monthly @yearly @annually}. In a field: numbers, names, lists, ranges, steps, {@code ?} for
 * {@code *} in a field for days, {@code L L-3 LW 15W} in days of the month, {@code FRIL FRI#2} in days of the week. Sunday is 0 or 7. What
 * other programs understand differently is refused, with what to write instead. See docs/schedules.md.
 *
 * <p>When clocks are put forward or back, there are two kinds. An expression for every hour of the day ({@code *} or all 24) goes by elapsed
 * time: it fires whenever the clock shows a time that fits, so that {@code 0/15 * * * *} fires every 15 minutes throughout. Any other is a time of
 * day: it fires once for each such time, at the first instant at which the clock shows it or a later one. So a time that is skipped fires
 * when the clock has been put forward (several skipped ones together, once), and a time that comes twice fires the first time.
 *
 * <p>Immutable: safe for use by many threads.
 */
public final class Cron implements Recurrence {
    public static final int EXPRESSION_LENGTH_MAX = 250;

    private final String expression;
    private final ZoneId zone;
    private final CronText text;
    private final LocalTimes times;

    private Cron(String expression, ZoneId zone, CronText text, LocalTimes times) {
        this.expression = expression;
        this.zone = zone;
        this.text = text;
        this.times = times;
    }

    /** Reads an expression; throws if it means nothing, or nothing certain, or a day that never comes. */
    public static Cron parse(String expression, ZoneId zone) {
        String normal = expression.strip().replaceAll("\\s+", " ");
        CronText text = CronText.read(normal);
        LocalTimes times = text.times();
        if (!times.isPossible()) {
            throw new PostroomException(
                    "schedule.never-fires",
                    CronText.attempt(normal)
                            + ": it never fires, there is no such day in any year; check day and month");
        }
        return new Cron(normal, zone, text, times);
    }

    /** The same, with the name of a time zone such as {@code Europe/Berlin}. */
    public static Cron parse(String expression, String zone) {
        try {
            return parse(expression, ZoneId.of(zone));
        } catch (DateTimeException e) {
            throw new PostroomException(
                    "schedule.zone-unknown",
                    CronText.attempt(expression) + ": there is no time zone '" + CronText.excerpt(zone)
                            + "'; write a name such as Europe/Berlin, or UTC"
                            + Spelling.didYouMean(
                                    zone,
                                    ZoneId.getAvailableZoneIds().stream()
                                            .sorted()
                                            .toList()),
                    e);
        }
    }

    /** As it was given, with single spaces. */
    public String expression() {
        return expression;
    }

    public ZoneId zone() {
        return zone;
    }

    @Override
    public Instant next(Instant after) {
        Years.check(after);
        return times.isEveryHour() ? nextElapsed(after) : nextOfDay(after);
    }

    /** The first instant whose local time fits. */
    private Instant nextElapsed(Instant after) {
        ZoneRules rules = zone.getRules();
        Instant from = after.truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
        while (true) {
            ZoneOffset offset = rules.getOffset(from);
            Instant found =
                    times.nextOrSame(LocalDateTime.ofInstant(from, offset)).toInstant(offset);
            ZoneOffsetTransition change = rules.nextTransition(from);
            if (change == null || found.isBefore(change.getInstant())) {
                return found;
            }
            from = change.getInstant();
        }
    }

    /** The first instant at which a local time that fits is shown or passed for the first time. */
    private Instant nextOfDay(Instant after) {
        LocalDateTime local = notYetShown(after);
        while (true) {
            local = times.nextOrSame(local);
            Instant shown = firstShown(local);
            if (shown.isAfter(after)) {
                return shown;
            }
            local = local.plusSeconds(1);
        }
    }

    /** The least whole second that the clock has not shown or passed before. */
    private LocalDateTime notYetShown(Instant after) {
        ZoneRules rules = zone.getRules();
        LocalDateTime local =
                LocalDateTime.ofInstant(after, rules.getOffset(after)).truncatedTo(ChronoUnit.SECONDS);
        ZoneOffsetTransition change = rules.getTransition(local);
        boolean again = change != null && change.isOverlap() && !after.isBefore(change.getInstant());
        return again ? change.getDateTimeBefore() : local.plusSeconds(1);
    }

    private Instant firstShown(LocalDateTime local) {
        ZoneRules rules = zone.getRules();
        ZoneOffsetTransition change = rules.getTransition(local);
        if (change == null) {
            return local.toInstant(rules.getOffset(local));
        }
        return change.isGap() ? change.getInstant() : local.toInstant(change.getOffsetBefore());
    }

    @Override
    public String describe() {
        return CronWords.describe(text) + ", " + zone.getId();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Cron cron && expression.equals(cron.expression) && zone.equals(cron.zone);
    }

    @Override
    public int hashCode() {
        return 31 * expression.hashCode() + zone.hashCode();
    }

    @Override
    public String toString() {
        return expression + " " + zone.getId();
    }
}
