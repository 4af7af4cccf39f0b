package io.postroom.projection;

import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.subscription.Act;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Lets one generation take the place of another, in one transaction that locks no table. */
final class Swapper {
    /** How long to wait for a batch that began right after another swap. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final Operations operations;

    Swapper(Operations operations) {
        this.operations = operations;
    }

    /** Finds out which generation to swap to, under the lock. */
    @FunctionalInterface
    private interface Choice {
        SwapPlan choose(Connection tx, ReadModelState model);
    }

    SwapPlan plan(String name, @Nullable Integer number) {
        String attempt = attempt(name);
        return operations.database().run(tx -> chosen(tx, operations.find(tx, name, attempt), number, attempt));
    }

    SwapPlan swap(String name, @Nullable Integer number, boolean force, Act act) {
        String attempt = attempt(name);
        return perform(name, force, act, attempt, (tx, model) -> chosen(tx, model, number, attempt), false);
    }

    SwapPlan planRollback(String name) {
        String attempt = attemptBack(name);
        return operations.database().run(tx -> former(tx, operations.find(tx, name, attempt), attempt));
    }

    SwapPlan rollback(String name, boolean force, Act act) {
        String attempt = attemptBack(name);
        return perform(name, force, act, attempt, (tx, model) -> former(tx, model, attempt), true);
    }

    private SwapPlan perform(String name, boolean force, Act act, String attempt, Choice choice, boolean back) {
        Operations.check(act, attempt);
        return operations.transact(tx -> {
            ReadModelState model = operations.lock(tx, name, attempt);
            SwapPlan plan = choice.choose(tx, model);
            if (plan.already()) {
                return plan;
            }
            if (!plan.problems().isEmpty() && !force) {
                throw Operations.refused(
                        "not-ready",
                        attempt,
                        String.join("; ", plan.problems()) + "; or do it all the same with force");
            }
            operations.requireOwner(tx, name, attempt);
            GenerationState candidate = model.generation(plan.to()).orElseThrow();
            operations.requireOwner(tx, candidate.schema(), attempt);
            long epoch = swap(tx, model, plan, candidate, back, attempt);
            operations.record(
                    tx,
                    act,
                    back ? "rollback" : "swap",
                    name,
                    Map.of(
                            "from", plan.from(),
                            "to", plan.to(),
                            "epoch", epoch,
                            "position", candidate.position(),
                            "problems", plan.problems()));
            return plan;
        });
    }

    private long swap(
            Connection tx,
            ReadModelState model,
            SwapPlan plan,
            GenerationState candidate,
            boolean back,
            String attempt) {
        ReadModelTable table = operations.table();
        String name = model.name();
        try {
            table.lockSwap(tx, name, PATIENCE);
        } catch (DatabaseException e) {
            if (e.sqlState().equals(SqlState.LOCK_NOT_AVAILABLE)) {
                throw Operations.refused(
                        "busy",
                        attempt,
                        "a comparison, or a batch that began right after the last swap, has been running for more than "
                                + PATIENCE.toSeconds() + " s; nothing was changed; try again when it is over");
            }
            throw e;
        }
        table.swapSchemas(tx, name, name + "_g" + plan.from(), candidate.schema());
        table.leave(tx, name);
        // One that was gone back to has replaced nobody: going back once more is another decision.
        table.promote(tx, name, plan.to(), back ? null : plan.from());
        return table.raiseEpoch(tx, name, back ? plan.from() : null);
    }

    private SwapPlan chosen(Connection tx, ReadModelState model, @Nullable Integer number, String attempt) {
        GenerationState live = operations.live(model, attempt);
        if (number != null && number == live.number()) {
            return new SwapPlan(model.name(), live.number(), number, List.of(), true);
        }
        GenerationState candidate = number == null
                ? model.building()
                        .orElseThrow(() -> Operations.refused(
                                "nothing-to-swap",
                                attempt,
                                "no generation is being built; rebuild it first, or name one"))
                : operations.generation(model, number, attempt);
        return new SwapPlan(
                model.name(), live.number(), candidate.number(), problems(tx, model, live, candidate), false);
    }

    private SwapPlan former(Connection tx, ReadModelState model, String attempt) {
        GenerationState live = operations.live(model, attempt);
        Integer left = model.rolledBackFrom();
        if (left != null) {
            return new SwapPlan(model.name(), left, live.number(), List.of(), true);
        }
        Integer replaced = live.replaced();
        GenerationState former =
                replaced == null ? null : model.generation(replaced).orElse(null);
        if (former == null) {
            throw Operations.refused(
                    "nothing-to-swap",
                    attempt,
                    "there is no generation that " + live.number() + " has replaced"
                            + (replaced == null ? "" : ", " + replaced + " was retired") + "; rebuild it instead");
        }
        return new SwapPlan(model.name(), live.number(), former.number(), problems(tx, model, live, former), false);
    }

    private List<String> problems(
            Connection tx, ReadModelState model, GenerationState live, GenerationState candidate) {
        List<String> problems = new ArrayList<>();
        String liveSubscription = live.subscription();
        String subscription = candidate.subscription();
        if (subscription == null || liveSubscription == null) {
            throw Operations.refused(
                    "not-made",
                    attempt(model.name()),
                    candidate.title() + " was not made yet"
                            + (candidate.error() == null
                                    ? "; start a relay that serves version " + candidate.version()
                                    : ": " + candidate.error()));
        }
        Duration ageMax = model.age().ageMax();
        if (candidate.age().compareTo(ageMax) > 0) {
            problems.add(candidate.title() + " is " + candidate.age().toSeconds() + " s behind, the limit is "
                    + ageMax.toSeconds() + " s (" + candidate.lag() + " messages); wait until it has caught up");
        }
        if (candidate.beganAfter() > live.beganAfter()) {
            problems.add("it began after position " + candidate.beganAfter() + ", " + live.number() + " after position "
                    + live.beganAfter() + ": what lies between is not in it");
        }
        long unapplied = operations.table().countUnapplied(tx, subscription, liveSubscription, Operations.COUNT_MAX);
        if (unapplied > 0) {
            problems.add("it has not applied " + unapplied + " messages that " + live.number()
                    + " has: they wait or were given up; see postroom subscription show " + subscription);
        }
        List<String> dependents = operations.table().dependents(tx, live.schema());
        if (!dependents.isEmpty()) {
            problems.add(String.join(", ", dependents) + " would go on with the tables of " + live.number()
                    + "; make it part of the read model's tables, or make it anew after the swap");
        }
        return problems;
    }

    private static String attempt(String name) {
        return "swap read model " + name;
    }

    private static String attemptBack(String name) {
        return "roll back read model " + name;
    }
}
