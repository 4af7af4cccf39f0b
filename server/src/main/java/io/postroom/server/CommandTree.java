package io.postroom.server;

import io.postroom.PostroomException;
import io.postroom.postgres.DatabaseException;
import io.postroom.postgres.SqlState;
import io.postroom.server.advice.AdviseCommand;
import io.postroom.server.archive.ArchiveCommand;
import io.postroom.server.audit.AuditCommand;
import io.postroom.server.deadletter.DeadLetterCommand;
import io.postroom.server.dev.BreakCommand;
import io.postroom.server.dev.DevCommand;
import io.postroom.server.dev.MendCommand;
import io.postroom.server.doctor.DoctorCommand;
import io.postroom.server.externalcall.ExternalCallCommand;
import io.postroom.server.footprint.DatabaseCommand;
import io.postroom.server.idempotency.IdempotencyCommand;
import io.postroom.server.job.JobCommand;
import io.postroom.server.job.QueueCommand;
import io.postroom.server.message.MessageCommand;
import io.postroom.server.overview.StatusCommand;
import io.postroom.server.overview.TopCommand;
import io.postroom.server.projection.ProjectionCommand;
import io.postroom.server.projection.ViewCommand;
import io.postroom.server.relay.RelayCommand;
import io.postroom.server.schedule.ScheduleCommand;
import io.postroom.server.schema.SchemaCommand;
import io.postroom.server.serve.ServeCommand;
import io.postroom.server.subscription.LaneCommand;
import io.postroom.server.subscription.SubscriptionCommand;
import io.postroom.server.tail.TailCommand;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.why.WhyCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParseResult;

/** All commands, and what becomes of their errors: a sentence on standard error and an exit code, no stack trace. */
@Command(
        name = "postroom",
        description = "Reliable messaging on PostgreSQL.",
        synopsisSubcommandLabel = "COMMAND",
        footer = {
            "%nExit codes: 0 ok, 1 failure, 2 usage, 3 not found, 4 check failed, 5 partial.",
            "%nExamples:",
            "  postroom dev",
            "  postroom schema migrate --url postgres://localhost/shop",
            "  postroom tail --url postgres://localhost/shop --subscription me --from beginning"
        })
public final class CommandTree {
    /** Prints something about all others. */
    private static final String COMPLETION = "completion";

    @Mixin
    private final GlobalOptions options = new GlobalOptions();

    private CommandTree() {}

    /** Runs one command line and returns its exit code. */
    public static int run(Terminal terminal, String... arguments) {
        // As almost every other program has it.
        String[] asked = arguments.clone();
        if (asked.length > 0 && asked[0].equals("--version")) {
            asked[0] = "version";
        }
        return commandLine(terminal, asked.length == 0 ? "" : asked[0]).execute(asked);
    }

    /** With all commands. */
    static CommandLine commandLine(Terminal terminal) {
        return commandLine(terminal, "");
    }

    /** To make all commands takes longer than most of them run: where the first word names one, that one is enough. */
    private static CommandLine commandLine(Terminal terminal, String first) {
        CommandTree tree = new CommandTree();
        GlobalOptions options = tree.options;
        CommandLine root = new CommandLine(tree);
        Map<String, Supplier<Object>> commands = commands(terminal, options);
        Supplier<Object> only = commands.get(first);
        if (only != null && !first.equals(COMPLETION)) {
            root.addSubcommand(first, only.get());
        } else {
            commands.forEach((name, command) -> root.addSubcommand(name, command.get()));
        }
        Ansi ansi = terminal.hasColours() ? Ansi.ON : Ansi.OFF;
        Values.register(root);
        return root.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(terminal.err(), true, StandardCharsets.UTF_8))
                .setColorScheme(CommandLine.Help.defaultColorScheme(ansi))
                .setUsageHelpWidth(110)
                .setUsageHelpLongOptionsMaxWidth(40)
                // A reason or a name may begin with @ and mean no file of arguments.
                .setExpandAtFiles(false)
                .setExecutionStrategy(parsed -> execute(options, parsed))
                .setParameterExceptionHandler((e, given) -> UsageError.report(terminal, e, given))
                .setExecutionExceptionHandler((e, command, parsed) -> report(terminal, options, e));
    }

    /** By their names, in the order in which they are shown. */
    private static Map<String, Supplier<Object>> commands(Terminal terminal, GlobalOptions options) {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("schema", () -> new SchemaCommand(terminal, options));
        commands.put("tail", () -> new TailCommand(terminal, options));
        commands.put("subscription", () -> new SubscriptionCommand(terminal, options));
        commands.put("lane", () -> new LaneCommand(terminal, options));
        commands.put("projection", () -> new ProjectionCommand(terminal, options));
        commands.put("view", () -> new ViewCommand(terminal, options));
        commands.put("relay", () -> new RelayCommand(terminal, options));
        commands.put("serve", () -> new ServeCommand(terminal, options));
        commands.put("message", () -> new MessageCommand(terminal, options));
        commands.put("archive", () -> new ArchiveCommand(terminal, options));
        commands.put("deadletter", () -> new DeadLetterCommand(terminal, options));
        commands.put(
                "job",
                () -> new CommandLine(new JobCommand(terminal, options))
                        .addSubcommand(new QueueCommand(terminal, options)));
        commands.put("schedule", () -> new ScheduleCommand(terminal, options));
        commands.put("externalcall", () -> new ExternalCallCommand(terminal, options));
        commands.put("idempotency", () -> new IdempotencyCommand(terminal, options));
        commands.put("audit", () -> new AuditCommand(terminal, options));
        commands.put("database", () -> new DatabaseCommand(terminal, options));
        commands.put("why", () -> new WhyCommand(terminal, options));
        commands.put("status", () -> new StatusCommand(terminal, options));
        commands.put("top", () -> new TopCommand(terminal, options));
        commands.put("doctor", () -> new DoctorCommand(terminal, options));
        commands.put("advise", () -> new AdviseCommand(terminal, options));
        commands.put(
                "dev",
                () -> new CommandLine(new DevCommand(terminal, options))
                        .addSubcommand(new BreakCommand(terminal))
                        .addSubcommand(new MendCommand(terminal)));
        commands.put("version", () -> new VersionCommand(terminal));
        commands.put(COMPLETION, () -> new CompletionCommand(terminal));
        return commands;
    }

    private static int execute(GlobalOptions options, ParseResult parsed) {
        UsageError.refuseMisspeltValues(parsed);
        ParseResult first = parsed.subcommand();
        Logging.configure(first == null ? "" : first.commandSpec().name(), options.verbose());
        return new CommandLine.RunLast().execute(parsed);
    }

    private static int report(Terminal terminal, GlobalOptions options, Exception e) {
        if (options.verbose()) {
            e.printStackTrace(terminal.err());
        }
        if (e instanceof CommandException failure) {
            terminal.say(failure.getMessage());
            return failure.exitCode();
        }
        if (e instanceof Terminal.ClosedOutputException) {
            return ExitCode.OK;
        }
        if (e instanceof DatabaseException answer && SqlState.isMissingSchema(answer.sqlState())) {
            terminal.say("could not find Postroom's tables; run postroom schema migrate, or name another --schema");
            return ExitCode.FAILURE;
        }
        if (e instanceof PostroomException failure) {
            terminal.say(failure.getMessage());
            return ExitCode.FAILURE;
        }
        terminal.say("stopped by " + e.getClass().getSimpleName()
                + ", which should not happen; run again with --verbose and report what it shows");
        return ExitCode.FAILURE;
    }
}
