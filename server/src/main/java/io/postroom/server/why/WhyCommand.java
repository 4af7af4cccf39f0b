package io.postroom.server.why;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.diagnosis.Diagnosis;
import io.postroom.diagnosis.Why;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.terminal.Uuids;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says why a message is where it is. */
@Command(
        name = "why",
        description = {
            "Say why a message is where it is: for each subscription one answer, the most important first, with the facts"
                    + " that prove it and what to do next.",
            "Changes nothing. A message is looked for in the outbox and among the dead letters, for some seconds at most."
        },
        footer = {
            "%nExit codes: 0 delivered, or not wanted, everywhere; 3 not found; 4 stuck somewhere; 5 still on its way.",
            "What each reason means and what to do about it is told in docs/operating.",
            "%nExamples:",
            "  postroom why 019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33 --url postgres://localhost/shop",
            "  postroom why 019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33 --subscription billing -o json"
        })
public final class WhyCommand implements Callable<Integer> {
    private static final int ID_LENGTH_MAX = 60;

    private final Terminal terminal;
    private final GlobalOptions options;

    @Parameters(paramLabel = "ID", description = "The message's id, a UUID.")
    private String id = "";

    @Option(names = "--subscription", paramLabel = "NAME", description = "Only for this subscription.")
    private @Nullable String subscription;

    @Mixin
    private OutputOption output = new OutputOption();

    public WhyCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Override
    public Integer call() {
        UUID message = message();
        Why why = ask(open().diagnosis(), message);
        terminal.print(
                switch (output.format()) {
                    case TABLE -> WhyText.of(why);
                    case JSON -> WhyJson.of(why);
                    case JSONL -> WhyJson.lines(why);
                });
        return switch (why.verdict()) {
            case NOT_FOUND -> ExitCode.NOT_FOUND;
            case STUCK -> ExitCode.CHECK_FAILED;
            case ON_ITS_WAY -> ExitCode.PARTIAL;
            case DONE -> ExitCode.OK;
        };
    }

    private Why ask(Diagnosis diagnosis, UUID message) {
        try {
            return subscription == null ? diagnosis.why(message) : diagnosis.why(message, subscription);
        } catch (PostroomException e) {
            if (e.code().equals("subscription.unknown")) {
                throw new CommandException(ExitCode.NOT_FOUND, Quoted.text(e.getMessage(), 2_000), e);
            }
            throw e;
        }
    }

    private UUID message() {
        return Uuids.read(id)
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "could not look for message '" + Quoted.text(id, ID_LENGTH_MAX)
                                + "': a message id is a UUID, such as 019a8f6e-3c1d-7b42-9d7e-0c5b7a1f2e33"));
    }

    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
