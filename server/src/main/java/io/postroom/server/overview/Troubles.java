package io.postroom.server.overview;

import io.postroom.server.web.Shown;
import io.postroom.subscription.Pause;
import io.postroom.subscription.PutAside;
import io.postroom.subscription.SubscriptionState;
import io.postroom.subscription.Subscriptions;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Finds what is wrong in a sample, worst first, and says how things stand in a sentence. Asks nobody. */
final class Troubles {
    private static final Duration LAG_MAX = Duration.ofSeconds(30);
    private static final Duration RETRIES_MAX = Duration.ofMinutes(5);
    private static final Duration TRANSACTION_MAX = Duration.ofMinutes(10);
    private static final int DAYS_AHEAD_MIN = 2;

    private final Sample sample;
    private final List<Trouble> found = new ArrayList<>();

    private Troubles(Sample sample) {
        this.sample = sample;
    }

    static List<Trouble> of(Sample sample) {
        Troubles troubles = new Troubles(sample);
        troubles.footing();
        troubles.work();
        sample.subscriptions().forEach(troubles::subscription);
        return troubles.found.stream()
                .sorted(Comparator.comparing(Trouble::level)
                        .thenComparing(Comparator.comparingLong(Trouble::weight).reversed()))
                .toList();
    }

    /** The health in a sentence. */
    static String sentence(Sample sample, List<Trouble> troubles) {
        long bad = troubles.stream()
                .filter(each -> each.level() == Trouble.Level.BAD)
                .count();
        long warnings = troubles.stream()
                .filter(each -> each.level() == Trouble.Level.WARNING)
                .count();
        if (sample.subscriptions().isEmpty() && troubles.isEmpty()) {
            return "Nothing to deliver yet: nobody subscribes.";
        }
        if (bad > 0) {
            return bad == 1 ? "One thing needs you now." : bad + " things need you now.";
        }
        String flow =
                sample.backlog() == 0 && sample.putAside() == 0 ? "Everything is delivered" : "Everything is flowing";
        return warnings == 0
                ? flow + "."
                : flow + "; " + (warnings == 1 ? "one thing wants" : warnings + " things want") + " a look.";
    }

    private void footing() {
        Footing footing = sample.footing();
        if (footing.relays() == 0 && !sample.current().isEmpty()) {
            add(
                    Trouble.Level.BAD,
                    Long.MAX_VALUE,
                    "No relay is running",
                    "nothing is stamped or delivered until one starts",
                    "/subscriptions",
                    "postroom relay --config relay.yaml");
        }
        if (footing.daysAhead() < DAYS_AHEAD_MIN) {
            add(
                    Trouble.Level.WARNING,
                    1_000_000,
                    "Partitions run out",
                    footing.daysAhead() <= 0
                            ? "today's messages go to the default partition; let some process run maintenance"
                            : "the last one made ahead is for today; let some process run maintenance",
                    "/database",
                    null);
        }
        if (footing.oldestTransaction().compareTo(TRANSACTION_MAX) > 0) {
            add(
                    Trouble.Level.WARNING,
                    footing.oldestTransaction().toSeconds(),
                    "A transaction is open for " + Shown.duration(footing.oldestTransaction()),
                    "process " + footing.oldestPid() + " (" + footing.oldestApplication()
                            + ") keeps dead rows from being removed",
                    "/database",
                    null);
        }
    }

    private void work() {
        Work work = sample.work();
        for (String queue : work.unserved()) {
            add(
                    Trouble.Level.BAD,
                    0,
                    "Nobody works on queue " + queue,
                    "jobs wait longer than a minute, and no worker serves it",
                    "/queues",
                    "postroom job queue list");
        }
        if (work.failedJobs() > 0) {
            add(
                    Trouble.Level.WARNING,
                    work.failedJobs(),
                    Shown.bounded(work.failedJobs(), Work.COUNT_MAX)
                            + (work.failedJobs() == 1 ? " failed job" : " failed jobs"),
                    "given up, and neither retried nor discarded",
                    "/jobs?state=failed",
                    "postroom job list --state failed");
        }
        for (String view : work.failingViews()) {
            add(
                    Trouble.Level.WARNING,
                    0,
                    "Refreshing " + view + " fails",
                    "it shows what it showed before",
                    "/read-models",
                    "postroom view list");
        }
    }

