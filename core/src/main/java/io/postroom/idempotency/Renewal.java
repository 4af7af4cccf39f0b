package io.postroom.idempotency;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews leases while steps go on, each at a third of its time, on one thread that ends when there is nothing to renew. Those that are due
 * soon go along, so that one connection for a moment is enough for all. If renewing fails the lease runs out: then another goes on, and
 * the fence refuses whatever the former owner still tries.
 */
final class Renewal {
    private static final Logger LOG = LoggerFactory.getLogger(Renewal.class);
    private static final long IDLE_SECONDS = 10;

    /** How many one statement renews. */
    private static final int TOGETHER_MAX = 1_000;

    private final Database database;
    private final StepTable table;
    private final ScheduledThreadPoolExecutor thread;
    private final Set<Kept> all = ConcurrentHashMap.newKeySet();
    private boolean failing;

    Renewal(Database database, StepTable table) {
        this.database = database;
        this.table = table;
        this.thread = new ScheduledThreadPoolExecutor(1, work -> {
            Thread made = new Thread(work, "postroom-idempotency-lease");
            made.setDaemon(true);
            return made;
        });
        thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setRemoveOnCancelPolicy(true);
    }

    /** Steps that go on. */
    private static final class Kept {
        private final Steps steps;
        private final KeyPolicy policy;
        private final long third;
        private final long end;
        /** For the thread that renews alone. */
        private long due;

        private Kept(Steps steps, KeyPolicy policy) {
            this.steps = steps;
            this.policy = policy;
            this.third = policy.lease().toNanos() / 3;
            this.end = System.nanoTime() + policy.runtimeMax().toNanos();
            this.due = System.nanoTime() + third;
        }

        private boolean isOver() {
            return System.nanoTime() - end > 0;
        }

        private boolean isDueSoon() {
            return !isOver() && due - System.nanoTime() < third / 4;
        }
    }

    /** Renews until it is stopped, or the steps have taken too long. */
    Beat keep(Steps steps, KeyPolicy policy) {
        Kept kept = new Kept(steps, policy);
        all.add(kept);
        ScheduledFuture<?> beat =
                thread.scheduleWithFixedDelay(() -> beat(kept), kept.third, kept.third / 2, TimeUnit.NANOSECONDS);
        return () -> {
            all.remove(kept);
            beat.cancel(false);
        };
    }

    private void beat(Kept kept) {
        if (kept.isOver()) {
            if (all.remove(kept)) {
                LOG.warn(
                        "steps of {} take longer than {}; the lease is not renewed any more",
                        kept.steps.key(),
                        kept.policy.runtimeMax());
            }
        } else if (kept.isDueSoon()) {
            List<Kept> due = new ArrayList<>();
            due.add(kept);
            all.stream()
                    .filter(other -> other != kept && other.isDueSoon())
                    .limit(TOGETHER_MAX - 1)
                    .forEach(due::add);
            renew(due);
        }
    }

    private void renew(List<Kept> due) {
        try {
            List<Boolean> ours = database.run(tx -> table.renew(
                    tx,
                    due.stream()
                            .map(each -> new StepTable.Lease(each.steps.held(), each.policy.lease()))
                            .toList()));
            for (int i = 0; i < due.size(); i++) {
                Kept each = due.get(i);
                each.due = System.nanoTime() + each.third;
                if (!ours.get(i) && each.steps.answered() == null) {
                    each.steps.lose();
                }
            }
            failing = false;
        } catch (PostroomException e) {
            if (!failing) {
                failing = true;
                LOG.warn(
                        "could not renew the leases of {} and {} others: {}; it is tried again",
                        due.get(0).steps.key(),
                        due.size() - 1,
                        e.getMessage());
            }
        }
    }

    /** A lease that is kept until this is stopped. */
    interface Beat {
        void stop();
    }
}
