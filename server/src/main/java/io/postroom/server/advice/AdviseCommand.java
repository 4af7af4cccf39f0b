package io.postroom.server.advice;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.advice.Advice;
import io.postroom.advice.Advisor;
import io.postroom.advice.Figures;
import io.postroom.advice.Wishes;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says which way to go from here, by live figures and by what is wanted. */
@Command(
        name = "advise",
        description = {
            "Say which way to go from here: polling or change data capture, PostgreSQL or Kafka and which trigger was hit, how many lanes,"
                    + " how large partitions, with the reasoning.",
            "Changes nothing. What no figure tells can be named; docs/operating/advise.md has every threshold and its source."
        },
        footer = {
            "%nExamples:",
            "  postroom advise --url postgres://localhost/shop",
            "  postroom advise --latency 50ms --replay-days 90 --regions 2 -o json"
        })
public final class AdviseCommand implements Callable<Integer> {
    private final Terminal terminal;
    private final GlobalOptions options;

    @Option(
            names = "--latency",
            paramLabel = "DURATION",
            description = "How soon after its commit a message must arrive.")
    private @Nullable Duration latency;

    @Option(names = "--replay-days", paramLabel = "N", description = "How far back messages must be replayable.")
    private int replayDays;

    @Option(names = "--regions", paramLabel = "N", description = "In how many regions consumers are; 1 unless given.")
    private int regions = 1;

    @Mixin
    private OutputOption output = new OutputOption();

    public AdviseCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        Wishes wishes = wishes();
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        Advisor advisor = postroom.advisor();
        Figures figures = advisor.measure();
        List<Advice> advice = advisor.advise(figures, wishes);
        terminal.print(
                switch (output.format()) {
                    case TABLE -> AdviceText.of(figures, advice);
                    case JSON -> AdviceJson.of(figures, advice);
                    case JSONL -> AdviceJson.lines(advice);
                });
        return ExitCode.OK;
    }

    private Wishes wishes() {
        try {
            return new Wishes(latency, replayDays, regions);
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }
}
