package io.postroom.server.overview;

import io.postroom.Postroom;
import io.postroom.job.JobQueue;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** How everything stands, on one screen: what the console's first page says. */
@Command(
        name = "status",
        description = {
            "Show how everything stands, on one screen: health in a sentence, what is wrong, worst first, lag, backlog, dead letters,"
                    + " jobs and nodes.",
            "The same as the first page of the console."
        },
        footer = {
            "%nExit codes: 0 all is well, 5 something wants a look, 4 something is stuck until somebody does something.",
            "%nExamples:",
            "  postroom status --url postgres://localhost/shop",
            "  postroom status -o json"
        })
public final class StatusCommand implements Callable<Integer> {
    private static final int NODES_MAX = 100;

    private final Terminal terminal;
    private final GlobalOptions options;

    @Mixin
    private OutputOption output = new OutputOption();

    public StatusCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        Postroom postroom = open(terminal, options);
        try (Sampler sampler = Sampler.ofFigures(postroom)) {
            Overview overview = look(sampler);
            List<JobQueue> queues = postroom.jobBoard().queues();
            NodeTable nodes = new NodeTable(postroom.database().schema());
            StatusText text =
                    new StatusText(overview, queues, postroom.database().run(tx -> nodes.list(tx, NODES_MAX)));
            terminal.print(output.format() == OutputFormat.TABLE ? text.screen() : text.json());
            return exitCode(overview);
        }
    }

    static Postroom open(Terminal terminal, GlobalOptions options) {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }

    /** Looks now; says why if that fails. */
    static Overview look(Sampler sampler) {
        sampler.look();
        String problem = sampler.problem();
        if (problem != null) {
            throw new CommandException(ExitCode.FAILURE, problem);
        }
        return Overview.of(sampler.newest().orElseThrow(), sampler.history());
    }

    static int exitCode(Overview overview) {
        if (overview.troubles().isEmpty()) {
            return ExitCode.OK;
        }
        return switch (overview.troubles().get(0).level()) {
            case BAD -> ExitCode.CHECK_FAILED;
            case WARNING -> ExitCode.PARTIAL;
            case NOTE -> ExitCode.OK;
        };
    }
}
