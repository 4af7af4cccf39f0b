package io.postroom.server.subscription;

import io.postroom.Postroom;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists lanes. */
@Command(name = "lane", description = "Look at lanes.", synopsisSubcommandLabel = "COMMAND")
public final class LaneCommand {
    private final Terminal terminal;
    private final GlobalOptions options;

    public LaneCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = "Show every lane, how far it is, how far behind, and which relay has it.",
            footer = {"%nExample:", "  postroom lane list --subscription billing --url postgres://localhost/shop"})
    int list(
            @Mixin OutputOption output,
            @Option(names = "--subscription", paramLabel = "NAME", description = "The lanes of this one only.")
                    @Nullable
                    String subscription) {
        Postroom postroom = SubscriptionCommand.open(terminal, options);
        SubscriptionTable table = new SubscriptionTable(postroom.database().schema());
        List<LaneRow> lanes = postroom.database().run(tx -> table.lanes(tx, subscription));
        if (subscription != null && lanes.isEmpty()) {
            throw new CommandException(
                    ExitCode.NOT_FOUND,
                    "could not list lanes: there is no subscription " + Quoted.text(subscription, 100)
                            + Suggestion.didYouMean(
                                    subscription,
                                    postroom.database().run(table::subscriptions).stream()
                                            .map(SubscriptionRow::name)
                                            .toList()));
        }
        Listing listing = new Listing(
                "subscription",
                "lane",
                "position",
                "lagMessages",
                "lagSeconds",
                "owner",
                "ownerName",
                "leasedUntil",
                "held",
                "fence");
        for (LaneRow lane : lanes) {
            listing.row(
                    lane.subscription(),
                    lane.lane(),
                    lane.position(),
                    lane.lagMessages(),
                    lane.lag(),
                    lane.owner(),
                    lane.ownerName(),
                    lane.leasedUntil(),
                    lane.isHeld(),
                    lane.fence());
        }
        listing.print(terminal, output.format());
        return ExitCode.OK;
    }
}
