package io.postroom.server.subscription;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Confirmation;
import io.postroom.server.terminal.Counted;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import io.postroom.subscription.LaneCount;
import io.postroom.subscription.LaneMove;
import io.postroom.subscription.Pause;
import io.postroom.subscription.Paused;
import io.postroom.subscription.Point;
import io.postroom.subscription.ReleasedKey;
import io.postroom.subscription.RemovalPlan;
import io.postroom.subscription.ReplayPlan;
import io.postroom.subscription.ReplayRequest;
import io.postroom.subscription.SkipPlan;
import io.postroom.subscription.SkippedMessage;
import io.postroom.subscription.Subscriptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What operators do to subscriptions, and what they are told about it: what was done, and what happens next. */
final class SubscriptionActs {
    private static final int TEXT_LENGTH_MAX = 200;
    private static final long LOOK_AGAIN_MILLIS = 100;

    private final Terminal terminal;
    private final Subscriptions subscriptions;
    private final OutputFormat format;

    SubscriptionActs(Terminal terminal, Subscriptions subscriptions, OutputFormat format) {
        this.terminal = terminal;
        this.subscriptions = subscriptions;
        this.format = format;
    }

    int pause(String name, Act act) {
        Paused paused = subscriptions.pause(name, act);
        Pause pause = paused.pause();
        String fact = "subscription " + name + " is paused"
                + (paused.already()
                        ? " already, since " + pause.at() + " by " + shown(pause.by()) + ": " + shown(pause.reason())
                        : "");
        terminal.say(
                paused.leased() == 0
                        ? fact + "; no relay has a lane of it"
                        : fact + "; relays hear of it within " + Durations.show(paused.within())
                                + ", finish what is on its way and give " + count(paused.leased()) + " back");
        return ExitCode.OK;
    }

    int resume(String name, Act act) {
        Optional<Pause> was = subscriptions.resume(name, act);
        terminal.say(was.map(pause -> "subscription " + name + " goes on; it was paused since " + pause.at() + " by "
                        + shown(pause.by()) + "; relays take its lanes at their next beat")
                .orElse("subscription " + name + " is not paused"));
        return ExitCode.OK;
    }

    int changeLanes(String name, int lanes, Act act, Duration patience) {
        LaneCount count = subscriptions.changeLanes(name, lanes, act);
        int former = count.former();
        if (count.wanted() != null && count.leased() > 0) {
            terminal.say("asked for " + count(lanes) + " of subscription " + name + "; waiting until relays have given "
                    + count(count.leased()) + " back");
        }
        long deadline = System.nanoTime() + patience.toNanos();
        while (count.wanted() != null && System.nanoTime() - deadline < 0) {
            sleep();
            count = subscriptions.finishLanes(name);
        }
        SubscriptionListing.lanes(subscriptions.lanes(name)).print(terminal, format);
        if (count.wanted() != null) {
            terminal.say("subscription " + name + " still has " + count(count.lanes()) + ", relays have not given "
                    + count(count.leased())
                    + " back yet; the change is made when they have, by one of them or by this command");
            return ExitCode.PARTIAL;
        }
        terminal.say("subscription " + name + " has " + count(count.lanes())
                + (former == count.lanes() ? ", as before" : ", it had " + former));
        return ExitCode.OK;
    }

    int skip(String name, Point to, OperatorOptions operator, PlanOptions risk, Duration patience) {
        SkipPlan plan = subscriptions.planSkip(name, to);
        if (plan.moves().isEmpty()) {
            SubscriptionListing.moves(plan.moves()).print(terminal, format);
            terminal.say("nothing to skip: every lane of subscription " + name + " is beyond position " + plan.to());
            return ExitCode.OK;
        }
        String meaning = Counted.of(plan.moves().size(), "lane") + " of subscription " + name + " past at most "
                + Counted.of(plan.positions(), "position")
                + " of the journal; what lies there is never delivered; deliveries that wait are not touched";
        if (risk.isDryRun()) {
            SubscriptionListing.moves(plan.moves()).print(terminal, format);
            terminal.say("would move " + meaning);
            return ExitCode.OK;
        }
        Act act = operator.act();
        terminal.say("moving " + meaning);
        confirm("skip messages of", name, plan.moves(), risk);
        // To where the plan said, not to what the word means by now.
        SkipPlan done = subscriptions.skip(name, Point.at(plan.to() + 1), act, patience);
        List<LaneMove> moves = counted(done.moves(), plan.moves());
        SubscriptionListing.moves(moves).print(terminal, format);
        terminal.say((moves.equals(plan.moves())
                        ? "skipped"
                        : "skipped what was left: lanes had moved since the plan, and "
                                + Counted.of(moves.size(), "lane was moved", "lanes were moved") + " past at most "
                                + Counted.of(done.positions(), "position"))
                + "; relays take the lanes again at their next beat");
        return ExitCode.OK;
    }

    int skipped(SkippedMessage skipped) {
        SubscriptionListing.skipped(skipped).print(terminal, format);
        String letter = skipped.deadLetter() == null
                ? "nothing of it was left to keep"
                : "it is kept as dead letter " + skipped.deadLetter() + ", discarded";
        terminal.say("the message at position " + skipped.position()
                + (skipped.already() ? " was skipped before; " : " is skipped; ")
                + letter
                + (skipped.released() > 0
                        ? "; "
                                + Counted.of(
                                        skipped.released(),
                                        "message that waited behind it is due now",
                                        "messages that waited behind it are due now")
                        : ""));
        return ExitCode.OK;
    }

