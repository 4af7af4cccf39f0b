package io.postroom.server.schedule;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.job.Enqueued;
import io.postroom.schedule.Recurrence;
import io.postroom.schedule.Schedule;
import io.postroom.schedule.ScheduleDetails;
import io.postroom.schedule.Schedules;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The schedules' commands: thin words around {@link Schedules}. */
@Command(
        name = "schedule",
        description = "Look at schedules, run, pause, resume and remove them.",
        synopsisSubcommandLabel = "COMMAND")
public final class ScheduleCommand {
    private static final int NEXT = 5;
    private static final String NAME = "The schedule.";

    private final Terminal terminal;
    private final GlobalOptions options;

    public ScheduleCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = "Show every schedule, when it fires, what it enqueues, and the last times that nobody saw.",
            footer = {"%nExample:", "  postroom schedule list -o json"})
    int list(@Mixin OutputOption output) {
        Listing listing = new Listing(
                "name",
                "when",
                "kind",
                "queue",
                "missed",
                "overlap",
                "nextAt",
                "lastAt",
                "lastJob",
                "pausedAt",
                "pausedBy",
                "pauseReason",
                "missedAt",
                "missedTimes");
        for (ScheduleDetails each : open().list()) {
            Schedule schedule = each.schedule();
            listing.row(
                    schedule.name(),
                    schedule.describe(),
                    schedule.job().kind(),
                    schedule.job().queue(),
                    schedule.missed().word(),
                    schedule.overlap(),
                    each.nextAt(),
                    each.lastAt(),
                    each.lastJob(),
                    each.pausedAt(),
                    each.pausedBy(),
                    each.pauseReason(),
                    each.missedAt(),
                    each.missedTimes());
        }
        listing.print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "next",
            description = "Show the next times that a schedule fires, in UTC.",
            footer = {"%nExample:", "  postroom schedule next nightly-report --count 10"})
    int next(
            @Mixin OutputOption output,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(names = "--count", paramLabel = "N", description = "So many; 5 unless given.") @Nullable
                    Integer count) {
        int wanted = count == null ? NEXT : count;
        if (wanted < 1 || wanted > Recurrence.COUNT_MAX) {
            throw new CommandException(
                    ExitCode.USAGE, "--count is " + wanted + ", the range is 1 to " + Recurrence.COUNT_MAX);
        }
        Schedules schedules = open();
        return told(() -> {
            Listing listing = new Listing("fireAt");
            schedules.next(name, wanted).forEach(listing::row);
            listing.print(terminal, output.format());
            if (schedules.get(name).pausedAt() != null) {
                terminal.say("schedule " + name + " is paused; it fires at none of these until it is resumed");
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "run",
            description = "Enqueue the job of a schedule now, and print its number. Its own times stay as they are.",
            footer = {"%nExample:", "  postroom schedule run nightly-report --reason 'numbers were wrong'"})
    int run(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return told(() -> {
            Enqueued job = open().runNow(name, act.actor(), act.reason());
            if (job.skipped()) {
                terminal.say("nothing was enqueued: job " + job.id() + " of schedule " + name + " has not ended");
            }
            terminal.print(job.id() + "\n");
            return ExitCode.OK;
        });
    }

    @Command(
            name = "pause",
            description = "Let a schedule fire no more. Jobs that it has enqueued go on.",
            footer = {"%nExample:", "  postroom schedule pause nightly-report --reason 'holidays'"})
    int pause(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return told(() -> {
            boolean paused = open().pause(name, act.actor(), act.reason());
            terminal.say("schedule " + name + (paused ? " is paused" : " is paused already"));
            return ExitCode.OK;
        });
    }

    @Command(
            name = "resume",
            description = "Let a paused schedule fire again. Times that have passed meanwhile are left out.",
            footer = {"%nExample:", "  postroom schedule resume nightly-report --reason 'back to work'"})
    int resume(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return told(() -> {
            boolean resumed = open().resume(name, act.actor(), act.reason());
            terminal.say("schedule " + name + (resumed ? " goes on" : " is not paused"));
            return ExitCode.OK;
        });
    }

    @Command(
            name = "remove",
            description = {
                "Take a schedule away that nobody declares any more. Jobs that it has enqueued go on.",
                "An application or a file that still declares it brings it back at its next start."
            },
            footer = {"%nExample:", "  postroom schedule remove nightly-report --reason 'nobody reads it'"})
    int remove(@Mixin OperatorOptions operator, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        Act act = operator.act();
        return told(() -> {
            open().remove(name, act.actor(), act.reason());
            terminal.say("schedule " + name + " is removed");
            return ExitCode.OK;
        });
    }

    private static int told(Supplier<Integer> act) {
        try {
            return act.get();
        } catch (PostroomException e) {
            if (e.code().equals("schedule.unknown")) {
                throw new CommandException(ExitCode.NOT_FOUND, e.getMessage());
            }
            throw e.code().equals("schedule.act-invalid") ? new CommandException(ExitCode.USAGE, e.getMessage()) : e;
        }
    }

    private Schedules open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom.schedules();
    }
}
