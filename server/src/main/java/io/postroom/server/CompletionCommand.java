package io.postroom.server;

import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a completion script. */
@Command(
        name = "completion",
        description = "Print a completion script for a shell.",
        footer = {
            "%nExamples:",
            "  source <(postroom completion bash)",
            "  source <(postroom completion zsh)",
            "  postroom completion fish | source"
        })
final class CompletionCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
    private Shell shell;

    CompletionCommand(Terminal terminal) {
        this.terminal = terminal;
        this.spec = CommandSpec.create();
        this.shell = Shell.BASH;
    }

    /** The shells there is a script for: one script serves the first two, since zsh runs bash's completions. */
    enum Shell {
        BASH,
        ZSH,
        FISH;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public Integer call() {
        if (shell == Shell.FISH) {
            terminal.print(FishCompletion.of(spec.root()));
            return ExitCode.OK;
        }
        String prelude = shell == Shell.ZSH ? "autoload -U +X compinit && compinit\n" : "";
        terminal.print(prelude + AutoComplete.bash("postroom", spec.root().commandLine()));
        return ExitCode.OK;
    }
}
