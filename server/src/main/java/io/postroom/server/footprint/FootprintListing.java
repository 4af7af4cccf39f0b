package io.postroom.server.footprint;

import io.postroom.archive.ArchivedDay;
import io.postroom.server.terminal.Listing;
import java.util.List;

/** What the database holds, as calls and commands show it. */
final class FootprintListing {
    private FootprintListing() {}

    static Listing tables(List<TableSize> tables) {
        Listing listing =
                new Listing("name", "partitions", "bytes", "indexBytes", "liveRows", "deadRows", "vacuumedAt");
        tables.forEach(each -> listing.row(
                each.name(),
                each.partitions(),
                each.bytes(),
                each.indexBytes(),
                each.live(),
                each.dead(),
                each.vacuumedAt()));
        return listing;
    }

    static Listing holders(List<Holder> holders) {
        Listing listing = new Listing("kind", "name", "application", "state", "openSeconds", "transactionsBehind");
        holders.forEach(each -> listing.row(
                each.kind(), each.name(), each.application(), each.state(), each.openFor(), each.transactionsBehind()));
        return listing;
    }

    static Listing days(List<DayPartition> days) {
        Listing listing = new Listing("table", "partitions", "first", "last", "daysAhead");
        days.forEach(each -> listing.row(each.table(), each.partitions(), each.first(), each.last(), each.daysAhead()));
        return listing;
    }

    static Listing archive(List<ArchivedDay> days) {
        Listing listing = new Listing("day", "firstPosition", "lastPosition", "messages", "bytes", "archivedAt");
        days.forEach(each -> listing.row(
                each.day(),
                each.firstPosition(),
                each.lastPosition(),
                each.messages(),
                each.bytes(),
                each.archivedAt()));
        return listing;
    }
}
