package io.postroom.server;

import io.postroom.postgres.Migrations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Says which Postroom this is. */
@Command(name = "version", description = "Show which Postroom this is.")
final class VersionCommand implements Callable<Integer> {
    private final Terminal terminal;

    VersionCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        String version = VersionCommand.class.getPackage().getImplementationVersion();
        terminal.print("postroom " + (version == null ? "(not packaged)" : version) + ", schema version "
                + Migrations.latest() + ", Java " + System.getProperty("java.version") + "\n");
        return ExitCode.OK;
    }
}
