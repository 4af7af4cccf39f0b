package io.postroom.projection;

import io.postroom.journal.Journal;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Asks for generations that are made from the journal. Refuses what could not become whole, before anybody works on it. */
final class Rebuilder {
    private final Operations operations;
    private final Journal journal;

    Rebuilder(Operations operations, Journal journal) {
        this.operations = operations;
        this.journal = journal;
    }

    /** What would be asked for now; if a generation is being built, that one. */
    Rebuild plan(String name, @Nullable Point from) {
        String attempt = attempt(name);
        ReadModelState model = operations.database().run(tx -> operations.find(tx, name, attempt));
        GenerationState building = model.building().orElse(null);
        if (building != null) {
            return already(building);
        }
        return new Rebuild(name, model.lastGeneration() + 1, model.version(), beginning(model, from, attempt), false);
    }

    Rebuild rebuild(String name, @Nullable Point from, Act act) {
        String attempt = attempt(name);
        Operations.check(act, attempt);
        // Not under the lock: looking for what is gone may take its time.
        Rebuild plan = plan(name, from);
        if (plan.already()) {
            return plan;
        }
        return operations.transact(tx -> {
            ReadModelState model = operations.lock(tx, name, attempt);
            GenerationState building = model.building().orElse(null);
            if (building != null) {
                return already(building);
            }
            GenerationTable generations = operations.generations();
            // Once more: a day may have been dropped since, and none is from here on.
            requireKept(plan.beganAfter(), generations.keepArchive(tx), attempt);
            int number = generations.ask(tx, name, model.version(), plan.beganAfter(), "operator");
            operations.record(
                    tx,
                    act,
                    "rebuild",
                    name,
                    Map.of("generation", number, "version", model.version(), "after", plan.beganAfter()));
            generations.wake(tx);
            return new Rebuild(name, number, model.version(), plan.beganAfter(), false);
        });
    }

    private long beginning(ReadModelState model, @Nullable Point from, String attempt) {
        long beganAfter =
                from == null ? model.live().map(GenerationState::beganAfter).orElse(0L) : from.before(journal);
        long end = journal.refreshHead().position();
        if (beganAfter > end) {
            throw Operations.refused(
                    "beyond-end",
                    attempt,
                    (from == null ? "position " + beganAfter : from) + " is beyond the journal's end, which is " + end
                            + "; name an earlier one");
        }
        requireKept(beganAfter, journal.keptAfter(), attempt);
        return beganAfter;
    }

    private static void requireKept(long beganAfter, long keptAfter, String attempt) {
        if (beganAfter < keptAfter) {
            throw Operations.refused(
                    "messages-gone",
                    attempt,
                    "it is to begin after position " + beganAfter + ", but messages up to position " + keptAfter
                            + " are gone with the days that were dropped, and what they did would be missing; if that"
                            + " may be, say --from " + (keptAfter + 1));
        }
    }

    private static Rebuild already(GenerationState building) {
        return new Rebuild(building.readModel(), building.number(), building.version(), building.beganAfter(), true);
    }

    private static String attempt(String name) {
        return "rebuild read model " + name;
    }
}
