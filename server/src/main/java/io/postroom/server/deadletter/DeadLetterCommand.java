package io.postroom.server.deadletter;

import com.zaxxer.hikari.HikariDataSource;
import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.deadletter.DeadLetterRow;
import io.postroom.deadletter.DeadLetters;
import io.postroom.deadletter.GroupBy;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedriveAction;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Redrives;
import io.postroom.deadletter.ResolvedLetter;
import io.postroom.server.payload.PayloadOptions;
import io.postroom.server.payload.Reveal;
import io.postroom.server.payload.RevealOptions;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.LimitOption;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The dead letters' commands: thin words around {@link DeadLetters} and {@link Redrives}. */
@Command(
        name = "deadletter",
        description = "Look at messages that were given up on, put them back on their way or end them.",
        synopsisSubcommandLabel = "COMMAND")
public final class DeadLetterCommand {
    /** One steps, one tells relays. */
    private static final int CONNECTIONS = 2;

    private final Terminal terminal;
    private final GlobalOptions options;

    public DeadLetterCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description =
                    "Show open dead letters, newest first; or how many there are of each kind; or what became of those that"
                            + " are not open, last resolved first.",
            footer = {
                "%nExamples:",
                "  postroom deadletter list --subscription billing --since 2h",
                "  postroom deadletter list --resolution discarded --since 7d",
                "  postroom deadletter list --group-by error,type"
            })
    int list(
            @Mixin OutputOption output,
            @Mixin FilterOptions filter,
            @Option(
                            names = "--group-by",
                            split = ",",
                            paramLabel = "WORD",
                            description = "Count them by some of error, type, subscription, tenant, key, cause.")
                    @Nullable
                    List<String> groupBy,
            @Option(names = "--resolved", description = "Those that were redriven or discarded, not the open ones.")
                    boolean resolved,
            @Option(
                            names = "--resolution",
                            paramLabel = "WORD",
                            description = "Only those that were redriven, or only those that were discarded.")
                    @Nullable
                    String resolution,
            @Mixin LimitOption limit,
            @Option(
                            names = "--before",
                            paramLabel = "ID",
                            description = "Go on after this one, the last of the page before.")
                    @Nullable
                    Long before) {
        int page = limit.page();
        DeadLetterFilter wanted = filter.filter(List.of());
        RedriveAction action = resolution == null ? null : LetterWords.resolution(resolution);
        Set<GroupBy> by = LetterWords.groups(groupBy == null ? List.of() : groupBy);
        if (!by.isEmpty() && (before != null || resolved || action != null)) {
            throw new CommandException(
                    ExitCode.USAGE,
                    (before != null
                                    ? "--before goes on with a list, groups have no next page: a greater --limit shows more"
                                    : "--group-by counts open dead letters only")
                            + "; leave one of the two out");
        }
        DeadLetters letters = open().deadLetters();
        if (!by.isEmpty()) {
            List<DeadLetterGroup> groups = letters.groups(wanted, by, page);
            LetterListing.groups(groups, by, output.format()).print(terminal, output.format());
            more(groups.size() == page, "there may be more: a greater --limit shows more groups");
            return ExitCode.OK;
        }
        if (resolved || action != null) {
            List<ResolvedLetter> rows = letters.listResolved(wanted, action, before, page);
            LetterListing.resolved(rows, output.format()).print(terminal, output.format());
            more(rows.size() == page, () -> rows.get(page - 1).letter().id());
            return ExitCode.OK;
        }
        List<DeadLetterRow> rows = letters.list(wanted, before, page);
        LetterListing.rows(rows, output.format()).print(terminal, output.format());
        more(rows.size() == page, () -> rows.get(page - 1).id());
        return ExitCode.OK;
    }

    private void more(boolean full, LongSupplier last) {
        if (full) {
            terminal.say("there may be more: --before " + last.getAsLong());
        }
    }

    private void more(boolean full, String sentence) {
        if (full) {
            terminal.say(sentence);
        }
    }

    @Command(
            name = "show",
            description = {
                "Show a dead letter whole, with its payload and its attempts, open or not.",
                "Values of payloads are masked unless they are shown to everybody or revealed."
            },
            footer = {
                "%nExamples:",
                "  postroom deadletter show 42 -o json | jq .history",
                "  postroom deadletter show 42 --reveal --reason 'ticket 4711' -o json | jq .payload"
            })
    int show(
            @Mixin OutputOption output,
            @Mixin RevealOptions revealing,
            @Parameters(paramLabel = "ID", description = "Its number, such as 42; deadletter list shows them.")
                    long id) {
        Reveal reveal = revealing.read(terminal);
        return new WholeLetters(terminal, open(), reveal).show(id, output.format());
    }

    @Command(
            name = "export",
            description = {
                "Print open dead letters whole, with their payloads, as JSON lines in the order of their numbers.",
                "Values of payloads are masked unless they are shown to everybody or revealed."
            },
            footer = {
                "%nExamples:",
                "  postroom deadletter export --subscription billing > billing.jsonl",
                "  postroom deadletter export --all --reveal --reason 'moved by hand, ticket 4711' > everything.jsonl"
            })
    int export(
            @Mixin FilterOptions filter,
            @Mixin RevealOptions revealing,
            @Option(names = "--all", description = "Everything: needed where no other option says what is meant.")
                    boolean all) {
        DeadLetterFilter wanted = filter.filter(List.of());
        if (wanted.isEmpty() != all) {
            throw new CommandException(
                    ExitCode.USAGE,
                    all
                            ? "--all means every dead letter, and the other options mean some; leave one of the two out"
                            : "could not export: no dead letter is named; give --all, or at least one of "
                                    + FilterOptions.NAMES);
        }
        Reveal reveal = revealing.read(terminal);
        return pooled(postroom -> new WholeLetters(terminal, postroom, reveal).export(wanted));
    }

    @Command(
            name = "redrive",
            description = {
                "Put dead letters back on their way: those that are named, or all that fit the filter.",
                "First it says how many there are and which keys have seen newer messages since. It goes step by step, can be"
                        + " stopped with Ctrl-C, resumed and cancelled, and does nothing twice."
            },
            footer = {
                "%nExamples:",
                "  postroom deadletter redrive 42 43 --reason 'customer 7 is there now'",
                "  postroom deadletter redrive --subscription billing --type OrderPaid --dry-run",
                "  postroom deadletter redrive --subscription billing --rate 50/s --canary 20 --reason 'fixed in 1.4' --yes",
                "  postroom deadletter redrive 42 --patch fix.json --dry-run --reveal --reason 'ticket 4711'"
            })
    int redrive(
            @Mixin OutputOption output,
            @Mixin FilterOptions filter,
            @Mixin ActOptions act,
            @Mixin PayloadOptions payloads,
            @Option(
                            names = "--canary",
                            paramLabel = "N",
                            description = "So many first; the rest only when all of them were delivered.")
                    @Nullable
                    Integer canary,
            @Option(
                            names = "--patch",
                            paramLabel = "FILE",
                            description =
                                    "A JSON Patch (RFC 6902) that mends the payloads; the originals stay."
                                            + " With --dry-run it shows what would change, if payloads are shown or with --reveal.")
                    @Nullable
                    Path patch,
            @Parameters(arity = "0..*", paramLabel = "ID", description = "Single dead letters.") @Nullable
                    List<String> ids) {
        RedriveRequest request = request(
                RedriveAction.REDRIVE,
                filter,
                ids,
                act,
                builder -> builder.canary(canary).patch(patch == null ? null : PatchFile.read(patch)));
        Reveal reveal = act.reveal(terminal, payloads, patch != null);
        return pooled(
                postroom -> new BulkAct(terminal, postroom, filter, act, reveal, output.format()).perform(request));
    }

    @Command(
            name = "discard",
            description = "End dead letters: those that are named, or all that fit the filter. They stay to be seen.",
            footer = {
                "%nExample:",
                "  postroom deadletter discard --subscription billing --error-class http.422 --reason 'nobody wants them'"
            })
    int discard(
            @Mixin OutputOption output,
            @Mixin FilterOptions filter,
            @Mixin ActOptions act,
            @Parameters(arity = "0..*", paramLabel = "ID", description = "Single dead letters.") @Nullable
                    List<String> ids) {
        RedriveRequest request = request(RedriveAction.DISCARD, filter, ids, act, builder -> builder);
        return pooled(postroom ->
                new BulkAct(terminal, postroom, filter, act, Reveal.NOTHING, output.format()).perform(request));
    }

    @Command(
            name = "redrives",
            description = "Show redrives and discards, newest first, and how far they are.",
            footer = {"%nExample:", "  postroom deadletter redrives -o json"})
    int redrives(@Mixin OutputOption output, @Mixin LimitOption limit) {
        int page = limit.page();
        List<Redrive> redrives = open().deadLetters().redrives().list(page);
        LetterListing.redrives(redrives, output.format()).print(terminal, output.format());
        more(redrives.size() == page && page < Redrives.LIST_MAX, "there may be more: a greater --limit shows them");
        return ExitCode.OK;
    }

    @Command(
            name = "cancel",
            description = "End a redrive that is not finished. What it has done stays done.",
            footer = {
                "%nExample:",
                "  postroom deadletter cancel 8e03978e-40d5-43e8-bc93-6894a57f9324 --reason 'wrong filter'"
            })
    int cancel(
            @Mixin OutputOption output,
            @Mixin OperatorOptions operator,
            @Parameters(paramLabel = "REDRIVE", converter = UuidWord.class, description = "Its UUID.") UUID id) {
        Act act = operator.act();
        Redrives redrives = open().deadLetters().redrives();
        Redrive cancelled = known(() -> redrives.cancel(id, act.actor(), act.reason()));
        LetterListing.redrives(List.of(cancelled), output.format()).print(terminal, output.format());
        return ExitCode.OK;
    }

    @Command(
            name = "resume",
            description = "Go on with a redrive that is not finished, whoever began it.",
            footer = {"%nExample:", "  postroom deadletter resume 8e03978e-40d5-43e8-bc93-6894a57f9324"})
    int resume(
            @Mixin OutputOption output,
            @Parameters(paramLabel = "REDRIVE", converter = UuidWord.class, description = "Its UUID.") UUID id) {
        return pooled(postroom -> new RedriveRun(terminal, postroom.deadLetters(), output.format()).run(id));
    }

    private static RedriveRequest request(
            RedriveAction action,
            FilterOptions filter,
            @Nullable List<String> ids,
            ActOptions act,
            Function<RedriveRequest.Builder, RedriveRequest.Builder> more) {
        DeadLetterFilter wanted = filter.filter(
                ids == null ? List.of() : ids.stream().map(LetterWords::number).toList());
        if (wanted.isEmpty()) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not " + action.word() + ": no dead letter is named; give their numbers, or at least one of "
                            + FilterOptions.NAMES);
        }
        try {
            RedriveRequest.Builder builder =
                    action == RedriveAction.REDRIVE ? RedriveRequest.redrive(wanted) : RedriveRequest.discard(wanted);
            UUID id = act.request();
            return more.apply(builder.id(id == null ? UUID.randomUUID() : id)
                            .rate(act.rate())
                            .actor(act.actor())
                            .reason(act.reason()))
                    .build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    /** Tells a redrive that is not there from other failures. */
    static Redrive known(Supplier<Redrive> act) {
        try {
            return act.get();
        } catch (PostroomException e) {
            int code = e.code().equals("redrive.unknown")
                    ? ExitCode.NOT_FOUND
                    : e.code().equals("redrive.invalid") ? ExitCode.USAGE : ExitCode.FAILURE;
            throw new CommandException(code, e.getMessage(), e);
        }
    }

    /** For commands that ask once and end. */
    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        return checked(Postroom.builder(Connections.single(url, Connections.SHORT)));
    }

    /** For commands that ask again and again. */
    private int pooled(Function<Postroom, Integer> work) {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        try (HikariDataSource pool = Connections.pool(url, CONNECTIONS)) {
            return work.apply(checked(Postroom.builder(pool)));
        }
    }

    private Postroom checked(Postroom.Builder builder) {
        Postroom postroom = builder.schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
