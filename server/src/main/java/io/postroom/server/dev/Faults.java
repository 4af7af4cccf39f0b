package io.postroom.server.dev;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps looking at what is broken, so that handlers can ask at no cost; what begins to be broken is told once. */
final class Faults implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Faults.class);
    private static final Duration LOOK = Duration.ofMillis(300);

    private final Database database;
    private final FaultTable table = new FaultTable();
    private final @Nullable Consumer<Fault> begun;
    private final ScheduledExecutorService looking = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "demo-faults");
        thread.setDaemon(true);
        return thread;
    });
    private volatile Set<Fault> broken = EnumSet.noneOf(Fault.class);

    private Faults(Database database, @Nullable Consumer<Fault> begun) {
        this.database = database;
        this.begun = begun;
    }

    /** For handlers that only want to know. */
    static Faults watch(Database database) {
        return watch(database, null);
    }

    /** {@code begun} is told of each one that begins while this looks, and of those that happen once. */
    static Faults watch(Database database, @Nullable Consumer<Fault> begun) {
        Faults faults = new Faults(database, begun);
        faults.broken = database.run(faults.table::list);
        faults.looking.scheduleWithFixedDelay(faults::look, 0, LOOK.toMillis(), TimeUnit.MILLISECONDS);
        return faults;
    }

    boolean has(Fault fault) {
        return broken.contains(fault);
    }

    private void look() {
        try {
            Set<Fault> before = broken;
            Set<Fault> now = database.run(table::list);
            broken = now;
            if (begun == null) {
                return;
            }
            for (Fault fault : now) {
                // One that happens once is over when it was taken away: whoever does that makes it happen.
                boolean isNews =
                        fault.isLasting() ? !before.contains(fault) : database.transact(tx -> table.remove(tx, fault));
                if (isNews) {
                    begun.accept(fault);
                }
            }
        } catch (PostroomException e) {
            LOG.debug("could not look at the faults of the demo: {}", e.getMessage());
        } catch (RuntimeException e) {
            LOG.warn("could not break what was asked for: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        looking.shutdownNow();
    }
}
