package io.postroom.server.subscription;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Confirmation;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Terminal;
import io.postroom.source.Move;
import io.postroom.source.ServedBy;
import io.postroom.source.kafka.KafkaMove;
import io.postroom.source.kafka.MovePlan;
import io.postroom.subscription.Act;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What operators do to move a subscription, and what they are told about it. */
final class MoveActs {
    /** It has begun, and goes on when it is asked for again. */
    private static final Set<String> WAITING =
            Set.of("subscription.move-waits", "subscription.lanes-busy", "kafka.no-answer");

    private final Terminal terminal;
    private final Postroom postroom;
    private final OutputFormat format;

    MoveActs(Terminal terminal, Postroom postroom, OutputFormat format) {
        this.terminal = terminal;
        this.postroom = postroom;
        this.format = format;
    }

    int move(String name, MoveOptions options, OperatorOptions operator, PlanOptions risk, Duration patience) {
        ServedBy target = options.target();
        KafkaMove move = options.build(postroom);
        MovePlan plan = move.plan(name, target);
        if (plan.isDone()) {
            terminal.say("subscription " + name + " is served by " + target.word() + " already");
            return ExitCode.OK;
        }
        show(plan);
        List<String> obstacles = plan.obstacles();
        obstacles.forEach(obstacle -> terminal.say("in the way: " + obstacle));
        if (risk.isDryRun()) {
            return obstacles.isEmpty() ? ExitCode.OK : ExitCode.CHECK_FAILED;
        }
        Act act = operator.act();
        if (obstacles.isEmpty() && !risk.isYes()) {
            Confirmation.of(terminal).require("move subscription " + name + " to " + target.word(), name);
        }
        try {
            move.run(name, target, act, patience, terminal::say);
        } catch (PostroomException e) {
            if (WAITING.contains(e.code())) {
                throw new CommandException(ExitCode.PARTIAL, e.getMessage(), e);
            }
            throw e;
        }
        terminal.say("subscription " + name + " is served by " + target.word() + " now");
        return ExitCode.OK;
    }

    private void show(MovePlan plan) {
        Listing listing = new Listing("step", "what");
        int number = 1;
        for (String step : plan.steps()) {
            listing.row(number++, step);
        }
        listing.print(terminal, format);
        Move underWay = plan.underWay();
        if (underWay != null) {
            terminal.say("a move to " + underWay.target().word() + " has begun already, noted at " + underWay.notedAt()
                    + " by " + underWay.actor() + ": its cut is used");
        }
    }

    int cancel(String name, Act act) {
        // Whoever misspells it is not to believe that nothing is under way.
        postroom.subscriptions().show(name);
        Optional<Move> was = postroom.moves().cancel(name, act);
        terminal.say(was.map(move -> "the move of subscription " + name + " to "
                        + move.target().word() + " is cancelled; nothing was changed by it")
                .orElse("no move of subscription " + name + " is under way"));
        return ExitCode.OK;
    }
}
