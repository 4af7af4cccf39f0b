package io.postroom.server.externalcall;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.externalcall.CallState;
import io.postroom.externalcall.ExternalCall;
import io.postroom.externalcall.ExternalCallFilter;
import io.postroom.externalcall.ExternalCalls;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.LimitOption;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The external calls' commands: thin words around {@link ExternalCalls}. */
@Command(
        name = "externalcall",
        description = "Look at calls to others, and reconcile those that nobody knows the end of.",
        synopsisSubcommandLabel = "COMMAND")
public final class ExternalCallCommand {
    private static final int KEY_SHOWN_MAX = 300;
    private static final List<CallState> STATES = List.of(CallState.values());
    private static final List<CallState> OUTCOMES =
            STATES.stream().filter(CallState::isFinal).toList();

    private final Terminal terminal;
    private final GlobalOptions options;

    public ExternalCallCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = "Show external calls, newest first. All options that are given must fit.",
            footer = {
                "%nExamples:",
                "  postroom externalcall list --state needs_reconciliation",
                "  postroom externalcall list --name charge --tenant t42 -o json"
            })
    int list(
            @Mixin OutputOption output,
            @Option(
                            names = "--state",
                            paramLabel = "WORD",
                            description = "Only those that are calling, done, declined or needs_reconciliation.")
                    @Nullable
                    String state,
            @Option(names = "--name", paramLabel = "NAME", description = "Only of this operation.") @Nullable
                    String name,
            @Option(names = "--tenant", paramLabel = "ID", description = "Only of this tenant.") @Nullable
                    String tenant,
            @Mixin LimitOption limit,
            @Option(
                            names = "--before",
                            paramLabel = "ID",
                            description = "Go on after this one, the last of the page before.")
                    @Nullable
                    Long before) {
        int page = limit.page();
        ExternalCallFilter filter =
                new ExternalCallFilter(state == null ? null : word("--state", state, STATES), name, tenant);
        List<ExternalCall> calls = open().externalCalls().list(filter, before, page);
        listing(calls, output.format()).print(terminal, output.format());
        if (calls.size() == page) {
            terminal.say("there may be more: --before " + calls.get(page - 1).id());
        }
        return ExitCode.OK;
    }

    @Command(
            name = "show",
            description = "Show one external call and how it stands.",
            footer = {"%nExample:", "  postroom externalcall show charge:t42:order-991:r1"})
    int show(@Mixin OutputOption output, @Parameters(paramLabel = "KEY", description = "Its key.") String key) {
        ExternalCall call = open().externalCalls()
                .find(key)
                .orElseThrow(() -> new CommandException(
                        ExitCode.NOT_FOUND,
                        "could not find external call " + Quoted.text(key, KEY_SHOWN_MAX)
                                + "; postroom externalcall list shows them"));
        if (output.format() == OutputFormat.TABLE) {
            facts(call).print(terminal, output.format());
        } else {
            listing(List.of(call), output.format()).print(terminal, output.format());
        }
        return ExitCode.OK;
    }

    @Command(
            name = "reconcile",
            description = {
                "Say what became of a call that nobody knows the end of, after a look at the provider.",
                "It is final. 'declined' says that it is certain that nothing happened: the application may then try again under a"
                        + " new revision."
            },
            footer = {
                "%nExamples:",
                "  postroom externalcall reconcile charge:t42:order-991:r1 --outcome done --reference ch_77 --reason 'seen in the"
                        + " provider'\\''s console'",
                "  postroom externalcall reconcile charge:t42:order-991:r1 --outcome declined --reason 'no such charge there'"
            })
    int reconcile(
            @Mixin OutputOption output,
            @Parameters(paramLabel = "KEY", description = "Its key.") String key,
            @Option(names = "--outcome", required = true, paramLabel = "WORD", description = "done or declined.")
                    String outcome,
            @Option(names = "--reference", paramLabel = "TEXT", description = "What the provider calls it.") @Nullable
                    String reference,
            @Mixin OperatorOptions operator) {
        CallState wanted = word("--outcome", outcome, OUTCOMES);
        Act act = operator.act();
        ExternalCalls calls = open().externalCalls();
        try {
            ExternalCall ended = calls.reconcile(key, wanted, reference, act.actor(), act.reason());
            listing(List.of(ended), output.format()).print(terminal, output.format());
            return ExitCode.OK;
        } catch (PostroomException e) {
            int code = e.code().equals("externalcall.unknown")
                    ? ExitCode.NOT_FOUND
                    : e.code().equals("externalcall.reconciliation-invalid") ? ExitCode.USAGE : ExitCode.FAILURE;
            throw new CommandException(code, e.getMessage(), e);
        }
    }

    private static CallState word(String option, String word, List<CallState> states) {
        List<String> known = states.stream().map(CallState::word).toList();
        return states.stream()
                .filter(state -> state.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "could not read " + option + ": '" + Quoted.text(word, 30) + "' is none of " + known
                                + Suggestion.didYouMean(word, known)));
    }

    /** A table leaves out what the key says and what does not fit a screen. */
    private static Listing listing(List<ExternalCall> calls, OutputFormat format) {
        if (format == OutputFormat.TABLE) {
            Listing table =
                    new Listing("id", "key", "state", "attempts", "calledAt", "windowUntil", "reference", "reason");
            calls.forEach(call -> table.row(
                    call.id(),
                    call.key(),
                    call.state().word(),
                    call.attempts(),
                    call.calledAt(),
                    call.windowUntil(),
                    call.reference(),
                    call.reason()));
            return table;
        }
        Listing listing = new Listing(facts());
        calls.forEach(call -> listing.row(values(call)));
        return listing;
    }

    private static Listing facts(ExternalCall call) {
        Listing listing = new Listing("fact", "value");
        @Nullable Object[] values = values(call);
        for (int i = 0; i < values.length; i++) {
            listing.row(facts()[i], values[i]);
        }
        return listing;
    }

    private static String[] facts() {
        return Stream.of(
                        "id key name tenantId businessId revision state attempts fence requestHash",
                        "createdAt calledAt leasedUntil windowUntil endedAt reference reason")
                .flatMap(line -> Stream.of(line.split(" ")))
                .toArray(String[]::new);
    }

    private static @Nullable Object[] values(ExternalCall call) {
        return new @Nullable Object[] {
            call.id(),
            call.key(),
            call.operation().name(),
            call.operation().tenant(),
            call.operation().businessId(),
            call.operation().revision(),
            call.state().word(),
            call.attempts(),
            call.fence(),
            call.requestHash(),
            call.createdAt(),
            call.calledAt(),
            call.leasedUntil(),
            call.windowUntil(),
            call.endedAt(),
            call.reference(),
            call.reason()
        };
    }

    private Postroom open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
