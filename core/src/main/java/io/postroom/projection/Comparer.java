package io.postroom.projection;

import io.postroom.PostroomException;
import io.postroom.postgres.DatabaseException;
import io.postroom.subscription.Subscriptions;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Compares two generations exactly: both are brought to one position of the journal and kept there until a snapshot is taken, then they
 * go on, and their tables are compared in the snapshot.
 */
final class Comparer {
    /** A hold ends by itself after this time, unless it is prolonged. */
    private static final Duration HOLD = Duration.ofSeconds(10);

    private static final long PROLONG_NANOS = HOLD.toNanos() / 4;
    private static final long LOOK_AGAIN_MILLIS = 50;
    private static final int SHOWN_MAX = 5;

    private final Operations operations;
    private final Subscriptions subscriptions;

    Comparer(Operations operations, Subscriptions subscriptions) {
        this.operations = operations;
        this.subscriptions = subscriptions;
    }

    /** Two generations on their way to a position. */
    private record Pair(ReadModelState model, GenerationState live, GenerationState candidate, long holdAt) {
        Integer[] numbers() {
            return new Integer[] {live.number(), candidate.number()};
        }
    }

    Comparison compare(String name, @Nullable Integer number, int examplesMax, Duration patience) {
        String attempt = "compare the generations of read model " + name;
        long deadline = System.nanoTime() + patience.toNanos();
        ReadModelState model = operations.database().run(tx -> operations.find(tx, name, attempt));
        Pair chosen = choose(model, number, attempt);
        List<String> names = List.of(subscription(chosen.live(), attempt), subscription(chosen.candidate(), attempt));
        Pair pair = subscriptions.whileFree(names, attempt, patience, tx -> hold(tx, chosen, names, attempt));
        try {
            await(pair, deadline, patience, attempt);
            return operations.database().transact(tx -> compare(tx, pair, examplesMax, attempt));
        } finally {
            endHold(pair);
        }
    }

    private Pair choose(ReadModelState model, @Nullable Integer number, String attempt) {
        GenerationState live = operations.live(model, attempt);
        GenerationState candidate;
        if (number != null) {
            candidate = operations.generation(model, number, attempt);
        } else {
            candidate = model.building()
                    .or(() -> model.generations().stream()
                            .filter(each -> !each.isLive())
                            .reduce((first, last) -> last))
                    .orElseThrow(() -> Operations.refused(
                            "nothing-to-compare", attempt, "there is one generation only; rebuild it first"));
        }
        if (candidate.isLive()) {
            throw Operations.refused(
                    "nothing-to-compare", attempt, candidate.number() + " is the live one; name another");
        }
        Duration ageMax = model.age().ageMax();
        if (candidate.age().compareTo(ageMax) > 0) {
            throw Operations.refused(
                    "not-ready",
                    attempt,
                    candidate.title() + " is " + candidate.age().toSeconds() + " s behind, the limit is "
                            + ageMax.toSeconds()
                            + " s, and the live one would wait for it; compare when it has caught up");
        }
        return new Pair(model, live, candidate, 0);
    }

    private static String subscription(GenerationState generation, String attempt) {
        String subscription = generation.subscription();
        if (subscription == null) {
            throw Operations.refused(
                    "not-made",
                    attempt,
                    generation.title() + " was not made yet; start a relay that serves version "
                            + generation.version());
        }
        return subscription;
    }

    private Optional<Pair> hold(Connection tx, Pair pair, List<String> names, String attempt) {
        operations.lock(tx, pair.model().name(), attempt);
        if (!subscriptions.lockFree(tx, names)) {
            return Optional.empty();
        }
        long holdAt = operations.table().hold(tx, pair.model().name(), pair.numbers(), HOLD);
        return Optional.of(new Pair(pair.model(), pair.live(), pair.candidate(), holdAt));
    }

    private void await(Pair pair, long deadline, Duration patience, String attempt) {
        String name = pair.model().name();
        long prolonged = System.nanoTime();
        while (true) {
            List<String> behind =
                    operations.database().run(tx -> operations.table().behind(tx, name, pair.numbers(), pair.holdAt()));
            if (behind.isEmpty()) {
                return;
            }
            long now = System.nanoTime();
            if (now - deadline > 0) {
                throw Operations.refused(
                        "not-level",
                        attempt,
                        "after " + patience.toSeconds() + " s they are not both at position " + pair.holdAt() + ": "
                                + String.join(", ", behind.subList(0, Math.min(behind.size(), SHOWN_MAX)))
                                + "; is there a relay that serves them?");
            }
            if (now - prolonged > PROLONG_NANOS) {
                prolonged = now;
                boolean held = operations
                        .database()
                        .run(tx -> operations.table().prolongHold(tx, name, pair.numbers(), pair.holdAt(), HOLD));
                if (!held) {
                    throw ranOut(attempt);
                }
            }
            pause(attempt);
        }
    }

    private Comparison compare(Connection tx, Pair pair, int examplesMax, String attempt) {
        ReadModelTable table = operations.table();
        String name = pair.model().name();
        table.repeatableRead(tx);
        // A swap between the looks at two tables would have them compared with themselves. One that was committed after
        // this snapshot
        // and before the lock is seen by others.
        if (!table.keepFromSwap(tx, name)
                || operations.generations().epoch(tx, name)
                        != operations
                                .database()
                                .<Long>run(other -> operations.generations().epoch(other, name))) {
            throw Operations.refused("swapped", attempt, "it is being swapped; nothing was changed; try again");
        }
        // The lanes as this snapshot sees them: their positions were written together with the tables.
        if (!table.behind(tx, name, pair.numbers(), pair.holdAt()).isEmpty()) {
            throw ranOut(attempt);
        }
        ReadModelState model = operations.find(tx, name, attempt);
        GenerationState live = operations.generation(model, pair.live().number(), attempt);
        GenerationState candidate =
                operations.generation(model, pair.candidate().number(), attempt);
        endHold(pair);
        List<TableComparison> tables = operations.generations().tables(tx, live.schema(), candidate.schema()).stream()
                .map(each -> table.compare(tx, live.schema(), candidate.schema(), each, model.ignored(), examplesMax))
                .toList();
        return new Comparison(
                name,
                live.number(),
                candidate.number(),
                pair.holdAt(),
                live.deliveries() + live.deadLetters(),
                candidate.deliveries() + candidate.deadLetters(),
                tables);
    }

    private void endHold(Pair pair) {
        try {
            operations.database().transact(tx -> {
                operations.table().endHold(tx, pair.model().name(), pair.numbers(), pair.holdAt());
                operations.generations().wake(tx);
                return true;
            });
        } catch (DatabaseException e) {
            // It ends by itself, and what the comparison says is more important.
        }
    }

    private static PostroomException ranOut(String attempt) {
        return Operations.refused(
                "not-level",
                attempt,
                "they went on before both were seen at one position; nothing was changed; try again");
    }

    private static void pause(String attempt) {
        try {
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Operations.refused("interrupted", attempt, "interrupted; nothing was changed");
        }
    }
}