    int release(String name, long deadLetter, Act act) {
        ReleasedKey key = subscriptions.release(name, deadLetter, act);
        String shown = shown(key.aggregateType() + " " + key.aggregateId());
        terminal.say(
                key.already()
                        ? "dead letter " + deadLetter + " does not hold " + shown + " any more; nothing was done"
                        : shown + " goes on, with " + Counted.of(key.released(), "message") + " at once; dead letter "
                                + deadLetter + " stays open: redrive or discard it");
        return ExitCode.OK;
    }

    int replay(ReplayRequest request, OperatorOptions operator, PlanOptions risk, Duration patience) {
        ReplayPlan plan = subscriptions.planReplay(request);
        if (risk.isDryRun()) {
            SubscriptionListing.moves(plan.moves()).print(terminal, format);
            terminal.say("would deliver " + stretch(plan));
            return ExitCode.OK;
        }
        Act act = operator.act();
        terminal.say("delivering " + stretch(plan));
        confirm("replay", request.name(), plan.moves(), risk);
        ReplayPlan done = subscriptions.replay(planned(request, plan), act, patience);
        List<LaneMove> moves = counted(done.moves(), plan.moves());
        SubscriptionListing.moves(moves).print(terminal, format);
        if (!moves.equals(plan.moves())) {
            terminal.say("lanes had moved since the plan; asked for: " + stretch(done));
        }
        terminal.say("relays begin at their next beat; postroom subscription show " + request.name()
                + " tells how far they are; then the subscription goes on where it was");
        return ExitCode.OK;
    }

    private static String stretch(ReplayPlan plan) {
        return "positions " + (plan.after() + 1) + " to " + plan.upTo() + " once more to subscription " + plan.name()
                + ", in " + Counted.of(plan.moves().size(), "lane")
                + (plan.leftAlone().isEmpty()
                        ? ""
                        : "; lanes " + plan.leftAlone() + " have not come so far and are left alone");
    }

    /** The stretch that a plan has shown, whatever the words for it mean by now. */
    private static ReplayRequest planned(ReplayRequest request, ReplayPlan plan) {
        return new ReplayRequest(request.name(), Point.at(plan.after() + 1), Point.at(plan.upTo()), request.rate());
    }

    int replayCopy(ReplayRequest request, String copy, OperatorOptions operator, PlanOptions risk) {
        ReplayPlan plan = subscriptions.planReplayCopy(request, copy);
        String stretch = "positions " + (plan.after() + 1) + " to " + plan.upTo() + " of subscription " + request.name()
                + " once more, as " + copy;
        if (risk.isDryRun()) {
            SubscriptionListing.moves(plan.moves()).print(terminal, format);
            terminal.say("would deliver " + stretch);
            return ExitCode.OK;
        }
        Act act = operator.act();
        terminal.say("delivering " + stretch);
        confirm("replay", request.name(), plan.moves(), risk);
        ReplayPlan done = subscriptions.replayCopy(planned(request, plan), copy, act);
        boolean served = !subscriptions.show(request.name()).relays().isEmpty();
        SubscriptionListing.moves(counted(done.moves(), plan.moves())).print(terminal, format);
        terminal.say((served
                        ? "relays of " + request.name() + " deliver "
                        : "no relay serves " + request.name() + " at the moment; one that does will deliver ")
                + stretch);
        terminal.say("postroom subscription show " + copy + " tells how far it is; when it is done,"
                + " postroom subscription remove " + copy);
        return ExitCode.OK;
    }

    int remove(String name, boolean withDeliveries, OperatorOptions operator, PlanOptions risk) {
        RemovalPlan plan = subscriptions.planRemoval(name);
        if (risk.isDryRun()) {
            SubscriptionListing.removal(plan).print(terminal, format);
            terminal.say("would remove subscription " + name + "; " + Counted.of(plan.undelivered(), "position")
                    + " of the journal would not be delivered to it");
            return ExitCode.OK;
        }
        Act act = operator.act();
        if (!risk.isYes()) {
            show(SubscriptionListing.removal(plan));
            Confirmation.of(terminal).require("remove subscription " + name, name);
        }
        RemovalPlan done = subscriptions.remove(name, withDeliveries, act);
        SubscriptionListing.removal(done).print(terminal, format);
        terminal.say("subscription " + name + " is removed; a relay that still names it makes it anew when it starts");
        return ExitCode.OK;
    }

    private void confirm(String verb, String name, List<LaneMove> moves, PlanOptions risk) {
        if (!risk.isYes()) {
            show(SubscriptionListing.moves(moves));
            Confirmation.of(terminal).require(verb + " subscription " + name, name);
        }
    }

    /** Shows what is about to be done to whoever is asked. Standard output is for what was done. */
    private void show(Listing plan) {
        if (Confirmation.of(terminal).isPossible()) {
            terminal.err().print(plan.table());
        }
    }

    /** What was done, with how many messages the plan has counted for the same stretch of a lane. */
    private static List<LaneMove> counted(List<LaneMove> done, List<LaneMove> planned) {
        return done.stream()
                .map(move -> planned.stream()
                        .filter(plan -> plan.lane() == move.lane()
                                && plan.from() == move.from()
                                && plan.to() == move.to()
                                && plan.after() == move.after()
                                && plan.upTo() == move.upTo())
                        .findFirst()
                        .orElse(move))
                .toList();
    }

    private static String count(int lanes) {
        return Counted.of(lanes, "lane");
    }

    private static String shown(String text) {
        return Quoted.text(text, TEXT_LENGTH_MAX);
    }

    private static void sleep() {
        try {
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException(
                    ExitCode.FAILURE, "interrupted; a change of lanes that was asked for is still made", e);
        }
    }
}
