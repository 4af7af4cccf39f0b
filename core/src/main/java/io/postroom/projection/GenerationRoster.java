package io.postroom.projection;

import io.postroom.postgres.Database;
import io.postroom.relay.Roster;
import io.postroom.telemetry.Telemetry;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The generations that one relay serves: those of the versions it was given. */
final class GenerationRoster implements Roster {
    private static final Logger LOG = LoggerFactory.getLogger(GenerationRoster.class);

    private static final long PAUSE_NANOS = 1_000_000_000L;
    /** A second, two, four, up to a minute or so. */
    private static final int PAUSES_MAX = 7;

    private final GenerationMaker maker;
    private final Database database;
    private final GenerationTable table;
    private final Telemetry telemetry;
    private final List<ReadModel> models;
    private final Set<String> names = new TreeSet<>();
    private final Map<Key, Entry> entries = new LinkedHashMap<>();
    private final Set<Key> strange = new java.util.HashSet<>();
    private @Nullable Thread making;
    private volatile int failures;
    private volatile long notBefore = System.nanoTime();

    GenerationRoster(
            GenerationMaker maker,
            Database database,
            GenerationTable table,
            Telemetry telemetry,
            List<ReadModel> models) {
        this.maker = maker;
        this.database = database;
        this.table = table;
        this.telemetry = telemetry;
        this.models = List.copyOf(models);
        models.forEach(model -> names.add(model.name()));
    }

    private record Key(String readModel, int number) {}

    @Override
    public void open() {
        maker.register(models);
        // What somebody asks for and cannot be made is no reason not to serve the rest.
        make();
    }

    @Override
    public List<Entry> entries(Connection tx) {
        List<Entry> served = new ArrayList<>();
        boolean asked = false;
        for (GenerationTable.Row row : table.generations(tx, names)) {
            ReadModel model = model(row);
            if (model == null) {
                warnOnce(row);
            } else if (row.isAsked()) {
                asked = true;
            } else {
                served.add(entry(model, row));
            }
        }
        if (asked && (making == null || !making.isAlive()) && System.nanoTime() - notBefore >= 0) {
            makeAside();
        }
        table.freshness(tx, names).forEach((name, age) -> telemetry.readModelAge(name, age.age(), age.ageMax()));
        return served;
    }

    /** Not on this thread: making tables may take its time, and leases must go on. */
    private void makeAside() {
        Thread thread = new Thread(this::make, "postroom-make-generation");
        thread.setDaemon(true);
        thread.start();
        making = thread;
    }

    /** What fails is tried again, ever later. */
    private void make() {
        failures = maker.makeAllQuietly(models) ? 0 : Math.min(failures + 1, PAUSES_MAX);
        notBefore = System.nanoTime() + (failures == 0 ? 0 : PAUSE_NANOS << (failures - 1));
    }

    private Entry entry(ReadModel model, GenerationTable.Row row) {
        Entry known = entries.computeIfAbsent(
                new Key(row.readModel(), row.number()),
                key -> new Entry(
                        model.subscription(row.number()),
                        new GenerationProjection(model, row.number(), database, table),
                        Long.MAX_VALUE));
        Long holdAt = row.holdAt();
        return holdAt == null ? known : new Entry(known.subscription(), known.projection(), holdAt);
    }

    private @Nullable ReadModel model(GenerationTable.Row row) {
        return models.stream()
                .filter(model -> model.name().equals(row.readModel()) && model.version() == row.version())
                .findFirst()
                .orElse(null);
    }

    private void warnOnce(GenerationTable.Row row) {
        if (strange.add(new Key(row.readModel(), row.number()))) {
            LOG.warn(
                    "{} has version {} of its tables, which this relay does not serve; it stays where it is unless another relay does",
                    GenerationState.title(row.readModel(), row.number()),
                    row.version());
        }
    }
}
