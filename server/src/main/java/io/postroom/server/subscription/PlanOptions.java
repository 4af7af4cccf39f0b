package io.postroom.server.subscription;

import picocli.CommandLine.Option;

/** How sure somebody is of an act that cannot be taken back. */
public final class PlanOptions {
    @Option(names = "--dry-run", description = "Only show what would be done. Needs no --reason.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean yes;

    public boolean isDryRun() {
        return dryRun;
    }

    public boolean isYes() {
        return yes;
    }
}
