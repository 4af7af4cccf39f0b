package io.postroom.projection;

import io.postroom.audit.Audit;
import io.postroom.journal.Journal;
import io.postroom.postgres.Database;
import io.postroom.relay.Roster;
import io.postroom.relay.Subscriber;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import io.postroom.subscription.Subscriptions;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Read models: how fresh they are, and what operators do to their generations. Every act needs an actor and a reason, is audited in the
 * transaction that does it, and is not done twice.
 *
 * <p>A process that dies leaves each act done or not begun; what it asked of relays ends by itself within seconds. Safe for use by many
 * threads.
 */
public final class ReadModels {
    /** How long acts wait for relays unless told otherwise. */
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    /** How many rows that are not the same a comparison names of each table unless told otherwise. */
    public static final int EXAMPLES = 5;

    public static final int EXAMPLES_MAX = 100;

    private final Database database;
    private final Journal journal;
    private final Telemetry telemetry;
    private final GenerationTable generations;
    private final Operations operations;
    private final Rebuilder rebuilder;
    private final Swapper swapper;
    private final Retirer retirer;
    private final Comparer comparer;

    public ReadModels(
            Database database, Journal journal, Audit audit, Subscriptions subscriptions, Telemetry telemetry) {
        this.database = database;
        this.journal = journal;
        this.telemetry = telemetry;
        this.generations = new GenerationTable(database.schema());
        this.operations = new Operations(database, audit, generations);
        this.rebuilder = new Rebuilder(operations, journal);
        this.swapper = new Swapper(operations);
        this.retirer = new Retirer(operations, subscriptions);
        this.comparer = new Comparer(operations, subscriptions);
    }

    /** Lets a relay serve read models: all generations of the versions that are given. Each is made when it is first served. */
    public Roster roster(ReadModel... models) {
        GenerationMaker maker = new GenerationMaker(database, generations, new Subscriber(database.schema(), journal));
        return new GenerationRoster(maker, database, generations, telemetry, Models.checked(models, database.schema()));
    }

    /** How fresh a read model is now, for code that must decide whether it may read it. One statement; any role may run it. */
    public Age age(String name) {
        return database.run(tx -> {
            Age age = generations.freshness(tx, List.of(name)).get(name);
            if (age == null) {
                // Without a look at the other names: whoever asks this may not.
                throw new UnknownReadModelException("could not tell how fresh read model " + name
                        + " is: there is none of that name, or it was never made; see postroom projection list");
            }
            return age;
        });
    }

    public List<ReadModelState> list() {
        return database.run(tx -> operations.table().models(tx, null, Operations.COUNT_MAX));
    }

    public ReadModelState show(String name) {
        return database.run(tx -> operations.find(tx, name, "show read model " + name));
    }

    /** What {@link #rebuild} would ask for now; refuses what it would refuse. */
    public Rebuild planRebuild(String name, @Nullable Point from) {
        return rebuilder.plan(name, from);
    }

    /**
     * Asks for a new generation beside the live one, of the newest version. A relay that serves this version makes it and brings it to
     * the present. It is made from the messages that are still kept: refused if some of those after {@code from} are gone.
     *
     * @param from the first message; null for where the live one began
     */
    public Rebuild rebuild(String name, @Nullable Point from, Act act) {
        return rebuilder.rebuild(name, from, act);
    }

    /**
     * Compares a generation with the live one, both at one position of the journal. They stand still for a moment meanwhile, for not
     * longer than {@code patience}; if this process dies they go on by themselves.
     *
     * @param number null for the one that is being built, or else the last
     * @param examplesMax so many rows that are not the same are named of each table
     */
    public Comparison compare(String name, @Nullable Integer number, int examplesMax, Duration patience) {
        if (examplesMax < 0 || examplesMax > EXAMPLES_MAX) {
            throw Operations.refused(
                    "invalid",
                    "compare the generations of read model " + name,
                    "examples is " + examplesMax + ", the range is 0 to " + EXAMPLES_MAX);
        }
        return comparer.compare(name, number, examplesMax, patience);
    }

    /** What {@link #swap} would do now. */
    public SwapPlan planSwap(String name, @Nullable Integer number) {
        return swapper.plan(name, number);
    }

    /**
     * Lets another generation take the place of the live one, at once: each statement of a reader sees the one or the other. The former
     * is kept up to date.
     *
     * @param number null for the one that is being built
     * @param force whether to do it although something speaks against it
     */
    public SwapPlan swap(String name, @Nullable Integer number, boolean force, Act act) {
        return swapper.swap(name, number, force, act);
    }

    /** What {@link #rollback} would do now. */
    public SwapPlan planRollback(String name) {
        return swapper.planRollback(name);
    }

    /** Undoes the last swap, in the same way. */
    public SwapPlan rollback(String name, boolean force, Act act) {
        return swapper.rollback(name, force, act);
    }

    /** What {@link #retire} would take away now. */
    public Retirement planRetirement(String name, int number) {
        return retirer.plan(name, number);
    }

    /** Takes a generation away that is not live: a former one, or one that is being built. Its dead letters stay, discarded. */
    public Retirement retire(String name, int number, Act act, Duration patience) {
        return retirer.retire(name, number, act, patience);
    }
}
