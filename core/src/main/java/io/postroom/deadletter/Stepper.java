package io.postroom.deadletter;

import java.sql.Connection;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One step of a redrive whose row is locked, in its transaction. */
final class Stepper {
    /** Beyond this the reasons are counted together. */
    private static final int REASONS_MAX = 20;

    private static final String OTHER_REASONS = "other reasons";
    /** Not which operation fails: redrives are listed to people who may not see payloads, and a test would let them guess values. */
    private static final String DOES_NOT_FIT = "the patch does not apply; a dry run of it shows why";

    private static final String GONE = "it was resolved by another act meanwhile";

    private final DeadLetterTable letters;
    private final RedriveTable table;
    private final Map<String, Redriver> redrivers;

    Stepper(DeadLetterTable letters, RedriveTable table, Collection<Redriver> redrivers) {
        this.letters = letters;
        this.table = table;
        this.redrivers = redrivers.stream().collect(Collectors.toMap(Redriver::source, redriver -> redriver));
    }

    /** What a step does to each dead letter: those that are skipped have a reason. */
    private static final class Batch {
        final Map<Long, String> skipped = new HashMap<>();
        final Map<Long, String> patched = new HashMap<>();
        final Set<Long> done = new HashSet<>();
        int looked;
        /** Whether anything was to be resolved; if nothing is done then, others were faster. */
        boolean tried;
    }

    void wake(Connection tx) {
        redrivers.values().forEach(redriver -> redriver.wake(tx));
    }

    /** Returns how many dead letters it looked at. */
    int step(Connection tx, RedriveTable.Locked locked) {
        RedriveRequest request = locked.redrive().request();
        if (locked.redrive().state() == RedriveState.CANARY) {
            lookAtCanary(tx, locked);
            return 0;
        }
        int wanted = Math.min(Redrives.LETTERS_MAX, locked.allowance());
        boolean beforeCanary = request.canary() != null && !locked.canaryLives();
        if (beforeCanary) {
            wanted = (int) Math.min(wanted, request.canary() - locked.redrive().done());
        }
        if (wanted == 0) {
            return 0;
        }
        List<DeadLetterTable.Found> found =
                letters.findIds(tx, request.filter(), locked.reached(), locked.idMax(), wanted);
        Batch ahead = ahead(tx, locked, found, wanted);
        if (ahead != null) {
            // Those that cannot go are looked at again, and counted, when it is their turn.
            boolean full = beforeCanary && locked.redrive().done() + ahead.done.size() >= request.canary();
            table.progress(
                    tx,
                    request.id(),
                    new RedriveTable.Progress(
                            locked.reached(),
                            ahead.done.size(),
                            0,
                            locked.redrive().skips(),
                            full ? RedriveState.CANARY : RedriveState.RUNNING,
                            null));
            return ahead.looked;
        }
        Batch batch = act(tx, request, found);
        boolean last = found.size() < wanted && batch.looked == found.size();
        boolean canaryFull = beforeCanary && locked.redrive().done() + batch.done.size() >= request.canary();
        RedriveState state = canaryFull ? RedriveState.CANARY : last ? RedriveState.DONE : RedriveState.RUNNING;
        long reached = batch.looked == 0
                ? locked.reached()
                : found.get(batch.looked - 1).id();
        table.progress(
                tx,
                request.id(),
                new RedriveTable.Progress(
                        reached, batch.done.size(), batch.skipped.size(), skips(locked, batch), state, null));
        return batch.looked;
    }

    /**
     * Redrives some of what must go before those that were found, though it was buried later. What cannot go is passed, page by page, until
     * there is no more. Null: there is nothing that can go.
     */
    private @Nullable Batch ahead(
            Connection tx, RedriveTable.Locked locked, List<DeadLetterTable.Found> found, int wanted) {
        RedriveRequest request = locked.redrive().request();
        if (found.isEmpty() || request.action() != RedriveAction.REDRIVE) {
            return null;
        }
        // A step with a patch may not come to all that were found: it relies on none of them.
        long last = request.patch() == null ? found.get(found.size() - 1).id() : locked.reached();
        Redriver.Stretch first = new Redriver.Stretch(locked.reached(), last, locked.idMax(), 0, Redrives.LETTERS_MAX);
        Map<String, List<Long>> sources = bySource(found);
        sources.keySet().retainAll(redrivers.keySet());
        Map<String, List<Long>> pages = new TreeMap<>();
        sources.forEach((source, ids) -> pages.put(source, earlier(tx, request, source, ids, first)));
        if (pages.values().stream().allMatch(List::isEmpty)) {
            return null;
        }
        // All that this step may come to, and at once: piece by piece it would be in another order than others lock it.
        sources.forEach((source, ids) -> redrivers
                .get(source)
                .lock(
                        tx,
                        array(Stream.concat(ids.stream(), pages.get(source).stream())
                                .distinct()
                                .toList())));
        for (Map.Entry<String, List<Long>> each : pages.entrySet()) {
            String source = each.getKey();
            List<Long> page = each.getValue();
            while (!page.isEmpty()) {
                Batch batch = firstOf(tx, request, source, page, wanted);
                if (batch != null) {
                    return batch;
                }
                page = page.size() < first.limit()
                        ? List.of()
                        : earlier(tx, request, source, sources.get(source), first.onward(page.get(page.size() - 1)));
            }
        }
        return null;
    }

