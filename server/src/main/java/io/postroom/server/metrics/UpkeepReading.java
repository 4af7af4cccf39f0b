package io.postroom.server.metrics;

import io.postroom.Postroom;
import io.postroom.micrometer.Figure;
import io.postroom.micrometer.Figures;
import io.postroom.micrometer.Reading;
import io.postroom.postgres.Schema;
import io.postroom.server.footprint.DayPartition;
import io.postroom.server.footprint.FootprintTable;
import io.postroom.server.footprint.Holder;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** Partitions made ahead and held snapshots, by the statements of the page about the database. */
final class UpkeepReading implements Reading {
    private static final Figure AHEAD =
            Figure.least("postroom.db.partitions.ahead", "For how many days from today on a table has its partition.");
    private static final Figure XMIN = Figure.count(
            "postroom.db.oldest.xmin.age",
            "How many transactions ago the oldest snapshot was taken that somebody holds.");
    private static final Figure TRANSACTION = Figure.age(
            "postroom.db.oldest.transaction.age",
            "How long the oldest transaction is open that holds a snapshot; not a number if none shows its time.");
    private static final int HOLDERS_MAX = 100;

    private final FootprintTable table;

    UpkeepReading(Schema schema) {
        this.table = new FootprintTable(schema);
    }

    @Override
    public void read(Postroom postroom, Figures figures) {
        for (DayPartition each : postroom.database().run(table::days)) {
            figures.put(AHEAD, each.daysAhead(), "table", each.table());
        }
        List<Holder> holders = postroom.database().run(tx -> table.holders(tx, HOLDERS_MAX));
        figures.put(
                XMIN,
                holders.stream().mapToLong(Holder::transactionsBehind).max().orElse(0));
        figures.put(TRANSACTION, oldestSeconds(holders));
    }

    /** Zero would be a lie where sessions are there that show their time to nobody without pg_read_all_stats. */
    private static double oldestSeconds(List<Holder> holders) {
        return holders.stream()
                .map(Holder::openFor)
                .filter(Objects::nonNull)
                .max(Duration::compareTo)
                .map(open -> open.toMillis() / 1e3)
                .orElse(holders.stream().anyMatch(Holder::isTimeHidden) ? Double.NaN : 0);
    }
}
