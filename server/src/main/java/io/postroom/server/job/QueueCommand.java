package io.postroom.server.job;

import io.postroom.PostroomException;
import io.postroom.job.JobBoard;
import io.postroom.job.JobQueue;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.util.List;
import java.util.function.BooleanSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The queues of jobs. */
@Command(name = "queue", description = "Look at queues, pause and resume them.", synopsisSubcommandLabel = "COMMAND")
public final class QueueCommand {
    private final Terminal terminal;
    private final GlobalOptions options;

    public QueueCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description =
                    "Show queues that have jobs, have workers or are paused, and how many jobs of each wait and run.",
            footer = {"%nExample:", "  postroom job queue list"})
    int list(@Mixin OutputOption output) {
        Listing listing =
                new Listing("queue", "ready", "waiting", "running", "workers", "pausedAt", "pausedBy", "pauseReason");
        for (JobQueue queue : board().queues()) {
            listing.row(
                    queue.name(),
                    queue.ready(),
                    queue.waiting(),
                    queue.running(),
                    queue.workers(),
                    queue.pausedAt(),
                    queue.pausedBy(),
                    queue.pauseReason());
        }
        listing.print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "pause",
            description = "Let nothing more of a queue be claimed. What runs goes on; nothing is lost.",
            footer = {"%nExample:", "  postroom job queue pause mail --reason 'the mail server is down'"})
    int pause(
            @Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = "The queue.") String name) {
        Act act = operator.act();
        JobBoard board = board();
        List<String> known = board.queues().stream().map(JobQueue::name).toList();
        boolean changed = told(() -> board.pause(name, act.actor(), act.reason()));
        terminal.say("queue " + name + (changed ? " is paused; what runs goes on" : " is paused already"));
        if (!known.contains(name)) {
            terminal.say("no job or worker has named queue " + name + " so far" + Suggestion.didYouMean(name, known));
        }
        return ExitCode.OK;
    }

    @Command(
            name = "resume",
            description = "Let a paused queue go on.",
            footer = {"%nExample:", "  postroom job queue resume mail --reason 'it is back'"})
    int resume(
            @Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = "The queue.") String name) {
        Act act = operator.act();
        JobBoard board = board();
        boolean changed = told(() -> board.resume(name, act.actor(), act.reason()));
        terminal.say("queue " + name + (changed ? " goes on" : " is not paused"));
        return ExitCode.OK;
    }

    private JobBoard board() {
        return JobCommand.open(terminal, options).jobBoard();
    }

    private static boolean told(BooleanSupplier act) {
        try {
            return act.getAsBoolean();
        } catch (PostroomException e) {
            throw e.code().startsWith("job.") ? new CommandException(ExitCode.USAGE, e.getMessage()) : e;
        }
    }
}
