package io.postroom.server.dev;

import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Breaks something of a demo that runs. */
@Command(
        name = "break",
        description = "Break something of a demo that runs, and watch what becomes of it.",
        footer = {"%nExamples:", "  postroom dev break poison", "  postroom dev mend poison"})
public final class BreakCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "WHAT", description = "carrier-down, carrier-slow, poison, duplicates or kill-relay.")
    private @Nullable String what;

    @Option(names = "--data", paramLabel = "FOLDER", description = "The demo's folder; .postroom/dev unless given.")
    private Path data = DevCommand.DATA;

    public BreakCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Fault fault = RunningDemo.fault(what);
        boolean isNew = RunningDemo.in(data).broken(data, fault);
        terminal.print((isNew ? "" : "Already: ") + fault.title() + ". " + fault.watch() + "\n");
        return ExitCode.OK;
    }
}
