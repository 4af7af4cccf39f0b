package io.postroom.server.terminal;

/** What scripts learn from a command's end; the numbers never change. */
public final class ExitCode {
    public static final int OK = 0;
    public static final int FAILURE = 1;
    /** The command line or a configuration file cannot be used as it is. */
    public static final int USAGE = 2;

    public static final int NOT_FOUND = 3;
    /** A check ran and found something wrong. */
    public static final int CHECK_FAILED = 4;

    public static final int PARTIAL = 5;

    private ExitCode() {}
}
