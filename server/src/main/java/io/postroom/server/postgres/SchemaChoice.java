package io.postroom.server.postgres;

import io.postroom.PostroomException;
import io.postroom.postgres.Schema;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The schema a command works on: the option, else POSTROOM_SCHEMA, else postroom. */
public final class SchemaChoice {
    private SchemaChoice() {}

    public static Schema of(@Nullable String option, Map<String, String> environment) {
        String variable = environment.getOrDefault("POSTROOM_SCHEMA", "");
        String name = option != null ? option : variable.isEmpty() ? Schema.POSTROOM.name() : variable;
        try {
            return new Schema(name);
        } catch (PostroomException e) {
            throw new CommandException(
                    ExitCode.USAGE, e.getMessage().replace("schema.name", "--schema or POSTROOM_SCHEMA"), e);
        }
    }
}
