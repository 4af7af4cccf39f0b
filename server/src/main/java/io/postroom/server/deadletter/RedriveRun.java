package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveState;
import io.postroom.deadletter.RedriveStep;
import io.postroom.deadletter.Redrives;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.StopSignal;
import io.postroom.server.terminal.Terminal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Steps a redrive until it ends or somebody presses Ctrl-C, tells how far it is, and shows how it stands. */
final class RedriveRun {
    private static final Duration TELL = Duration.ofSeconds(2);
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(30);
    private static final int REASON_LENGTH_MAX = 200;

    private final Terminal terminal;
    private final Redrives redrives;
    private final OutputFormat format;

    RedriveRun(Terminal terminal, DeadLetters letters, OutputFormat format) {
        this.terminal = terminal;
        this.redrives = letters.redrives();
        this.format = format;
    }

    /** Does all that is left and returns the exit code. */
    int run(UUID id) {
        try (StopSignal stop = StopSignal.listen(STOP_PATIENCE)) {
            long beganNanos = System.nanoTime();
            long toldNanos = beganNanos;
            RedriveStep step = step(id);
            long doneBefore = step.redrive().done() - step.letters();
            while (!step.redrive().isEnded() && !stop.await(step.pause())) {
                step = step(id);
                if (System.nanoTime() - toldNanos >= TELL.toNanos()) {
                    toldNanos = System.nanoTime();
                    tell(step.redrive(), doneBefore, Duration.ofNanos(toldNanos - beganNanos));
                }
            }
            return show(step.redrive());
        }
    }

    private RedriveStep step(UUID id) {
        try {
            return redrives.step(id);
        } catch (PostroomException e) {
            if (e.code().equals("redrive.unknown")) {
                throw new CommandException(ExitCode.NOT_FOUND, e.getMessage(), e);
            }
            throw new CommandException(
                    ExitCode.FAILURE, e.getMessage() + "; nothing of this step was done, " + resume(id), e);
        }
    }

    private void tell(Redrive redrive, long doneBefore, Duration elapsed) {
        long done = redrive.done() - doneBefore;
        long left = redrive.total() - redrive.done() - redrive.skipped();
        String rest = done > 0 && left > 0 && redrive.state() == RedriveState.RUNNING
                ? ", about " + Durations.show(elapsed.multipliedBy(left).dividedBy(done)) + " left"
                : "";
        String canary = redrive.state() == RedriveState.CANARY ? ", waiting for what becomes of them" : "";
        terminal.say(redrive.done() + " of " + redrive.total() + " done"
                + (redrive.skipped() > 0 ? ", " + redrive.skipped() + " skipped" : "") + canary + rest);
    }

    /** Shows how it stands; the exit code says whether all of it was done. */
    int show(Redrive redrive) {
        UUID id = redrive.request().id();
        LetterListing.redrives(List.of(redrive), format).print(terminal, format);
        redrive.skips().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(skip -> terminal.say(
                        "skipped " + skip.getValue() + ": " + Quoted.text(skip.getKey(), REASON_LENGTH_MAX)));
        if (!redrive.isEnded()) {
            terminal.say("redrive " + id + " is not finished, with " + redrive.done() + " of " + redrive.total()
                    + " done; a relay with maintenance goes on with it, and so does postroom deadletter resume " + id
                    + "; postroom deadletter cancel " + id + " ends it");
        } else if (redrive.note() != null) {
            terminal.say("redrive " + id + " is " + redrive.state().word() + ": "
                    + Quoted.text(redrive.note(), REASON_LENGTH_MAX));
        }
        return redrive.state() == RedriveState.DONE && redrive.skipped() == 0 ? ExitCode.OK : ExitCode.PARTIAL;
    }

    private static String resume(UUID id) {
        return "postroom deadletter resume " + id + " goes on with it";
    }
}