    private List<Long> earlier(
            Connection tx, RedriveRequest request, String source, List<Long> found, Redriver.Stretch stretch) {
        return redrivers.get(source).earlier(tx, request.filter(), array(found), stretch);
    }

    /** Redrives the first ones of a page that can go; null if none can. */
    private @Nullable Batch firstOf(Connection tx, RedriveRequest request, String source, List<Long> page, int wanted) {
        Set<Long> refused = redrivers.get(source).refusals(tx, array(page)).keySet();
        List<DeadLetterTable.Found> left = page.stream()
                .filter(id -> !refused.contains(id))
                .map(id -> new DeadLetterTable.Found(id, source))
                .toList();
        while (!left.isEmpty()) {
            Batch batch = act(tx, request, left.subList(0, Math.min(wanted, left.size())));
            if (batch.tried) {
                return batch;
            }
            left = left.subList(Math.max(1, batch.looked), left.size());
        }
        return null;
    }

    private Batch act(Connection tx, RedriveRequest request, List<DeadLetterTable.Found> found) {
        Batch batch = new Batch();
        batch.looked = found.size();
        if (request.patch() != null && !found.isEmpty()) {
            batch.looked = patch(tx, batch, found, request.patch());
        }
        bySource(found.subList(0, batch.looked)).forEach((source, ids) -> act(tx, batch, request, source, ids));
        return batch;
    }

    private static Map<String, List<Long>> bySource(List<DeadLetterTable.Found> found) {
        return found.stream()
                .collect(Collectors.groupingBy(
                        DeadLetterTable.Found::source,
                        TreeMap::new,
                        Collectors.mapping(DeadLetterTable.Found::id, Collectors.toList())));
    }

    /** Returns how many were read; what is left would be too much for one step. */
    private int patch(Connection tx, Batch batch, List<DeadLetterTable.Found> found, JsonPatch patch) {
        List<DeadLetterTable.Payload> payloads =
                letters.readPayloads(tx, DeadLetters.ids(found), Redrives.PATCH_BYTES_MAX);
        for (DeadLetterTable.Payload payload : payloads) {
            JsonPatch.Result result = patch.apply(payload.payload());
            if (result instanceof JsonPatch.Result.Applied applied) {
                batch.patched.put(payload.id(), applied.payload());
            } else {
                batch.skipped.put(payload.id(), DOES_NOT_FIT);
            }
        }
        return payloads.size();
    }

    private void act(Connection tx, Batch batch, RedriveRequest request, String source, List<Long> found) {
        Redriver redriver = redrivers.get(source);
        if (redriver == null) {
            found.forEach(id -> batch.skipped.put(id, "nobody here knows how to redrive what a " + source + " buried"));
            return;
        }
        redriver.lock(tx, array(found));
        if (request.action() == RedriveAction.REDRIVE) {
            redriver.refusals(tx, array(found)).forEach(batch.skipped::putIfAbsent);
        }
        List<Long> wanted =
                found.stream().filter(id -> !batch.skipped.containsKey(id)).toList();
        if (wanted.isEmpty()) {
            return;
        }
        batch.tried = true;
        List<Long> resolved = letters.resolve(
                tx, new DeadLetterTable.Resolving(array(wanted), patches(batch, request, wanted), request));
        batch.done.addAll(resolved);
        wanted.stream().filter(id -> !batch.done.contains(id)).forEach(id -> batch.skipped.put(id, GONE));
        if (request.action() == RedriveAction.REDRIVE) {
            redriver.redrive(tx, array(resolved));
        } else {
            redriver.discard(tx, array(resolved));
        }
    }

    private static @Nullable String @Nullable [] patches(Batch batch, RedriveRequest request, List<Long> wanted) {
        return request.patch() == null
                ? null
                : wanted.stream().map(batch.patched::get).toArray(String[]::new);
    }

    /** The first ones decide: one that failed again stops the rest, and the rest waits while any is on its way. */
    private void lookAtCanary(Connection tx, RedriveTable.Locked locked) {
        RedriveRequest request = locked.redrive().request();
        DeadLetterTable.FailedAgain failed =
                letters.failedAgain(tx, request.id()).orElse(null);
        if (failed != null) {
            String note =
                    failed.letters() + " of the first " + locked.redrive().done() + " failed again, first dead letter "
                            + failed.id() + ": " + failed.errorClass() + ": " + failed.error();
            note(tx, locked, RedriveState.STOPPED, note);
        } else if (redrivers.values().stream().noneMatch(redriver -> redriver.underway(tx, request.id()) > 0)) {
            note(tx, locked, RedriveState.RUNNING, null);
        }
    }

    private void note(Connection tx, RedriveTable.Locked locked, RedriveState state, @Nullable String note) {
        table.progress(
                tx,
                locked.redrive().request().id(),
                new RedriveTable.Progress(
                        locked.reached(), 0, 0, locked.redrive().skips(), state, note));
    }

    private static Map<String, Long> skips(RedriveTable.Locked locked, Batch batch) {
        Map<String, Long> skips = new TreeMap<>(locked.redrive().skips());
        for (String reason : batch.skipped.values()) {
            boolean known = skips.containsKey(reason) || skips.size() < REASONS_MAX;
            skips.merge(known ? reason : OTHER_REASONS, 1L, Long::sum);
        }
        return skips;
    }

    private static long[] array(List<Long> ids) {
        return ids.stream().mapToLong(Long::longValue).toArray();
    }
}
