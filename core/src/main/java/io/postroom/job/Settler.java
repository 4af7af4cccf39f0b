package io.postroom.job;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Writes what became of claims: in one transaction the job, its history and its dead letter. Whoever has lost a job changes nothing of
 * it.
 */
final class Settler {
    /** How many verdicts that are not plainly done are written in one transaction. */
    static final int BATCH_MAX = 100;

    private final SettleTable table;
    private final String worker;

    /** {@code worker} is the name that history and dead letters show. */
    Settler(SettleTable table, String worker) {
        this.table = table;
        this.worker = worker;
    }

    /**
     * A job whose row is locked, and what is to be written about it.
     *
     * @param tookMicros how long the attempt took; null: since the claim
     * @param worker who made it
     */
    record Settled(long id, Verdict verdict, @Nullable Long tookMicros, String worker) {}

    /** Ends jobs that are done and say no more; returns those that were still their worker's. */
    Set<Long> complete(Connection tx, List<Ended> batch) {
        return table.complete(tx, sorted(batch), worker);
    }

    /** Ends or puts back jobs that are still their worker's and that nobody else has locked; returns those. Each job once. */
    Set<Long> settle(Connection tx, List<Ended> batch) {
        Map<Long, Boolean> mine = table.lockMine(tx, sorted(batch));
        List<Settled> settled = new ArrayList<>();
        for (Ended each : batch) {
            Boolean cancelAsked = mine.get(each.job().id());
            if (cancelAsked != null) {
                Verdict verdict = cancelAsked ? each.verdict().cancelled() : each.verdict();
                settled.add(new Settled(each.job().id(), verdict, each.tookNanos() / 1_000, worker));
            }
        }
        apply(tx, settled);
        return mine.keySet();
    }

    /** For jobs whose rows are locked. */
    void apply(Connection tx, List<Settled> jobs) {
        // A job that is here twice would end twice.
        require(jobs.size(), (int)
                jobs.stream().mapToLong(Settled::id).distinct().count());
        Writing writing = new Writing();
        jobs.stream().sorted(Comparator.comparingLong(Settled::id)).forEach(writing::add);
        // The history first: a dead letter takes it along. Then the dead letter: it needs the job's row.
        if (!writing.notes.isEmpty()) {
            table.noteAttempts(tx, writing.notes);
        }
        if (!writing.burials.isEmpty()) {
            table.bury(tx, writing.burials, worker);
        }
        require(writing.ends.size(), writing.ends.isEmpty() ? 0 : table.end(tx, writing.ends, worker));
        require(writing.backs.size(), writing.backs.isEmpty() ? 0 : table.putBack(tx, writing.backs));
        require(writing.handed.size(), writing.handed.isEmpty() ? 0 : table.handBack(tx, writing.handed));
    }

    private static void require(int wanted, int changed) {
        if (wanted != changed) {
            // Never half of it: the transaction is undone.
            throw new IllegalStateException(
                    changed + " of " + wanted + " jobs were changed, though their rows are locked");
        }
    }

    private static List<ClaimedJob> sorted(List<Ended> batch) {
        return batch.stream()
                .map(Ended::job)
                .sorted(Comparator.comparingLong(ClaimedJob::id))
                .toList();
    }

    /** What goes into each table. */
    private static final class Writing {
        final List<SettleTable.Noted> notes = new ArrayList<>();
        final List<SettleTable.Burial> burials = new ArrayList<>();
        final List<SettleTable.End> ends = new ArrayList<>();
        final List<SettleTable.Back> backs = new ArrayList<>();
        final List<Long> handed = new ArrayList<>();

        void add(Settled job) {
            long id = job.id();
            Verdict verdict = job.verdict();
            if (verdict instanceof Verdict.Done done) {
                ends.add(new SettleTable.End(id, "done", done.result(), null, true));
            } else if (verdict instanceof Verdict.Again again) {
                note(job, again.note());
                if (again.isHandedBack()) {
                    handed.add(id);
                } else {
                    backs.add(new SettleTable.Back(
                            id, again.after().toNanos() / 1_000, again.counted(), again.crashed()));
                }
            } else if (verdict instanceof Verdict.GiveUp givenUp) {
                note(job, givenUp.note());
                burials.add(new SettleTable.Burial(id, givenUp.cause().word(), givenUp.attempts(), givenUp.fault()));
                // A claim that only buries is no attempt.
                ends.add(new SettleTable.End(id, "failed", null, givenUp.fault(), givenUp.note() != null));
            } else if (verdict instanceof Verdict.Cancelled cancelled) {
                note(job, cancelled.note());
                ends.add(new SettleTable.End(id, "cancelled", null, null, cancelled.counted()));
            }
        }

        private void note(Settled job, Verdict.@Nullable Note note) {
            if (note != null) {
                notes.add(new SettleTable.Noted(job.id(), note, job.tookMicros(), job.worker()));
            }
        }
    }
}
