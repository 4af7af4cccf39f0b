package io.postroom.server.terminal;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options that every command takes, before or after its name. */
public final class GlobalOptions {
    @Option(
            names = "--url",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = {
                "The database: postgres://user@host:5432/name or jdbc:postgresql://host:5432/name.",
                "Else POSTROOM_URL, DATABASE_URL or PGHOST and the like. Keep passwords in PGPASSWORD or ~/.pgpass."
            })
    private @Nullable String url;

    @Option(
            names = "--schema",
            scope = ScopeType.INHERIT,
            paramLabel = "NAME",
            description = "The schema of Postroom's tables. Else POSTROOM_SCHEMA, else postroom.")
    private @Nullable String schema;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Say more, with stack traces.")
    private boolean verbose;

    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Show this text.")
    private boolean help;

    public @Nullable String url() {
        return url;
    }

    public @Nullable String schema() {
        return schema;
    }

    public boolean verbose() {
        return verbose;
    }
}
