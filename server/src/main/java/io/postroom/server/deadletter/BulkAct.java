package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.JsonPatch;
import io.postroom.deadletter.OrderConflicts;
import io.postroom.deadletter.PatchPreview;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedrivePlan;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A redrive or discard from the command line: planned, confirmed, asked for, done. */
final class BulkAct {
    private static final int SAMPLES = 5;
    private static final int SAMPLE_KEYS = 5;
    private static final int KEY_LENGTH_MAX = 60;

    private final Terminal terminal;
    private final DeadLetters letters;
    private final ActOptions act;
    private final OutputFormat format;

    BulkAct(Terminal terminal, DeadLetters letters, ActOptions act, OutputFormat format) {
        this.terminal = terminal;
        this.letters = letters;
        this.act = act;
        this.format = format;
    }

    int perform(RedriveRequest request) {
        RedriveRun run = new RedriveRun(terminal, letters, format);
        if (act.request() != null && !act.isDryRun() && isKnown(request)) {
            Redrive asked = DeadLetterCommand.known(() -> letters.redrives().request(request));
            terminal.say("redrive " + request.id() + " was requested before, at " + asked.createdAt() + " by "
                    + Quoted.text(asked.request().actor(), KEY_LENGTH_MAX));
            return asked.isEnded() || act.isDetached() ? run.show(asked) : run.run(request.id());
        }
        RedrivePlan plan = letters.plan(request.filter());
        Duration duration = request.rate() == null ? null : plan.at(request.rate());
        if (act.isDryRun()) {
            return show(request, plan, duration);
        }
        if (plan.letters() == 0) {
            return nothing(request);
        }
        terminal.say(sentence(request.action(), plan, duration));
        if (!act.isYes()) {
            Confirmation.of(terminal).require(request.action().word(), plan.letters());
        }
        Redrive asked = DeadLetterCommand.known(() -> letters.redrives().request(request));
        terminal.say("redrive " + request.id() + " is requested");
        return act.isDetached() ? detached(asked) : run.run(request.id());
    }

    private boolean isKnown(RedriveRequest request) {
        try {
            return letters.redrives().get(request.id()) != null;
        } catch (PostroomException e) {
            if (e.code().equals("redrive.unknown")) {
                return false;
            }
            throw e;
        }
    }

    private int detached(Redrive asked) {
        LetterListing.redrives(List.of(asked), format).print(terminal, format);
        terminal.say("a relay with maintenance does it, or postroom deadletter resume "
                + asked.request().id());
        return ExitCode.OK;
    }

    private int nothing(RedriveRequest request) {
        if (!request.filter().ids().isEmpty()) {
            throw new CommandException(
                    ExitCode.NOT_FOUND,
                    "could not " + request.action().word() + " "
                            + request.filter().ids().size()
                            + " dead letters: none of them is there and open; postroom deadletter list shows those that are");
        }
        LetterListing.redrives(List.of(), format).print(terminal, format);
        terminal.say("nothing to do: no open dead letter fits");
        return ExitCode.OK;
    }

    private int show(RedriveRequest request, RedrivePlan plan, @Nullable Duration duration) {
        JsonPatch patch = request.patch();
        List<PatchPreview> previews = patch == null ? List.of() : letters.preview(request.filter(), patch, SAMPLES);
        LetterListing.plan(plan, duration, previews, format).print(terminal, format);
        if (format == OutputFormat.TABLE) {
            LetterLine line = new LetterLine(terminal.interactive());
            previews.forEach(preview -> terminal.print("\n" + text(preview, line)));
        }
        terminal.say(sentence(request.action(), plan, duration) + "; nothing was done");
        return ExitCode.OK;
    }

    private static String text(PatchPreview preview, LetterLine line) {
        StringBuilder text = new StringBuilder("dead letter " + preview.id());
        if (preview.problem() != null) {
            text.append(" is skipped: ")
                    .append(Quoted.text(preview.problem(), 500))
                    .append('\n');
        } else if (preview.diff().stream().allMatch(each -> each.startsWith("  "))) {
            text.append(" does not change\n");
        } else {
            text.append('\n');
            preview.diff().forEach(each -> text.append(line.harmless(each)).append('\n'));
        }
        return text.toString();
    }

    private static String sentence(RedriveAction action, RedrivePlan plan, @Nullable Duration duration) {
        return count(plan.letters(), "dead letter") + " of " + count(plan.keys(), "key") + " and "
                + count(plan.tenants(), "tenant")
                + (action == RedriveAction.REDRIVE ? conflicts(plan.conflicts()) : "")
                + Optional.ofNullable(duration)
                        .map(time -> "; takes about " + Durations.show(time))
                        .orElse("");
    }

    private static String conflicts(OrderConflicts conflicts) {
        if (conflicts.keys() == 0) {
            return conflicts.exact() ? "; no key has seen newer messages since" : "";
        }
        String samples = String.join(
                ", ",
                conflicts.samples().stream()
                        .limit(SAMPLE_KEYS)
                        .map(key -> Quoted.text(key, KEY_LENGTH_MAX))
                        .toList());
        return "; " + (conflicts.exact() ? "" : "at least ")
                + (conflicts.keys() == 1 ? "1 key has" : conflicts.keys() + " keys have")
                + " since seen newer messages, such as " + samples;
    }

    private static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
