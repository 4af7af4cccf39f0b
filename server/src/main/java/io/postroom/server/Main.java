package io.postroom.server;

import io.postroom.server.terminal.Terminal;

/** The program's entry. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.exit(CommandTree.run(Terminal.ofProcess(), arguments));
    }
}
