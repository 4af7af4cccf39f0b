package io.postroom.server.deadletter;

import io.postroom.Postroom;
import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.Resolution;
import io.postroom.server.payload.Reveal;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import java.util.Map;

/** Prints dead letters whole, with as much of their payloads as whoever asks may see. */
final class WholeLetters {
    private final Terminal terminal;
    private final Postroom postroom;
    private final Reveal reveal;

    WholeLetters(Terminal terminal, Postroom postroom, Reveal reveal) {
        this.terminal = terminal;
        this.postroom = postroom;
        this.reveal = reveal;
    }

    int show(long id, OutputFormat format) {
        DeadLetter letter = postroom.deadLetters()
                .get(id)
                .orElseThrow(() -> new CommandException(
                        ExitCode.NOT_FOUND,
                        "could not find dead letter " + id + "; postroom deadletter list shows those that are open"));
        Payloads shown = reveal.of(postroom, "deadletter " + id, Map.of());
        LetterLine line = new LetterLine(terminal.interactive(), shown);
        if (format == OutputFormat.TABLE) {
            print(letter, line);
        } else {
            terminal.print(line.of(letter) + "\n");
        }
        Reveal.tell(terminal, shown);
        return ExitCode.OK;
    }

    private void print(DeadLetter letter, LetterLine line) {
        LetterListing.facts(letter).print(terminal, OutputFormat.TABLE);
        terminal.print("\nHISTORY\n" + line.harmless(letter.history()) + "\n\nPAYLOAD\n"
                + line.carried(letter.message().payload()) + "\n");
        Resolution resolution = letter.resolution();
        if (resolution != null && resolution.patched() != null) {
            terminal.print("\nPATCHED\n" + line.carried(resolution.patched()) + "\n");
        }
    }

    int export(DeadLetterFilter filter) {
        Payloads shown = reveal.of(postroom, "deadletters", details(filter));
        LetterLine line = new LetterLine(terminal.interactive(), shown);
        postroom.deadLetters().export(filter, letter -> terminal.print(line.of(letter) + "\n"));
        Reveal.tell(terminal, shown);
        return ExitCode.OK;
    }

    /** What the audit is told: which of them, and how many there are now. */
    private Map<String, ?> details(DeadLetterFilter filter) {
        return reveal.act() == null
                ? Map.of()
                : Map.of(
                        "command",
                        "deadletter export",
                        "filter",
                        filter.summary(),
                        "letters",
                        postroom.deadLetters().count(filter));
    }
}
