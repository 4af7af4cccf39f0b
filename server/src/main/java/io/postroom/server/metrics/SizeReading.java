package io.postroom.server.metrics;

import io.postroom.Postroom;
import io.postroom.micrometer.Figure;
import io.postroom.micrometer.Figures;
import io.postroom.micrometer.Reading;
import io.postroom.postgres.Schema;
import io.postroom.server.footprint.FootprintTable;
import io.postroom.server.footprint.TableSize;

/**
 * Sizes and dead rows, by the statement of the page about the database. Apart from the rest: to ask for the size of a partition that
 * somebody has locked is to wait for them.
 */
final class SizeReading implements Reading {
    private static final Figure SIZE =
            Figure.bytes("postroom.db.size", "A table with its partitions, indexes and what is stored apart.");
    private static final Figure DEAD =
            Figure.count("postroom.db.dead.tuples", "Dead rows of a table, as PostgreSQL estimates them.");

    private final FootprintTable table;

    SizeReading(Schema schema) {
        this.table = new FootprintTable(schema);
    }

    @Override
    public void read(Postroom postroom, Figures figures) {
        for (TableSize each : postroom.database().run(table::tables)) {
            figures.put(SIZE, each.bytes(), "table", each.name());
            figures.put(DEAD, each.dead(), "table", each.name());
        }
    }
}