    private void subscription(SubscriptionState state) {
        String name = state.name();
        String path = "/subscriptions/" + URLEncoder.encode(name, StandardCharsets.UTF_8);
        String show = "postroom subscription show " + name;
        Pause pause = state.pause();
        if (pause != null) {
            add(
                    Trouble.Level.NOTE,
                    state.lagMessages(),
                    name + " is paused",
                    "by " + pause.by() + ": " + pause.reason() + "; " + behind(state),
                    path,
                    "postroom subscription resume " + name);
        } else if (state.unavailableSince() != null) {
            add(
                    Trouble.Level.BAD,
                    state.lagMessages(),
                    "The destination of " + name + " takes nothing",
                    "since " + Shown.time(state.unavailableSince()) + " UTC; " + behind(state)
                            + "; it goes on by itself when the destination does",
                    path,
                    show);
        } else if (!state.isDone()
                && state.servedBy().equals("postgres")
                && state.lanesLeased() < state.lanes()
                && state.lag().compareTo(LAG_MAX) > 0) {
            add(
                    Trouble.Level.BAD,
                    state.lagMessages(),
                    "Nobody serves " + (state.lanesLeased() == 0 ? "" : "all of ") + name,
                    state.lanesLeased() + " of " + Shown.count(state.lanes(), "lane") + " have a relay; "
                            + behind(state),
                    path,
                    show);
        } else if (!state.isDone() && state.lag().compareTo(LAG_MAX) > 0) {
            add(Trouble.Level.WARNING, state.lagMessages(), name + " is behind", behind(state), path, show);
        }
        putAside(state, path, show);
        if (state.heldKeys() > 0) {
            add(
                    Trouble.Level.BAD,
                    state.heldKeys(),
                    Shown.bounded(state.heldKeys(), Subscriptions.COUNT_MAX)
                            + (state.heldKeys() == 1 ? " key of " : " keys of ") + name + " held",
                    "a message of each was given up, and the later ones wait for a decision",
                    path,
                    "postroom subscription held " + name);
        }
        if (state.deadLetters() > 0) {
            add(
                    Trouble.Level.WARNING,
                    state.deadLetters(),
                    Shown.bounded(state.deadLetters(), Subscriptions.COUNT_MAX)
                            + (state.deadLetters() == 1 ? " dead letter of " : " dead letters of ")
                            + name,
                    "given up, and neither redriven nor discarded",
                    "/dead-letters?subscription=" + URLEncoder.encode(name, StandardCharsets.UTF_8),
                    "postroom deadletter list --subscription " + name);
        }
    }

    private void putAside(SubscriptionState state, String path, String show) {
        PutAside putAside = state.putAside();
        String oldest = "the oldest for " + Shown.duration(putAside.oldest())
                + (putAside.parked() == 0
                        ? ""
                        : "; " + Shown.bounded(putAside.parked(), Subscriptions.COUNT_MAX) + " more behind them");
        if (putAside.unreadable() > 0) {
            add(
                    Trouble.Level.BAD,
                    putAside.unreadable(),
                    Shown.bounded(putAside.unreadable(), Subscriptions.COUNT_MAX)
                            + (putAside.unreadable() == 1 ? " message of " : " messages of ") + state.name()
                            + " cannot be read",
                    "no relay knows the version, or the partition is gone; put aside: " + oldest,
                    path,
                    show);
        } else if (state.pause() == null
                && state.unavailableSince() == null
                && putAside.oldest().compareTo(RETRIES_MAX) > 0) {
            add(
                    Trouble.Level.WARNING,
                    putAside.retried(),
                    Shown.bounded(putAside.retried(), Subscriptions.COUNT_MAX)
                            + (putAside.retried() == 1 ? " message of " : " messages of ") + state.name()
                            + " tried again and again",
                    oldest,
                    path,
                    show);
        }
    }

    private static String behind(SubscriptionState state) {
        return state.lagMessages() == 0
                ? "nothing waits"
                : Shown.count(state.lagMessages(), "message") + " behind, the oldest for "
                        + Shown.duration(state.lag());
    }

    private void add(
            Trouble.Level level,
            long weight,
            String what,
            String why,
            String path,
            @org.jspecify.annotations.Nullable String command) {
        found.add(new Trouble(level, weight, what, why, path, command));
    }
}
