package io.postroom.server.payload;

import io.postroom.Postroom;
import io.postroom.audit.Audit;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import io.postroom.subscription.Act;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a command may show of payloads.
 *
 * @param payloads as the settings say
 * @param act who reveals what is masked, and why; null if nobody does
 */
public record Reveal(Payloads payloads, @Nullable Act act) {
    /** For a command that shows no payloads. */
    public static final Reveal NOTHING = new Reveal(Payloads.HIDDEN, null);

    public Reveal {
        List<String> problems = act == null ? List.of() : Audit.problems(act.actor(), act.reason());
        if (!problems.isEmpty()) {
            throw new CommandException(ExitCode.USAGE, String.join("; ", problems));
        }
    }

    /** Whether it shows values. */
    public boolean isShown() {
        return act != null || payloads == Payloads.SHOWN;
    }

    /** How much is shown of something; if it was masked and is revealed, the audit knows before anybody sees a value. */
    public Payloads of(Postroom postroom, String subject, Map<String, ?> details) {
        Act revealing = act;
        if (revealing == null) {
            return payloads;
        }
        return postroom.database().transact(tx -> {
            postroom.audit().record(tx, revealing.actor(), "payload reveal", subject, revealing.reason(), details);
            return Payloads.SHOWN;
        });
    }

    /** Says what is missing of what is shown, and how to see it. */
    public static void tell(Terminal terminal, Payloads shown) {
        if (shown == Payloads.MASKED) {
            terminal.say("values are masked; --reveal --reason TEXT shows them, and the audit tells");
        } else if (shown == Payloads.HIDDEN) {
            terminal.say("payloads are left out: console.payloads is hidden");
        }
    }
}
