package io.postroom.server.terminal;

import picocli.CommandLine.Option;

/** The option that every listing command takes. */
public final class OutputOption {
    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "table",
            description = "One of ${COMPLETION-CANDIDATES}; ${DEFAULT-VALUE} unless given.")
    private OutputFormat format = OutputFormat.TABLE;

    public OutputFormat format() {
        return format;
    }
}
