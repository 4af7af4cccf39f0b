package io.postroom.server.metrics;

import io.postroom.Postroom;
import io.postroom.micrometer.Figure;
import io.postroom.micrometer.Figures;
import io.postroom.micrometer.Reading;
import io.postroom.postgres.Schema;
import io.postroom.server.footprint.DayPartition;
import io.postroom.server.footprint.FootprintTable;
import io.postroom.server.footprint.Holder;
import io.postroom.server.footprint.TableSize;
import java.time.Duration;

/** Sizes, dead rows, partitions and held snapshots: what the page about the database shows, by the same statements. */
final class FootprintReading implements Reading {
    private static final Figure SIZE =
            Figure.bytes("postroom.db.size", "A table with its partitions, indexes and what is stored apart.");
    private static final Figure DEAD =
            Figure.count("postroom.db.dead.tuples", "Dead rows of a table, as PostgreSQL estimates them.");
    private static final Figure AHEAD =
            Figure.least("postroom.db.partitions.ahead", "For how many days from today on a table has its partition.");
    private static final Figure XMIN = Figure.count(
            "postroom.db.oldest.xmin.age",
            "How many transactions ago the oldest snapshot was taken that somebody holds.");
    private static final Figure TRANSACTION = Figure.age(
            "postroom.db.oldest.transaction.age", "How long the oldest transaction is open that holds a snapshot.");
    private static final int HOLDERS_MAX = 100;

    private final FootprintTable table;

    FootprintReading(Schema schema) {
        this.table = new FootprintTable(schema);
    }

    @Override
    public void read(Postroom postroom, Figures figures) {
        for (TableSize each : postroom.database().run(table::tables)) {
            figures.put(SIZE, each.bytes(), "table", each.name());
            figures.put(DEAD, each.dead(), "table", each.name());
        }
        for (DayPartition each : postroom.database().run(table::days)) {
            figures.put(AHEAD, each.daysAhead(), "table", each.table());
        }
        long behind = 0;
        Duration oldest = Duration.ZERO;
        for (Holder each : postroom.database().run(tx -> table.holders(tx, HOLDERS_MAX))) {
            behind = Math.max(behind, each.transactionsBehind());
            Duration open = each.openFor();
            if (open != null && open.compareTo(oldest) > 0) {
                oldest = open;
            }
        }
        figures.put(XMIN, behind);
        figures.put(TRANSACTION, oldest.toMillis() / 1e3);
    }
}
