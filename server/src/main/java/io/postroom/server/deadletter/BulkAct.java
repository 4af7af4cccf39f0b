package io.postroom.server.deadletter;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.JsonPatch;
import io.postroom.deadletter.OrderConflicts;
import io.postroom.deadletter.PatchPreview;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedrivePlan;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Resolution;
import io.postroom.server.payload.Reveal;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Confirmation;
import io.postroom.server.terminal.Counted;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A redrive or discard from the command line: planned, confirmed, asked for, done. */
final class BulkAct {
    private static final int SAMPLES = 5;
    private static final int SAMPLE_KEYS = 5;
    private static final int KEY_LENGTH_MAX = 60;
    private static final int NOT_MEANT_SHOWN_MAX = 10;

    private final Terminal terminal;
    private final Postroom postroom;
    private final DeadLetters letters;
    private final FilterOptions filter;
    private final ActOptions act;
    private final Reveal reveal;
    private final OutputFormat format;

    BulkAct(
            Terminal terminal,
            Postroom postroom,
            FilterOptions filter,
            ActOptions act,
            Reveal reveal,
            OutputFormat format) {
        this.terminal = terminal;
        this.postroom = postroom;
        this.letters = postroom.deadLetters();
        this.filter = filter;
        this.act = act;
        this.reveal = reveal;
        this.format = format;
    }

    int perform(RedriveRequest request) {
        RedriveRun run = new RedriveRun(terminal, letters, format);
        Redrive before = act.request() == null || act.isDryRun() ? null : find(request);
        if (before != null) {
            RedriveRequest again = with(
                    request, filter.again(request.filter(), before.request().filter()));
            Redrive asked = DeadLetterCommand.known(() -> letters.redrives().request(again));
            terminal.say("redrive " + request.id() + " was requested before, at " + asked.createdAt() + " by "
                    + Quoted.text(asked.request().actor(), KEY_LENGTH_MAX));
            return asked.isEnded() || act.isDetached() ? run.show(asked) : run.run(request.id());
        }
        RedrivePlan plan = letters.plan(request.filter());
        Duration duration = request.rate() == null ? null : plan.at(request.rate());
        List<Long> notMeant = letters.notMeant(request.filter());
        tellNotMeant(request.filter().ids().size(), notMeant);
        int exitCode = notMeant.isEmpty() ? ExitCode.OK : plan.letters() > 0 ? ExitCode.PARTIAL : ExitCode.NOT_FOUND;
        if (act.isDryRun()) {
            show(request, plan, duration);
            return exitCode;
        }
        if (plan.letters() == 0) {
            return nothing(request);
        }
        terminal.say(sentence(request.action(), plan, duration));
        if (!act.isYes()) {
            Confirmation.of(terminal)
                    .require(
                            request.action().word() + " " + Counted.of(plan.letters(), "dead letter"),
                            Long.toString(plan.letters()));
        }
        // What was counted is what is done: what was buried since is not meant.
        Redrive asked = DeadLetterCommand.known(() -> letters.redrives().request(request, plan));
        terminal.say("redrive " + request.id() + " is requested"
                + (asked.total() == plan.letters()
                        ? ""
                        : "; it means " + Counted.of(asked.total(), "dead letter") + ", not " + plan.letters()
                                + ": the others were resolved meanwhile"));
        int done = act.isDetached() ? detached(asked) : run.run(request.id());
        return done == ExitCode.OK ? exitCode : done;
    }

    private static RedriveRequest with(RedriveRequest request, DeadLetterFilter filter) {
        return new RedriveRequest(
                request.id(),
                request.action(),
                filter,
                request.patch(),
                request.rate(),
                request.canary(),
                request.actor(),
                request.reason());
    }

    private @Nullable Redrive find(RedriveRequest request) {
        try {
            return letters.redrives().get(request.id());
        } catch (PostroomException e) {
            if (e.code().equals("redrive.unknown")) {
                return null;
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
        int named = request.filter().ids().size();
        if (named > 0) {
            throw new CommandException(
                    ExitCode.NOT_FOUND,
                    "could not " + request.action().word() + " " + Counted.of(named, "dead letter")
                            + ": none of them is" + " open and fits; postroom deadletter list shows those that are");
        }
        LetterListing.redrives(List.of(), format).print(terminal, format);
        terminal.say("nothing to do: no open dead letter fits");
        return ExitCode.OK;
    }

    /** Says which of those that were named are left out, and why. */
    private void tellNotMeant(int named, List<Long> notMeant) {
        notMeant.stream().limit(NOT_MEANT_SHOWN_MAX).forEach(id -> terminal.say("dead letter " + id + " " + why(id)));
        if (notMeant.size() > NOT_MEANT_SHOWN_MAX) {
            terminal.say(notMeant.size() + " of the " + named
                    + " named are not open or do not fit; these were the first " + NOT_MEANT_SHOWN_MAX);
        }
    }

    private String why(long id) {
        DeadLetter letter = letters.get(id).orElse(null);
        if (letter == null) {
            return "is not there";
        }
        Resolution resolution = letter.resolution();
        return resolution == null
                ? "does not fit the other options"
                : "is not open: " + resolution.action().resolution() + " at " + resolution.at() + " by "
                        + Quoted.text(resolution.by(), KEY_LENGTH_MAX);
    }

    private void show(RedriveRequest request, RedrivePlan plan, @Nullable Duration duration) {
        JsonPatch patch = request.patch();
        List<PatchPreview> previews = patch == null ? List.of() : previews(request.filter(), patch);
        LetterListing.plan(plan, duration, previews, format).print(terminal, format);
        if (format == OutputFormat.TABLE) {
            LetterLine line = new LetterLine(terminal.interactive(), Payloads.SHOWN);
            previews.forEach(preview -> terminal.print("\n" + text(preview, line)));
        }
        terminal.say(sentence(request.action(), plan, duration) + "; nothing was done");
    }

    /** None of what is masked: whether a test of the patch fits, or a line of it changes, would let anybody guess values. */
    private List<PatchPreview> previews(DeadLetterFilter meant, JsonPatch patch) {
        if (!reveal.isShown()) {
            terminal.say("what the patch would change is not shown: payloads are "
                    + reveal.payloads().word()
                    + (reveal.payloads() == Payloads.MASKED
                            ? "; --reveal --reason TEXT shows it for the first " + SAMPLES + ", and the audit tells"
                            : ""));
            return List.of();
        }
        List<PatchPreview> previews = letters.preview(meant, patch, SAMPLES);
        if (!previews.isEmpty()) {
            List<Long> ids = previews.stream().map(PatchPreview::id).toList();
            reveal.of(
                    postroom,
                    "deadletters",
                    Map.of("command", "deadletter redrive --dry-run", "filter", meant.summary(), "ids", ids));
        }
        return previews;
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
        return Counted.of(plan.letters(), "dead letter") + " of " + Counted.of(plan.keys(), "key") + " and "
                + Counted.of(plan.tenants(), "tenant")
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
        return "; " + (conflicts.exact() ? "" : "about ") + Counted.of(conflicts.keys(), "key has", "keys have")
                + " since seen newer messages, such as " + samples;
    }
}
