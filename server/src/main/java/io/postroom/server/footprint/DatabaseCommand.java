package io.postroom.server.footprint;

import io.postroom.Postroom;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Looks at what Postroom takes of its database. */
@Command(
        name = "database",
        description = "Look at what Postroom takes of its database.",
        synopsisSubcommandLabel = "COMMAND")
public final class DatabaseCommand {
    private static final int HOLDERS_MAX = 10;

    private final Terminal terminal;
    private final GlobalOptions options;

    public DatabaseCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "tables",
            description = "Show the tables with their sizes and dead rows, the largest first.",
            footer = {"%nExample:", "  postroom database tables -o json"})
    int tables(@Mixin OutputOption output) {
        Postroom reading = open();
        FootprintListing.tables(reading.database().run(table(reading)::tables)).print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "holders",
            description = "Show who keeps old row versions from being removed, the oldest first.",
            footer = {"%nExample:", "  postroom database holders"})
    int holders(@Mixin OutputOption output) {
        Postroom reading = open();
        FootprintListing.holders(reading.database().run(tx -> table(reading).holders(tx, HOLDERS_MAX)))
                .print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "partitions",
            description = "Show the daily partitions of each table, and how many days they are ahead.",
            footer = {"%nExample:", "  postroom database partitions"})
    int partitions(@Mixin OutputOption output) {
        Postroom reading = open();
        FootprintListing.days(reading.database().run(table(reading)::days)).print(terminal, output.format());
        return ExitCode.OK;
    }

    private static FootprintTable table(Postroom reading) {
        return new FootprintTable(reading.database().schema());
    }

    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
