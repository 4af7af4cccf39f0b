package io.postroom.server.subscription;

import io.postroom.Postroom;
import io.postroom.server.postgres.Connections;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.UnknownSubscriptionException;
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
        Postroom postroom = SubscriptionCommand.open(terminal, options, Connections.SHORT);
        try {
            SubscriptionListing.lanes(postroom.subscriptions().lanes(subscription))
                    .print(terminal, output.format());
        } catch (UnknownSubscriptionException e) {
            throw new CommandException(ExitCode.NOT_FOUND, e.getMessage(), e);
        }
        return ExitCode.OK;
    }
}
