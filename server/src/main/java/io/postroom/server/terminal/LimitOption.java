package io.postroom.server.terminal;

import picocli.CommandLine.Option;

/** The option of every list that may be long. */
public final class LimitOption {
    /** What core lists at once. */
    private static final int MAX = 1_000;

    private static final int USUAL = 100;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "So many at most, 1 to " + MAX + "; " + USUAL + " unless given.")
    private int limit = USUAL;

    /** How many, or a refusal of what is out of range. */
    public int page() {
        if (limit < 1 || limit > MAX) {
            throw new CommandException(ExitCode.USAGE, "--limit is " + limit + ", the range is 1 to " + MAX);
        }
        return limit;
    }
}
