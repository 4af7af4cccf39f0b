package io.postroom.projection;

import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.subscription.Act;
import io.postroom.subscription.Subscriptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Takes generations away that are not live: schema, tables and subscription in one transaction. */
final class Retirer {
    /** How long to wait for readers of its tables. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(5);

    private final Operations operations;
    private final Subscriptions subscriptions;

    Retirer(Operations operations, Subscriptions subscriptions) {
        this.operations = operations;
        this.subscriptions = subscriptions;
    }

    Retirement plan(String name, int number) {
        String attempt = attempt(name, number);
        return operations.database().run(tx -> plan(tx, operations.find(tx, name, attempt), number, attempt));
    }

    Retirement retire(String name, int number, Act act, Duration patience) {
        String attempt = attempt(name, number);
        Operations.check(act, attempt);
        // Refused before relays are asked for their lanes.
        Retirement plan = plan(name, number);
        String subscription = operations
                .database()
                .run(tx -> operations
                        .find(tx, name, attempt)
                        .generation(number)
                        .map(GenerationState::subscription)
                        .orElse(null));
        if (plan.already()) {
            return plan;
        }
        List<String> names = subscription == null ? List.of() : List.of(subscription);
        return subscriptions.whileFree(names, attempt, patience, tx -> {
            ReadModelState model = operations.lock(tx, name, attempt);
            Retirement now = plan(tx, model, number, attempt);
            if (now.already()) {
                return Optional.of(now);
            }
            String made = operations.generation(model, number, attempt).subscription();
            if (made != null && (names.isEmpty() || !subscriptions.lockFree(tx, names))) {
                return Optional.empty();
            }
            retire(tx, now, made, act, attempt);
            return Optional.of(now);
        });
    }

    private void retire(
            Connection tx,
            Retirement plan,
            @org.jspecify.annotations.Nullable String subscription,
            Act act,
            String attempt) {
        operations.table().forget(tx, plan.readModel(), plan.generation());
        if (subscription != null) {
            operations.requireOwner(tx, plan.schema(), attempt);
            subscriptions.discard(tx, subscription, act);
            try {
                operations.table().dropSchema(tx, plan.schema(), LOCK_PATIENCE);
            } catch (DatabaseException e) {
                if (e.sqlState().equals(SqlState.LOCK_NOT_AVAILABLE)) {
                    throw Operations.refused(
                            "read",
                            attempt,
                            "somebody has been using its tables for more than " + LOCK_PATIENCE.toSeconds()
                                    + " s; nothing was changed; try again when they are done");
                }
                if (e.sqlState().equals(SqlState.DEPENDENTS)) {
                    throw Operations.refused(
                            "has-dependents",
                            attempt,
                            e.said() + "; nothing was changed; drop or change what hangs on it first");
                }
                throw e;
            }
        }
        operations.record(
                tx,
                act,
                "retire",
                plan.readModel(),
                Map.of(
                        "generation", plan.generation(),
                        "schema", plan.schema(),
                        "tables", plan.tables(),
                        "deliveries", plan.deliveries(),
                        "deadLetters", plan.deadLetters()));
        operations.generations().wake(tx);
    }

    private Retirement plan(Connection tx, ReadModelState model, int number, String attempt) {
        if (model.generation(number).isEmpty() && number >= 1 && number <= model.lastGeneration()) {
            return new Retirement(model.name(), number, model.name() + "_g" + number, List.of(), 0, 0, true);
        }
        GenerationState generation = operations.generation(model, number, attempt);
        if (generation.isLive()) {
            throw Operations.refused("is-live", attempt, "it is the live one; swap to another first");
        }
        List<String> dependents = operations.table().dependents(tx, generation.schema());
        if (!dependents.isEmpty()) {
            throw Operations.refused(
                    "has-dependents",
                    attempt,
                    String.join(", ", dependents) + " would go with its tables; drop or change it first");
        }
        return new Retirement(
                model.name(),
                number,
                generation.schema(),
                operations.generations().tables(tx, generation.schema()),
                generation.deliveries(),
                generation.deadLetters(),
                false);
    }

    private static String attempt(String name, int number) {
        return "retire " + GenerationState.title(name, number);
    }
}
