package io.postroom.server.dev;

import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Mends what was broken of a demo that runs. */
@Command(
        name = "mend",
        description = "Mend what was broken of a demo that runs.",
        footer = {"%nExamples:", "  postroom dev mend carrier-down"})
public final class MendCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Parameters(paramLabel = "WHAT", description = "carrier-down, carrier-slow or poison.")
    private @Nullable String what;

    @Option(names = "--data", paramLabel = "FOLDER", description = "The demo's folder; .postroom/dev unless given.")
    private Path data = DevCommand.DATA;

    public MendCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Fault fault = RunningDemo.fault(what);
        boolean wasBroken = RunningDemo.in(data).mended(data, fault);
        terminal.print(fault.word() + (wasBroken ? " is mended.\n" : " was not broken.\n"));
        return ExitCode.OK;
    }
}
