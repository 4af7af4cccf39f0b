package io.postroom.server.archive;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.archive.Archive;
import io.postroom.archive.ArchiveStep;
import io.postroom.archive.ArchivedDay;
import io.postroom.archive.HotDay;
import io.postroom.archive.Retention;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.subscription.PlanOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Confirmation;
import io.postroom.server.terminal.Counted;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The archive's commands: thin words around {@link Archive}. */
@Command(
        name = "archive",
        description = "Look at old days that are archived; archive more, export one to a file, or drop one for good.",
        synopsisSubcommandLabel = "COMMAND")
public final class ArchiveCommand {
    private static final String DAY = "The day, as 2026-11-09.";
    private static final Pattern DAY_FORM = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");
    private static final int DAY_LENGTH_MAX = 30;

    private final Terminal terminal;
    private final GlobalOptions options;

    public ArchiveCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = "Show every archived day, newest first: its positions, messages and size.",
            footer = {"%nExample:", "  postroom archive list -o json"})
    int list(
            @Mixin OutputOption output,
            @Option(names = "--dropped", description = "Also those that were dropped.") boolean dropped) {
        return run(archive -> {
            Listing listing = new Listing(
                    "day", "state", "firstPosition", "lastPosition", "messages", "bytes", "archivedAt", "droppedAt");
            for (ArchivedDay day : archive.days(dropped)) {
                listing.row(
                        day.day(),
                        day.isDropped() ? "dropped" : "archived",
                        day.firstPosition(),
                        day.lastPosition(),
                        day.messages(),
                        day.bytes(),
                        day.archivedAt(),
                        day.droppedAt());
            }
            listing.print(terminal, output.format());
            return ExitCode.OK;
        });
    }

    @Command(
            name = "run",
            description = {
                "Archive every day that is old enough, oldest first, up to one that somebody needs.",
                "Relays with maintenance do so by themselves if their file has a retention. The exit code is 4 if a day could not go."
            },
            footer = {
                "%nExamples:",
                "  postroom archive run --dry-run",
                "  postroom archive run --older-than 14d --reason 'the disk fills'"
            })
    int run(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Option(names = "--dry-run", description = "Only show the days and who needs them. Needs no --reason.")
                    boolean dryRun,
            @Option(
                            names = "--older-than",
                            paramLabel = "DURATION",
                            description = "Days that ended so long ago; 7d unless given, 1d at least.")
                    @Nullable
                    Duration olderThan) {
        Duration age = olderThan == null ? Retention.USUAL.archiveAfter() : olderThan;
        if (dryRun) {
            return run(archive -> due(archive.due(age), output.format()));
        }
        Act act = operator.act();
        return run(archive -> done(archive.run(age, act), output.format()));
    }

    private int due(List<HotDay> days, OutputFormat format) {
        Listing listing = new Listing("day", "passedAt", "neededBy");
        days.forEach(day -> listing.row(day.day(), day.passedAt(), day.need()));
        listing.print(terminal, format);
        return days.stream().anyMatch(day -> day.need() != null) ? ExitCode.CHECK_FAILED : ExitCode.OK;
    }

    private int done(List<ArchiveStep> steps, OutputFormat format) {
        Listing listing = new Listing("day", "archived", "reason");
        boolean all = true;
        for (ArchiveStep step : steps) {
            boolean archived = step.outcome() == ArchiveStep.Outcome.ARCHIVED;
            all &= archived;
            listing.row(step.day(), archived, archived ? null : step.sentence());
        }
        listing.print(terminal, format);
        return all ? ExitCode.OK : ExitCode.CHECK_FAILED;
    }

    @Command(
            name = "export",
            description = {
                "Write the messages of an archived day as lines of JSON, as postroom tail prints them, payloads as they are, in the order of their positions.",
                "Last come those that were published on that day and stamped later: they would be dropped with it."
            },
            footer = {"%nExample:", "  postroom archive export 2026-11-09 --file 2026-11-09.jsonl.gz"})
    int export(
            @Parameters(paramLabel = "DAY", description = DAY) String day,
            @Option(
                            names = "--file",
                            paramLabel = "FILE",
                            description =
                                    "Written as a whole or not at all, packed if it ends in .gz; standard output unless given.")
                    @Nullable
                    Path file) {
        LocalDate date = date(day);
        return run(archive -> {
            Export export = new Export(archive, date);
            if (file == null) {
                try {
                    export.to(terminal.out());
                } catch (UncheckedIOException e) {
                    throw Terminal.failedOutput(e.getCause());
                }
                return ExitCode.OK;
            }
            long count = export.to(file);
            terminal.say("wrote " + Counted.of(count, "message", "messages") + " of day " + date + " to " + file);
            return ExitCode.OK;
        });
    }

    @Command(
            name = "drop",
            description = {
                "Drop the oldest archived day for good. Refused while a subscription, a reader or a generation of a read model needs it.",
                "Nothing can be replayed or rebuilt from its messages any more: export it first."
            },
            footer = {
                "%nExamples:",
                "  postroom archive drop 2026-08-09 --dry-run",
                "  postroom archive drop 2026-08-09 --reason 'kept for 90 days, exported' --yes"
            })
    int drop(
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(paramLabel = "DAY", description = DAY) String day) {
        LocalDate date = date(day);
        if (risk.isDryRun()) {
            return run(archive -> {
                terminal.say("would drop " + words(archive.planDrop(date)));
                return ExitCode.OK;
            });
        }
        Act act = operator.act();
        return run(archive -> {
            ArchivedDay planned = archive.planDrop(date);
            if (!risk.isYes()) {
                Confirmation.of(terminal).require("drop " + words(planned), date.toString());
            }
            archive.drop(date, act);
            terminal.say("dropped " + words(planned));
            return ExitCode.OK;
        });
    }

    private static String words(ArchivedDay day) {
        return "day " + day.day() + " with " + Counted.of(day.messages(), "message", "messages") + ", "
                + Counted.of(day.bytes(), "byte", "bytes");
    }

    private static LocalDate date(String text) {
        try {
            // Others could be meant that PostgreSQL does not have.
            if (DAY_FORM.matcher(text).matches()) {
                return LocalDate.parse(text);
            }
        } catch (DateTimeParseException e) {
            // Said below.
        }
        throw new CommandException(
                ExitCode.USAGE, "'" + Quoted.text(text, DAY_LENGTH_MAX) + "' is not a day; write 2026-11-09");
    }

    private int run(ToIntFunction<Archive> work) {
        try {
            return work.applyAsInt(open().archive());
        } catch (PostroomException e) {
            switch (e.code()) {
                case "archive.unknown-day" -> throw new CommandException(ExitCode.NOT_FOUND, e.getMessage(), e);
                case "audit.invalid", "archive.retention-invalid" ->
                    throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
                default -> throw e;
            }
        }
    }

    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        // A step takes as long as a day is large.
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.ENDLESS))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
