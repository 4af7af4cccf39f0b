package io.postroom.server;

import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;

/** The program's entry. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        int exitCode = CommandTree.run(Terminal.ofProcess(), arguments);
        StopSignal.commandEnded(exitCode);
        System.exit(exitCode);
    }
}
