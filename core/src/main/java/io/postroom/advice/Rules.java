package io.postroom.advice;

import io.postroom.advice.Advice.Reason;
import io.postroom.advice.Advice.Urgency;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Decides by figures and wishes alone. */
final class Rules {
    static final double CEILING_LOW = 20_000;
    static final double CEILING_HIGH = 50_000;
    /** Less is a burst. */
    static final Duration SUSTAINED_MIN = Duration.ofMinutes(10);

    static final int CONSUMERS_MAX = 10;
    static final int REPLAY_DAYS_MAX = 30;
    static final Duration CDC_BELOW = Duration.ofMillis(100);
    static final Duration POLLING_FROM = Duration.ofSeconds(1);
    static final long PARTITION_ROWS_MAX = 50_000_000;
    static final int LANES_MAX = 256;
    static final Duration LAG_MAX = Duration.ofSeconds(30);
    /** Of the ceiling: time enough to move before it is reached. */
    static final double WATCH_SHARE = 0.5;
    /** What a message writes besides its payload: rows and index entries of outbox and journal, roughly. */
    static final long MESSAGE_WAL_BYTES = 600;

    /** More than this, times a message's own, is not the messages'. */
    static final double WAL_FACTOR_MAX = 10;

    private static final String CEILING = "outbox guide: scale ceiling of PostgreSQL as outbox";
    private static final String TRIGGER = "outbox guide: migration triggers";
    private static final String TREE = "outbox guide: decision tree, latency requirement";

    private final Figures figures;
    private final Wishes wishes;

    Rules(Figures figures, Wishes wishes) {
        this.figures = figures;
        this.wishes = wishes;
    }

    List<Advice> advise() {
        List<Advice> advice = new ArrayList<>(List.of(capacity(), broker(), propagation()));
        figures.subscriptions().forEach(flow -> advice.add(lanes(flow)));
        advice.add(partitions());
        advice.add(writes());
        return advice;
    }

    private Advice capacity() {
        double peak = figures.peakPerSecond();
        Reason reason = new Reason(
                "busiest minute",
                rate(peak),
                rate(CEILING_LOW) + " to " + rate(CEILING_HIGH),
                CEILING,
                peak > CEILING_LOW);
        String share = Math.round(100 * peak / CEILING_LOW) + " % of the lower bound of the ceiling";
        if (peak > CEILING_HIGH) {
            return new Advice(
                    Topic.CAPACITY,
                    Urgency.ACT,
                    "beyond what one database is known to carry: spread it",
                    List.of(reason));
        }
        if (peak > CEILING_LOW) {
            return new Advice(
                    Topic.CAPACITY,
                    Urgency.ACT,
                    "in the range where one database ends: " + share
                            + "; measure your own, and prepare to move readers",
                    List.of(reason));
        }
        return peak >= WATCH_SHARE * CEILING_LOW
                ? new Advice(Topic.CAPACITY, Urgency.WATCH, "there is room, but plan ahead: " + share, List.of(reason))
                : new Advice(Topic.CAPACITY, Urgency.STAY, "there is room: " + share, List.of(reason));
    }

    private Advice broker() {
        List<Reason> reasons = List.of(
                new Reason(
                        "sustained throughput",
                        rate(figures.messagesPerSecond()) + " over "
                                + figures.window().toMinutes() + " min",
                        "above " + rate(CEILING_LOW) + " for " + SUSTAINED_MIN.toMinutes() + " min",
                        TRIGGER,
                        figures.messagesPerSecond() > CEILING_LOW
                                && figures.window().compareTo(SUSTAINED_MIN) >= 0),
                new Reason(
                        "consumers of the same messages",
                        Integer.toString(figures.consumers()),
                        "above " + CONSUMERS_MAX,
                        TRIGGER,
                        figures.consumers() > CONSUMERS_MAX),
                new Reason(
                        "replay",
                        wishes.replayDays() == 0 ? "not named" : wishes.replayDays() + " days",
                        "above " + REPLAY_DAYS_MAX + " days",
                        TRIGGER,
                        wishes.replayDays() > REPLAY_DAYS_MAX),
                new Reason("regions", Integer.toString(wishes.regions()), "above 1", TRIGGER, wishes.regions() > 1));
        String hit = reasons.stream().filter(Reason::passed).map(Reason::name).collect(Collectors.joining(", "));
        return hit.isEmpty()
                ? new Advice(Topic.BROKER, Urgency.STAY, "stay on PostgreSQL: no trigger was hit", reasons)
                : new Advice(
                        Topic.BROKER,
                        Urgency.ACT,
                        "move readers to Kafka, see docs/operating/outgrow.md; triggers hit: " + hit,
                        reasons);
    }

    private Advice propagation() {
        Duration wish = wishes.latency();
        Duration delay = figures.delay99();
        Reason wanted = new Reason(
                "latency that is needed",
                wish == null ? "not named" : millis(wish),
                "below " + millis(CDC_BELOW) + " CDC, from " + millis(POLLING_FROM) + " polling",
                TREE,
                wish != null && wish.compareTo(CDC_BELOW) < 0);
        if (wish == null || wish.compareTo(POLLING_FROM) >= 0) {
            return new Advice(
                    Topic.PROPAGATION,
                    Urgency.STAY,
                    "polling: the simplest that is soon enough"
                            + (wish == null ? "; name a latency if you need one" : ""),
                    List.of(wanted));
        }
        boolean late = delay != null && delay.compareTo(wish) > 0;
        Reason measured = new Reason(
                "stamp to settlement, 99 of 100",
                delay == null ? "nothing was settled" : millis(delay),
                millis(wish),
                "the latency you need",
                late);
        if (late) {
            return new Advice(
                    Topic.PROPAGATION,
                    Urgency.ACT,
                    "change data capture (docs/debezium.md), once lag, lanes and the destination are not the cause",
                    List.of(wanted, measured));
        }
        boolean unknown = delay == null && wish.compareTo(CDC_BELOW) < 0;
        return new Advice(
                Topic.PROPAGATION,
                unknown ? Urgency.WATCH : Urgency.STAY,
                unknown
                        ? "the tree says change data capture; deliver something first: relays that are woken may be soon enough"
                        : "polling: relays are woken by stamps and are soon enough",
                List.of(wanted, measured));
    }

