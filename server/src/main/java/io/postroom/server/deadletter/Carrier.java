package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.RedriveStep;
import io.postroom.deadletter.Redrives;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries on redrives that were asked for here, step by step, side by side, so that an operator need not wait for maintenance. If this
 * process dies, maintenance goes on with them: every step is in the database. {@link #close} ends its thread.
 */
public final class Carrier implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Carrier.class);
    private static final int SIDE_BY_SIDE_MAX = 100;
    private static final Duration AGAIN = Duration.ofSeconds(2);

    private final Redrives redrives;
    private final Set<UUID> carried = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "postroom-redrives");
        thread.setDaemon(true);
        return thread;
    });

    public Carrier(Redrives redrives) {
        this.redrives = redrives;
    }

    /** Goes on with a redrive until it ends. Beyond a limit it is left to maintenance. */
    void carry(UUID id) {
        if (carried.size() < SIDE_BY_SIDE_MAX && carried.add(id)) {
            thread.execute(() -> step(id));
        }
    }

    private void step(UUID id) {
        try {
            RedriveStep step = redrives.step(id);
            if (step.redrive().isEnded()) {
                carried.remove(id);
            } else {
                thread.schedule(() -> step(id), step.pause().toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (PostroomException e) {
            LOG.warn("redrive {} has to wait: {}", id, e.getMessage());
            thread.schedule(() -> step(id), AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // Closed; maintenance goes on with it.
            carried.remove(id);
        } catch (RuntimeException e) {
            LOG.error("could not go on with redrive {}; maintenance will", id, e);
            carried.remove(id);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
