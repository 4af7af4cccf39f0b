package io.postroom.server.payload;

import io.postroom.server.relay.RelayFile;
import io.postroom.server.relay.SettingsText;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import io.postroom.subscription.Act;
import java.nio.file.Path;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How much of payloads a command shows, for one whose own options say who does it and why. */
public final class PayloadOptions {
    @Option(
            names = {"-c", "--config"},
            paramLabel = "FILE",
            description =
                    "The settings of postroom serve. What they say in console.payloads holds here too; if they say nothing, tail shows payloads and every other command masks them.")
    private @Nullable Path config;

    @Option(names = "--reveal", description = "Show what is masked; needs --reason, and the audit tells.")
    private boolean reveal;

    public boolean isReveal() {
        return reveal;
    }

    /** What these options ask for, masked if nobody has said otherwise; refuses what nobody may have before anything is read. */
    public Reveal reveal(Terminal terminal, Supplier<Act> act) {
        // Without users a console shows all to whoever has its token; a command asks for none, so that somebody has to
        // have said it.
        return reveal(terminal, act, Payloads.MASKED);
    }

    Reveal reveal(Terminal terminal, Supplier<Act> act, Payloads unsaid) {
        Payloads payloads = payloads(terminal, unsaid);
        if (!reveal) {
            return new Reveal(payloads, null);
        }
        if (payloads == Payloads.HIDDEN) {
            throw new CommandException(
                    ExitCode.USAGE, "console.payloads is hidden: nobody reveals any; leave --reveal out");
        }
        // A command line is good or not whatever the settings say: also where there is nothing to reveal it needs its
        // reason.
        Reveal revealing = new Reveal(payloads, act.get());
        if (payloads == Payloads.SHOWN) {
            terminal.say("nothing is masked here: --reveal reveals nothing, and the audit does not tell");
            return new Reveal(payloads, null);
        }
        return revealing;
    }

    private Payloads payloads(Terminal terminal, Payloads unsaid) {
        Path file = config;
        if (file == null) {
            return unsaid;
        }
        try (RelayFile read = RelayFile.read(file.toString(), SettingsText.of(file), terminal, Set.of())) {
            return read.console().payloads(unsaid);
        }
    }
}
