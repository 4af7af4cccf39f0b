package io.postroom.server.projection;

import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The materialized views' commands: thin words around {@link io.postroom.projection.MaterializedViews}. */
@Command(
        name = "view",
        description = "Look at materialized views that are refreshed every so often; refresh one now, or no longer.",
        synopsisSubcommandLabel = "COMMAND")
public final class ViewCommand {
    private static final String NAME = "The view, as schema.view.";

    private final Terminal terminal;
    private final Opening opening;

    public ViewCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.opening = new Opening(terminal, options);
    }

    @Command(
            name = "list",
            description = "Show every materialized view that is kept, how old it is and how its last refresh went.",
            footer = {"%nExample:", "  postroom view list -o json"})
    int list(@Mixin OutputOption output) {
        return opening.run(postroom -> {
            ProjectionListing.views(postroom.materializedViews().list()).print(terminal, output.format());
            return ExitCode.OK;
        });
    }

    @Command(
            name = "keep",
            description = {
                "Have a materialized view refreshed every so often, by relays that do maintenance.",
                "It must have a unique index, so that it can be refreshed while others read it."
            },
            footer = {"%nExample:", "  postroom view keep report.monthly --every 1h --reason 'for the board'"})
    int keep(
            @Mixin OperatorOptions operator,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(names = "--every", required = true, paramLabel = "DURATION", description = "Such as 10m or 24h.")
                    Duration every) {
        Act act = operator.act();
        return opening.run(postroom -> {
            postroom.materializedViews().keep(name, every, act);
            terminal.say("view " + name + " is refreshed every " + Durations.show(every));
            return ExitCode.OK;
        });
    }

    @Command(
            name = "refresh",
            description = "Let a view be due now; whichever process keeps views refreshes it within seconds.",
            footer = {"%nExample:", "  postroom view refresh report.monthly --reason 'late bookings'"})
    int refresh(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return opening.run(postroom -> {
            postroom.materializedViews().hasten(name, act);
            terminal.say("view " + name + " is due now; postroom view list shows when it was refreshed");
            return ExitCode.OK;
        });
    }

    @Command(
            name = "forget",
            description = "Refresh a view no longer. It stays as it is.",
            footer = {"%nExample:", "  postroom view forget report.monthly --reason 'nobody reads it'"})
    int forget(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return opening.run(postroom -> {
            postroom.materializedViews().forget(name, act);
            terminal.say("view " + name + " is no longer refreshed");
            return ExitCode.OK;
        });
    }
}
