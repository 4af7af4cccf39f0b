package io.postroom.server.subscription;

import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import io.postroom.subscription.LaneCount;
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
            terminal.say("asked for " + lanes + " lanes of subscription " + name + "; waiting until relays have given "
                    + count(count.leased()) + " back");
        }
        long deadline = System.nanoTime() + patience.toNanos();
        while (count.wanted() != null && System.nanoTime() - deadline < 0) {
            sleep();
            count = subscriptions.finishLanes(name);
        }
        SubscriptionListing.lanes(subscriptions.lanes(name)).print(terminal, format);
        if (count.wanted() != null) {
            terminal.say("subscription " + name + " still has " + count.lanes() + " lanes, relays have not given "
                    + count(count.leased())
                    + " back yet; the change is made when they have, by one of them or by this command");
            return ExitCode.PARTIAL;
        }
        terminal.say("subscription " + name + " has " + count.lanes() + " lanes"
                + (former == count.lanes() ? ", as before" : ", it had " + former));
        return ExitCode.OK;
    }

    int skip(String name, Point to, OperatorOptions operator, PlanOptions risk, Duration patience) {
        SkipPlan plan = subscriptions.planSkip(name, to);
        SubscriptionListing.moves(plan.moves()).print(terminal, format);
        if (plan.moves().isEmpty()) {
            terminal.say("nothing to skip: every lane of subscription " + name + " is beyond position " + plan.to());
            return ExitCode.OK;
        }
        terminal.say(
                (risk.isDryRun() ? "would move " : "moving ") + plan.moves().size() + " lanes of subscription "
                        + name + " past at most " + plan.positions()
                        + " positions of the journal; what lies there is never delivered; deliveries that wait are not touched");
        if (risk.isDryRun()) {
            return ExitCode.OK;
        }
        Act act = operator.act();
        confirm("skip messages of", name, risk);
        subscriptions.skip(name, to, act, patience);
        terminal.say("skipped; relays take the lanes again at their next beat");
        return ExitCode.OK;
    }

    int skipped(SkippedMessage skipped) {
        String letter = skipped.deadLetter() == null
                ? "nothing of it was left to keep"
                : "it is kept as dead letter " + skipped.deadLetter() + ", discarded";
        terminal.say("the message at position " + skipped.position()
                + (skipped.already() ? " was skipped before; " : " is skipped; ")
                + letter
                + (skipped.released() > 0
                        ? "; " + skipped.released() + " messages that waited behind it are due now"
                        : ""));
        return ExitCode.OK;
    }

    int release(String name, long deadLetter, Act act) {
        ReleasedKey key = subscriptions.release(name, deadLetter, act);
        String shown = shown(key.aggregateType() + " " + key.aggregateId());
        terminal.say(
                key.already()
                        ? "dead letter " + deadLetter + " does not hold " + shown + " any more; nothing was done"
                        : shown + " goes on, with " + key.released() + " messages at once; dead letter " + deadLetter
                                + " stays open: redrive or discard it");
        return ExitCode.OK;
    }

    int replay(ReplayRequest request, OperatorOptions operator, PlanOptions risk, Duration patience) {
        ReplayPlan plan = subscriptions.planReplay(request);
        SubscriptionListing.moves(plan.moves()).print(terminal, format);
        terminal.say((risk.isDryRun() ? "would deliver " : "delivering ") + "positions " + (plan.after() + 1) + " to "
                + plan.upTo() + " once more to subscription " + request.name() + ", in "
                + plan.moves().size() + " lanes"
                + (plan.leftAlone().isEmpty()
                        ? ""
                        : "; lanes " + plan.leftAlone() + " have not come so far and are left alone"));
        if (risk.isDryRun()) {
            return ExitCode.OK;
        }
        Act act = operator.act();
        confirm("replay", request.name(), risk);
        subscriptions.replay(request, act, patience);
        terminal.say("relays begin at their next beat; postroom subscription show " + request.name()
                + " tells how far they are; then the subscription goes on where it was");
        return ExitCode.OK;
    }

    int replayCopy(ReplayRequest request, String copy, OperatorOptions operator, PlanOptions risk) {
        ReplayPlan plan = subscriptions.planReplayCopy(request, copy);
        SubscriptionListing.moves(plan.moves()).print(terminal, format);
        String stretch = "positions " + (plan.after() + 1) + " to " + plan.upTo() + " of subscription " + request.name()
                + " once more, as " + copy;
        if (risk.isDryRun()) {
            terminal.say("would deliver " + stretch);
            return ExitCode.OK;
        }
        Act act = operator.act();
        confirm("replay", request.name(), risk);
        subscriptions.replayCopy(request, copy, act);
        boolean served = !subscriptions.show(request.name()).relays().isEmpty();
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
        SubscriptionListing.removal(plan).print(terminal, format);
        if (risk.isDryRun()) {
            terminal.say("would remove subscription " + name + "; " + plan.undelivered()
                    + " positions of the journal would not be delivered to it");
            return ExitCode.OK;
        }
        Act act = operator.act();
        confirm("remove", name, risk);
        subscriptions.remove(name, withDeliveries, act);
        terminal.say("subscription " + name + " is removed; a relay that still names it makes it anew when it starts");
        return ExitCode.OK;
    }

    private void confirm(String verb, String name, PlanOptions risk) {
        if (!risk.isYes()) {
            Consent.of(terminal).require(verb, name);
        }
    }

    private static String count(int lanes) {
        return lanes == 1 ? "1 lane" : lanes + " lanes";
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
