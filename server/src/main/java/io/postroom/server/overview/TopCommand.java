package io.postroom.server.overview;

import io.postroom.Postroom;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows how messages flow, again and again. */
@Command(
        name = "top",
        description = {
            "Show how messages flow, redrawn every few seconds: health, lag, what comes in, and for each subscription how many positions it passes.",
            "q and Enter, or Ctrl-C, ends it. Where standard output is no terminal, one frame is shown; -o jsonl goes on."
        },
        footer = {
            "%nExamples:",
            "  postroom top --url postgres://localhost/shop",
            "  postroom top --every 10s -o jsonl",
            "  postroom top --once"
        })
public final class TopCommand implements Callable<Integer> {
    private static final Duration EVERY_MIN = Duration.ofMillis(200);
    private static final Duration EVERY_MAX = Duration.ofHours(1);
    private static final Duration FIRST = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";

    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(names = "--every", paramLabel = "DURATION", description = "How often it looks; 2s unless given.")
    private Duration every = Duration.ofSeconds(2);

    @Option(names = "--once", description = "One frame, from two looks a second apart.")
    private boolean once;

    @Option(names = "--frames", paramLabel = "N", description = "End after so many frames.")
    private @Nullable Integer frames;

    @Mixin
    private OutputOption output = new OutputOption();

    public TopCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        if (every.compareTo(EVERY_MIN) < 0 || every.compareTo(EVERY_MAX) > 0) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "--every is " + Durations.show(every) + ", the range is " + Durations.show(EVERY_MIN) + " to 1h");
        }
        if (frames != null && frames < 1) {
            throw new CommandException(ExitCode.USAGE, "--frames is " + frames + ", the least is 1");
        }
        Postroom postroom = StatusCommand.open(terminal, options);
        boolean isScreen = output.format() == OutputFormat.TABLE && terminal.movesCursor() && !once;
        try (StopSignal stop = StopSignal.listen(PATIENCE);
                Sampler sampler = Sampler.ofFigures(postroom)) {
            if (isScreen) {
                leaveOnKey(stop);
                terminal.print(ENTER);
            }
            try {
                show(sampler, stop, isScreen);
            } finally {
                if (isScreen) {
                    terminal.print(LEAVE);
                }
            }
        }
        return ExitCode.OK;
    }

    private void show(Sampler sampler, StopSignal stop, boolean isScreen) {
        boolean goesOn = isScreen || output.format() == OutputFormat.JSONL && !once;
        long left = frames != null ? frames : goesOn ? Long.MAX_VALUE : 1;
        StatusCommand.look(sampler);
        // Rates are between two looks: the first frame need not wait long for the second.
        boolean stopped = stop.await(every.compareTo(FIRST) < 0 ? every : FIRST);
        while (!stopped && left > 0) {
            terminal.print(frame(sampler, isScreen, goesOn));
            left--;
            stopped = left > 0 && stop.await(every);
        }
    }

    /** A database that is away for a while ends only what would end anyway. */
    private String frame(Sampler sampler, boolean isScreen, boolean goesOn) {
        Overview overview;
        try {
            overview = StatusCommand.look(sampler);
        } catch (CommandException e) {
            if (!goesOn) {
                throw e;
            }
            return isScreen ? TopFrame.problemScreen(e.getMessage()) : TopFrame.problemJson(e.getMessage());
        }
        TopFrame frame = new TopFrame(overview, sampler.history());
        if (output.format() != OutputFormat.TABLE) {
            return frame.json();
        }
        return isScreen ? frame.screen() : frame.text();
    }

    /** A terminal hands a line over when it is ended, so q needs Enter. The thread ends with the process. */
    private static void leaveOnKey(StopSignal stop) {
        if (System.console() == null) {
            // Standard input belongs to somebody else.
            return;
        }
        Thread keys = new Thread(
                () -> {
                    try {
                        for (int key = System.in.read(); key >= 0; key = System.in.read()) {
                            if (key == 'q' || key == 'Q') {
                                stop.request();
                                return;
                            }
                        }
                    } catch (IOException e) {
                        // Nobody types: Ctrl-C is left.
                    }
                },
                "postroom-keys");
        keys.setDaemon(true);
        keys.start();
    }
}
