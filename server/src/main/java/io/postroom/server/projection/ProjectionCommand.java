package io.postroom.server.projection;

import io.postroom.projection.Comparison;
import io.postroom.projection.ReadModelState;
import io.postroom.projection.ReadModels;
import io.postroom.projection.Rebuild;
import io.postroom.projection.Retirement;
import io.postroom.projection.SwapPlan;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.subscription.PlanOptions;
import io.postroom.server.subscription.PointWord;
import io.postroom.server.terminal.Confirmation;
import io.postroom.server.terminal.Counted;
import io.postroom.server.terminal.Durations;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import io.postroom.subscription.Point;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The read models' commands: thin words around {@link ReadModels}. */
@Command(
        name = "projection",
        description = "Look at read models; rebuild, compare, swap, roll back and retire their generations.",
        synopsisSubcommandLabel = "COMMAND")
public final class ProjectionCommand {
    private static final String NAME = "The read model.";
    private static final String FORCE = "Do it although something speaks against it; --dry-run shows what.";
    private static final String WAIT = "How long to wait for relays, such as 30s; 60s unless given.";

    private final Terminal terminal;
    private final Opening opening;

    public ProjectionCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.opening = new Opening(terminal, options);
    }

    @Command(
            name = "list",
            description = "Show every read model: how old what it shows is, how old it may be, and its generations.",
            footer = {"%nExample:", "  postroom projection list -o json --url postgres://localhost/shop"})
    int list(@Mixin OutputOption output) {
        return opening.run(postroom -> {
            ProjectionListing.models(postroom.readModels().list()).print(terminal, output.format());
            return ExitCode.OK;
        });
    }

    @Command(
            name = "show",
            description =
                    "Show the generations of a read model: how far each is, how fast it goes, when it will be there.",
            footer = {"%nExample:", "  postroom projection show sales -o json"})
    int show(@Mixin OutputOption output, @Parameters(paramLabel = "NAME", description = NAME) String name) {
        return opening.run(postroom -> {
            ReadModelState model = postroom.readModels().show(name);
            ProjectionListing.generations(model).print(terminal, output.format());
            terminal.say(
                    model.live().isEmpty()
                            ? "read model " + name + " was never made, and nothing can be read from it; "
                                    + (model.generations().stream().allMatch(each -> each.error() == null)
                                            ? "it is made when a relay that serves it starts"
                                            : "mend what its error says, then start the relay again that serves it")
                            : "read model " + name + " is "
                                    + Durations.show(model.age().age()) + " old, it may be "
                                    + Durations.show(model.age().ageMax()) + " ("
                                    + model.age().freshness().word() + ")");
            return ExitCode.OK;
        });
    }

    @Command(
            name = "rebuild",
            description = {
                "Ask for a new generation beside the live one, in the newest version of its tables.",
                "A relay that serves the read model makes it and brings it to the present; readers notice nothing until it is swapped.",
                "It is made from the messages that are still kept, and refused if some of those it begins with are gone."
            },
            footer = {"%nExample:", "  postroom projection rebuild sales --reason 'totals were rounded'"})
    int rebuild(
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(
                            names = "--from",
                            paramLabel = "POINT",
                            description = "The first message: beginning, a position, or a time such as"
                                    + " 2026-11-15T10:00:00Z; where the live one began unless given.")
                    @Nullable
                    String from) {
        @Nullable Point point = from == null ? null : PointWord.parse("--from", from);
        if (risk.isDryRun()) {
            return opening.run(postroom -> wouldRebuild(postroom.readModels().planRebuild(name, point)));
        }
        Act act = operator.act();
        return opening.run(postroom -> {
            Rebuild rebuild = postroom.readModels().rebuild(name, point, act);
            terminal.say((rebuild.already()
                            ? "generation " + rebuild.generation() + " was asked for before"
                            : "asked for generation " + rebuild.generation())
                    + ", version " + rebuild.version() + ", after position " + rebuild.beganAfter()
                    + (postroom.readModels().show(name).live().isPresent()
                            ? "; a relay makes it at its next beat"
                            : "; it is made when a relay that serves read model " + name + " starts")
                    + "; postroom projection show " + name
                    + " shows how far it is");
            return ExitCode.OK;
        });
    }

    private int wouldRebuild(Rebuild plan) {
        terminal.say(
                plan.already()
                        ? "generation " + plan.generation() + " was asked for already; nothing would be done"
                        : "would ask for generation " + plan.generation() + ", version " + plan.version()
                                + ", after position " + plan.beganAfter());
        return ExitCode.OK;
    }

    @Command(
            name = "compare",
            description = {
                "Compare a generation with the live one, table by table, both at one position of the journal.",
                "Their lanes stand still for a moment, readers do not. The exit code is 4 if they differ."
            },
            footer = {"%nExample:", "  postroom projection compare sales --examples 10 -o json"})
    int compare(
            @Mixin OutputOption output,
            @Parameters(index = "0", paramLabel = "NAME", description = NAME) String name,
            @Parameters(
                            index = "1",
                            arity = "0..1",
                            paramLabel = "GENERATION",
                            description = "Its number, such as 2; the one that is being built unless given.")
                    @Nullable
                    Integer generation,
            @Option(
                            names = "--examples",
                            paramLabel = "N",
                            description = "So many rows that differ are named of each table; 5 unless given.")
                    @Nullable
                    Integer examples,
            @Option(names = "--wait", paramLabel = "DURATION", description = WAIT) @Nullable Duration wait) {
        return opening.run(postroom -> {
            Comparison comparison = postroom.readModels()
                    .compare(name, generation, examples == null ? ReadModels.EXAMPLES : examples, orPatience(wait));
            ProjectionListing.comparison(comparison).print(terminal, output.format());
            terminal.say("generations " + comparison.live() + " (live) and " + comparison.candidate()
                    + (comparison.isSame() ? " are the same" : " differ") + " at position " + comparison.position()
                    + open(comparison.liveOpen(), comparison.live())
                    + open(comparison.candidateOpen(), comparison.candidate()));
            return comparison.isSame() ? ExitCode.OK : ExitCode.CHECK_FAILED;
        });
    }

    private static String open(long messages, int generation) {
        return messages == 0
                ? ""
                : "; " + Counted.of(messages, "message waits or was", "messages wait or were") + " given up in "
                        + generation + ", which may be why";
    }

    @Command(
            name = "swap",
            description = {
                "Let a generation take the place of the live one, at once. The former is kept up to date until it is retired.",
                "Refused if the generation is further behind than the read model's freshness allows, if messages wait or were given up"
                        + " that the live one has applied, or if views elsewhere hang on the live tables."
            },
            footer = {
                "%nExamples:",
                "  postroom projection swap sales --dry-run",
                "  postroom projection swap sales --reason 'compared, the same but for the rounding'"
            })
    int swap(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(index = "0", paramLabel = "NAME", description = NAME) String name,
            @Parameters(
                            index = "1",
                            arity = "0..1",
                            paramLabel = "GENERATION",
                            description = "Its number, such as 2; the one that is being built unless given.")
                    @Nullable
                    Integer generation,
            @Option(names = "--force", description = FORCE) boolean force) {
        if (risk.isDryRun()) {
            return opening.run(
                    postroom -> planned(postroom.readModels().planSwap(name, generation), "swap", output.format()));
        }
        Act act = operator.act();
        return opening.run(postroom ->
                swapped(postroom.readModels().swap(name, generation, force, act), "swapped", output.format()));
    }

    @Command(
            name = "rollback",
            description = "Undo the last swap, at once: the former generation is live again.",
            footer = {"%nExample:", "  postroom projection rollback sales --reason 'a column is missing'"})
    int rollback(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(paramLabel = "NAME", description = NAME) String name,
            @Option(names = "--force", description = FORCE) boolean force) {
        if (risk.isDryRun()) {
            return opening.run(
                    postroom -> planned(postroom.readModels().planRollback(name), "roll back", output.format()));
        }
        Act act = operator.act();
        return opening.run(
                postroom -> swapped(postroom.readModels().rollback(name, force, act), "rolled back", output.format()));
    }

    private int planned(SwapPlan plan, String verb, OutputFormat format) {
        ProjectionListing.swap(plan).print(terminal, format);
        if (plan.already()) {
            terminal.say("generation " + plan.to() + " is live already; nothing would be done");
            return ExitCode.OK;
        }
        terminal.say("would " + verb + " read model " + plan.readModel() + " from generation " + plan.from() + " to "
                + plan.to());
        plan.problems().forEach(problem -> terminal.say("but: " + problem));
        return plan.problems().isEmpty() ? ExitCode.OK : ExitCode.CHECK_FAILED;
    }

    private int swapped(SwapPlan plan, String verb, OutputFormat format) {
        ProjectionListing.swap(plan).print(terminal, format);
        terminal.say(
                plan.already()
                        ? "generation " + plan.to() + " is live already"
                        : verb + " read model " + plan.readModel() + ": generation " + plan.to() + " is live, "
                                + plan.from() + " is kept up to date");
        return ExitCode.OK;
    }

    @Command(
            name = "retire",
            description = {
                "Drop a generation that is not live: its schema with all tables, and its subscription.",
                "Also the way to give up a rebuild."
            },
            footer = {
                "%nExamples:",
                "  postroom projection retire sales 1 --dry-run",
                "  postroom projection retire sales 1 --reason 'the new one is fine' --yes"
            })
    int retire(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk,
            @Parameters(index = "0", paramLabel = "NAME", description = NAME) String name,
            @Parameters(
                            index = "1",
                            paramLabel = "GENERATION",
                            description = "Its number, such as 2; projection show lists them.")
                    int generation,
            @Option(names = "--wait", paramLabel = "DURATION", description = WAIT) @Nullable Duration wait) {
        if (risk.isDryRun()) {
            return opening.run(postroom -> {
                Retirement plan = postroom.readModels().planRetirement(name, generation);
                ProjectionListing.retirement(plan).print(terminal, output.format());
                terminal.say(plan.already() ? "it is gone already" : "would drop " + dropped(plan));
                return ExitCode.OK;
            });
        }
        Act act = operator.act();
        return opening.run(postroom -> {
            Retirement plan = postroom.readModels().planRetirement(name, generation);
            if (!plan.already() && !risk.isYes()) {
                Confirmation.of(terminal).require("drop " + dropped(plan), name);
            }
            Retirement done = postroom.readModels().retire(name, generation, act, orPatience(wait));
            ProjectionListing.retirement(done).print(terminal, output.format());
            terminal.say(done.already() ? "it was gone already" : "dropped " + dropped(done));
            return ExitCode.OK;
        });
    }

    private static String dropped(Retirement plan) {
        return "generation " + plan.generation() + " of read model " + plan.readModel() + ": schema " + plan.schema()
                + " with " + Counted.of(plan.tables().size(), "table");
    }

    private static Duration orPatience(@Nullable Duration given) {
        return given == null ? ReadModels.PATIENCE : given;
    }
}
