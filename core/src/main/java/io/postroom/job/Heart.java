package io.postroom.job;

import io.postroom.postgres.Database;
import io.postroom.postgres.DatabaseException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says that this worker is alive, on a thread and a connection of its own, so that no slow handler and no exhausted pool lets it seem
 * dead; and looks after its handlers: who is over the deadline, whose job is cancelled or was taken away.
 */
final class Heart {
    private static final Logger LOG = LoggerFactory.getLogger(Heart.class);

    /** How often handlers are looked after. */
    private static final Duration TICK = Duration.ofMillis(250);

    private static final Duration TICK_MIN = Duration.ofMillis(5);

    /** Whoever runs for so long is told when the job is cancelled. */
    private static final Duration LOOK_AFTER = Duration.ofSeconds(1);

    private static final int HOST_LENGTH_MAX = 200;

    private final Line line;
    private final WorkerTable table;
    private final WorkerSettings settings;
    private final Held held;
    private final List<Crew> crews;
    private final Duration tick;
    private final String host = host();
    private final Signal signal = new Signal();
    private volatile boolean stopped;
    /** Since when the lease surely holds, without a gap. Written before {@link #trustedUntilNanos}, and read after it. */
    private volatile long trustedSinceNanos = System.nanoTime();

    private volatile long trustedUntilNanos = trustedSinceNanos;
    /** Since when others had the time to say that they are alive, too. */
    private volatile long steadySinceNanos = trustedSinceNanos;

    private long beatenNanos;
    private long lookedNanos = System.nanoTime();
    private @Nullable Thread thread;
    private boolean failing;
    private boolean watchFailing;

    /** {@code deadlineMin}: of all kinds of jobs. */
    Heart(
            Database database,
            WorkerTable table,
            WorkerSettings settings,
            Held held,
            List<Crew> crews,
            Duration deadlineMin) {
        // A lost answer must not hold the heartbeat longer than a beat.
        this.line = new Line(
                database, Duration.ofMillis(Math.max(1_000, settings.heartbeat().toMillis())));
        this.table = table;
        this.settings = settings;
        this.held = held;
        this.crews = crews;
        this.tick = least(TICK, settings.heartbeat().dividedBy(2), most(TICK_MIN, deadlineMin.dividedBy(4)));
    }

    /** The first beat, on the caller's thread: a database that cannot be used is the caller's to know. */
    void start() {
        beat();
        thread = Threads.start("postroom-beat-" + settings.name(), this::run);
    }

    /** One beat, without a thread. */
    void beatOnce() {
        beat();
    }

    /** After {@link #beatOnce}. */
    void withdrawOnce() {
        withdraw();
        line.close();
    }

    /** Whether the lease surely holds: others have not taken this worker's jobs. */
    boolean isTrusted() {
        return trustedUntilNanos - System.nanoTime() > 0;
    }

    /** Whether the lease surely held from then on: others have not taken what was claimed since. */
    boolean isTrustedSince(long nanos) {
        return isTrusted() && nanos - trustedSinceNanos >= 0;
    }

    /** Whether workers that have not said so for a lease are dead, and not just late after an outage that hit all of them. */
    boolean isSteady() {
        return isTrusted() && steadySinceNanos - System.nanoTime() <= 0;
    }

    /** Says goodbye, and ends. */
    void stop(Duration patience) {
        stopped = true;
        signal.raise();
        Threads.join(thread, patience);
    }

    /** Ends when stopped; trouble with the database makes it try again, sooner than the next beat. */
    private void run() {
        try (line) {
            while (!stopped) {
                signal.await(tick.toNanos());
                watch();
                step();
            }
            withdraw();
        } catch (InterruptedException e) {
            LOG.warn("worker {} was interrupted; its lease runs out", settings.name());
        }
    }

    private void watch() {
        try {
            crews.forEach(Crew::watch);
        } catch (RuntimeException | Error e) {
            // No thread may be left to start, say: beats must go on.
            if (!watchFailing) {
                LOG.error("worker {} cannot look after its handlers; it tries again", settings.name(), e);
            }
            watchFailing = true;
            return;
        }
        watchFailing = false;
    }

