package io.postroom.server.projection;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.Terminal;
import java.util.Set;
import java.util.function.ToIntFunction;

/** Runs a command on the database that its options name; refusals are told apart by exit code. */
record Opening(Terminal terminal, GlobalOptions options) {
    /** Refusals that are about what was typed. */
    private static final Set<String> USAGE = Set.of("audit.invalid", "projection.invalid", "projection.beyond-end");

    int run(ToIntFunction<Postroom> work) {
        try {
            return work.applyAsInt(open());
        } catch (PostroomException e) {
            if (e.code().equals("projection.unknown")) {
                throw new CommandException(ExitCode.NOT_FOUND, e.getMessage(), e);
            }
            if (USAGE.contains(e.code())) {
                throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
            }
            throw e;
        }
    }

    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        // Comparisons take as long as the tables are large.
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.ENDLESS))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
