package io.postroom.server.footprint;

import io.javalin.http.Context;
import io.postroom.Postroom;
import io.postroom.archive.ArchivedDay;
import io.postroom.server.overview.Sampler;
import io.postroom.server.web.Pages;
import io.postroom.server.web.Routes;
import io.postroom.server.web.WebServer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The page about the database, and the call that says the same. */
public final class FootprintPages implements WebServer.Feature {
    /** Smaller tables are folded away. */
    private static final long SMALL = 1_000_000;

    private static final int HOLDERS_MAX = 10;

    private final Postroom reading;
    private final Sampler sampler;
    private final FootprintTable table;

    public FootprintPages(Postroom reading, Sampler sampler) {
        this.reading = reading;
        this.sampler = sampler;
        this.table = new FootprintTable(reading.database().schema());
    }

    @Override
    public void add(Routes routes) {
        Pages pages = routes.pages();
        routes.page("/database", context -> show(context, pages)).call("/database", context -> call());
    }

    private List<TableSize> tables() {
        return reading.database().run(table::tables);
    }

    private List<Holder> holders() {
        return reading.database().run(tx -> table.holders(tx, HOLDERS_MAX));
    }

    private List<DayPartition> days() {
        return reading.database().run(table::days);
    }

    private List<ArchivedDay> archive() {
        return reading.archive().days(false);
    }

    private void show(Context context, Pages pages) {
        List<TableSize> tables = tables();
        pages.show(
                context,
                "database",
                pages.page(context, "Database", "database"),
                "schema",
                reading.database().schema().name(),
                "tables",
                tables,
                "large",
                tables.stream().filter(each -> each.bytes() >= SMALL).toList(),
                "small",
                tables.stream().filter(each -> each.bytes() < SMALL).toList(),
                "bytes",
                tables.stream().mapToLong(TableSize::bytes).sum(),
                "walPerMessage",
                sampler.walPerMessage(),
                "holders",
                holders(),
                "days",
                days(),
                "archive",
                archive());
    }

    private Map<String, @Nullable Object> call() {
        Map<String, @Nullable Object> answer = new LinkedHashMap<>();
        answer.put("schema", reading.database().schema().name());
        answer.put("walBytesPerMessage", sampler.walPerMessage());
        answer.put("tables", FootprintListing.tables(tables()).objects());
        answer.put("holders", FootprintListing.holders(holders()).objects());
        answer.put("partitions", FootprintListing.days(days()).objects());
        answer.put("archive", FootprintListing.archive(archive()).objects());
        return answer;
    }
}