    private void step() {
        try {
            long now = System.nanoTime();
            long pause = settings.heartbeat().toNanos() / (failing ? 4 : 1);
            if (now - beatenNanos > pause) {
                beat();
            }
            if (now - lookedNanos > LOOK_AFTER.toNanos()) {
                lookedNanos = now;
                look();
            }
            if (failing) {
                failing = false;
                LOG.info("worker {} beats again", settings.name());
            }
        } catch (RuntimeException | Error e) {
            // Not only the database: a pool may throw what it likes, and beats must go on.
            line.close();
            beatenNanos = System.nanoTime();
            if (!failing) {
                failing = true;
                LOG.warn(
                        "worker {} cannot say that it is alive: {}",
                        settings.name(),
                        e.getMessage(),
                        e instanceof DatabaseException ? null : e);
            }
        }
    }

    private void beat() {
        long asked = System.nanoTime();
        table.beat(line.connection(), settings, host);
        beatenNanos = asked;
        if (asked - trustedUntilNanos >= 0) {
            trustedSinceNanos = asked;
            // The first beat too: a process that starts is perhaps the first to see that an outage is over.
            steadySinceNanos = asked + settings.lease().toNanos();
        }
        trustedUntilNanos = asked + settings.selfTrustNanos();
    }

    /** Tells handlers whose job is cancelled, or not theirs any more. */
    private void look() {
        List<Run> old = new ArrayList<>();
        for (Crew crew : crews) {
            crew.runs().stream()
                    .filter(run -> run.tookNanos() > LOOK_AFTER.toNanos())
                    .forEach(old::add);
        }
        if (old.isEmpty()) {
            return;
        }
        Connection tx = line.connection();
        Map<Long, ClaimedJob> newest =
                ClaimedJob.newest(old.stream().map(Run::job).toList());
        noteProgress(tx, old.stream().filter(run -> isNewest(run, newest)).toList());
        Map<Long, Boolean> mine = table.look(tx, newest.values());
        for (Run run : old) {
            Boolean cancelAsked = isNewest(run, newest) ? mine.get(run.job().id()) : null;
            if (cancelAsked == null) {
                run.context().lose();
                run.interrupt(Run.Why.LOST);
            } else if (cancelAsked) {
                run.context().cancel();
                run.interrupt(Run.Why.CANCEL);
            }
        }
    }

    private static boolean isNewest(Run run, Map<Long, ClaimedJob> newest) {
        ClaimedJob last = newest.get(run.job().id());
        return last != null && last.fence() == run.job().fence();
    }

    private void noteProgress(Connection tx, List<Run> runs) {
        SortedMap<ClaimedJob, String> said = new TreeMap<>(Comparator.comparingLong(ClaimedJob::id));
        for (Run run : runs) {
            String progress = run.context().unwrittenProgress();
            if (progress != null) {
                said.put(run.job(), progress);
            }
        }
        if (said.isEmpty()) {
            return;
        }
        Set<Long> noted = table.noteProgress(tx, said);
        for (Run run : runs) {
            String progress = said.get(run.job());
            if (progress != null && noted.contains(run.job().id())) {
                run.context().progressWritten(progress);
            }
        }
    }

    private void withdraw() {
        if (!held.isEmpty()) {
            LOG.warn("worker {} leaves jobs behind; they are taken away when its lease runs out", settings.name());
            return;
        }
        try {
            table.withdraw(line.connection(), settings);
        } catch (DatabaseException e) {
            LOG.warn("worker {} could not say goodbye: {}", settings.name(), e.getMessage());
        }
    }

    private static String host() {
        try {
            String name = InetAddress.getLocalHost().getHostName();
            return name.length() > HOST_LENGTH_MAX ? name.substring(0, HOST_LENGTH_MAX) : name;
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    private static Duration least(Duration a, Duration b, Duration c) {
        Duration ab = a.compareTo(b) < 0 ? a : b;
        return ab.compareTo(c) < 0 ? ab : c;
    }

    private static Duration most(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }
}