    private Advice lanes(Figures.Flow flow) {
        Reason relays = new Reason(
                "lanes of " + flow.name(),
                Integer.toString(flow.lanes()),
                "no fewer than live relays: " + figures.relays(),
                "a lane has one relay at a time",
                flow.lanes() < figures.relays());
        boolean isLate = flow.lag().compareTo(LAG_MAX) > 0;
        boolean isServed = flow.lanesLeased() >= flow.lanes();
        boolean isSlow = flow.outPerSecond() <= figures.messagesPerSecond() * 1.1;
        Reason lag = new Reason(
                "lag of " + flow.name(),
                seconds(flow.lag()) + ", out " + rate(flow.outPerSecond()) + ", in "
                        + rate(figures.messagesPerSecond()),
                "above " + seconds(LAG_MAX) + " and not shrinking",
                "docs/operating/lag.md",
                isLate && isServed && isSlow && !flow.isUnavailable());
        if (flow.isUnavailable()) {
            Reason circuit = new Reason(
                    "destination of " + flow.name(),
                    "takes nothing at the moment",
                    "takes messages",
                    "docs/operating/destination-down.md",
                    true);
            return new Advice(
                    Topic.LANES,
                    Urgency.STAY,
                    "nothing to say of the lanes of " + flow.name()
                            + " while its destination takes nothing: more of them would not help; mend that first",
                    List.of(circuit, relays, lag));
        }
        if (lag.passed() && flow.lanes() < LANES_MAX) {
            int more = Math.min(LANES_MAX, Math.max(flow.lanes() * 2, figures.relays()));
            return new Advice(
                    Topic.LANES,
                    Urgency.ACT,
                    "postroom subscription lanes " + flow.name() + " " + more
                            + ", if the destination takes more and there are more keys than lanes",
                    List.of(relays, lag));
        }
        if (relays.passed()) {
            return new Advice(
                    Topic.LANES,
                    Urgency.WATCH,
                    "some relays have nothing to do for " + flow.name() + ": postroom subscription lanes " + flow.name()
                            + " " + Math.min(LANES_MAX, figures.relays()),
                    List.of(relays, lag));
        }
        return new Advice(
                Topic.LANES, Urgency.STAY, flow.lanes() + " lanes are right for " + flow.name(), List.of(relays, lag));
    }

    private Advice partitions() {
        Figures.Storage storage = figures.storage();
        Reason rows = new Reason(
                "messages in the busiest day",
                Long.toString(storage.largestDayRows()),
                "above " + PARTITION_ROWS_MAX,
                "outbox guide: partition beyond 50 million rows",
                storage.largestDayRows() > PARTITION_ROWS_MAX);
        Reason days = new Reason(
                "days kept",
                storage.days() + ", " + size(storage.bytes()) + " in all",
                "above " + REPLAY_DAYS_MAX,
                "outbox guide: hot for 30 days",
                storage.days() > Math.max(REPLAY_DAYS_MAX, wishes.replayDays()));
        if (rows.passed()) {
            return new Advice(
                    Topic.PARTITIONS,
                    Urgency.ACT,
                    "a day is too large for one partition: keep fewer days, and move readers to a broker that keeps them",
                    List.of(rows, days));
        }
        return days.passed()
                ? new Advice(
                        Topic.PARTITIONS,
                        Urgency.WATCH,
                        "drop days that nobody needs, see docs/operating/disk.md; daily partitions are right",
                        List.of(rows, days))
                : new Advice(Topic.PARTITIONS, Urgency.STAY, "daily partitions are right", List.of(rows, days));
    }

    /** WAL is the whole server's: an upper bound of what messages cost. */
    private Advice writes() {
        boolean isKnown = figures.window().compareTo(SUSTAINED_MIN) >= 0 && figures.messagesPerSecond() >= 1;
        double own = figures.payloadBytes() + MESSAGE_WAL_BYTES;
        double each = isKnown ? figures.walBytesPerSecond() / figures.messagesPerSecond() : 0;
        Reason reason = new Reason(
                "WAL for each message",
                isKnown ? size(Math.round(each)) : "not known before " + SUSTAINED_MIN.toMinutes() + " min of traffic",
                "above " + size(Math.round(WAL_FACTOR_MAX * own)) + ", " + Math.round(WAL_FACTOR_MAX)
                        + " times a message of " + size(figures.payloadBytes()),
                "docs/operating/advise.md",
                each > WAL_FACTOR_MAX * own);
        return reason.passed()
                ? new Advice(
                        Topic.WRITES,
                        Urgency.WATCH,
                        "most WAL of this server is not that of messages: look at max_wal_size and the business's own writes",
                        List.of(reason))
                : new Advice(Topic.WRITES, Urgency.STAY, "nothing to do about WAL", List.of(reason));
    }

    private static String rate(double value) {
        return String.format(Locale.ROOT, value >= 100 ? "%.0f/s" : "%.1f/s", value);
    }

    private static String millis(Duration value) {
        return value.toMillis() + " ms";
    }

    private static String seconds(Duration value) {
        return value.toSeconds() + " s";
    }

    private static String size(long bytes) {
        String[] units = {"B", "kB", "MB", "GB", "TB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1000 && unit < units.length - 1) {
            value /= 1000;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    }
}
