package io.postroom.server.subscription;

import io.postroom.Postroom;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists subscriptions. */
@Command(name = "subscription", description = "Look at subscriptions.", synopsisSubcommandLabel = "COMMAND")
public final class SubscriptionCommand {
    private final Terminal terminal;
    private final GlobalOptions options;

    public SubscriptionCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = "Show every subscription, how far it is and how far behind.",
            footer = {"%nExample:", "  postroom subscription list -o json --url postgres://localhost/shop"})
    int list(@Mixin OutputOption output) {
        Postroom postroom = open(terminal, options);
        SubscriptionTable table = new SubscriptionTable(postroom.database().schema());
        Listing listing = new Listing(
                "name",
                "lanes",
                "lanesLeased",
                "order",
                "position",
                "lagMessages",
                "lagSeconds",
                "aggregateTypes",
                "eventTypes",
                "tenants",
                "createdAt");
        for (SubscriptionRow row : postroom.database().run(table::subscriptions)) {
            listing.row(
                    row.name(),
                    row.lanes(),
                    row.lanesLeased(),
                    row.order(),
                    row.position(),
                    row.lagMessages(),
                    row.lag(),
                    row.aggregateTypes(),
                    row.eventTypes(),
                    row.tenants(),
                    row.createdAt());
        }
        listing.print(terminal, output.format());
        return ExitCode.OK;
    }

    /** The database that the options name, with a schema that fits. */
    static Postroom open(Terminal terminal, GlobalOptions options) {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
