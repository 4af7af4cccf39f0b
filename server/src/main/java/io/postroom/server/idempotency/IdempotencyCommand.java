package io.postroom.server.idempotency;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.idempotency.IdempotencyKey;
import io.postroom.idempotency.IdempotencyKeys;
import io.postroom.idempotency.KeyDetails;
import io.postroom.idempotency.KeyFilter;
import io.postroom.idempotency.KeyState;
import io.postroom.server.postgres.Connections;
import io.postroom.server.postgres.DatabaseUrl;
import io.postroom.server.postgres.SchemaCheck;
import io.postroom.server.postgres.SchemaChoice;
import io.postroom.server.subscription.OperatorOptions;
import io.postroom.server.subscription.PlanOptions;
import io.postroom.server.terminal.AnyText;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.Confirmation;
import io.postroom.server.terminal.Counted;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.GlobalOptions;
import io.postroom.server.terminal.LimitOption;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import io.postroom.subscription.Act;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands of idempotency keys: thin words around {@link IdempotencyKeys}. */
@Command(
        name = "idempotency",
        description = "Look at idempotency keys, and free one that is stuck.",
        synopsisSubcommandLabel = "COMMAND")
public final class IdempotencyCommand {
    private static final int SHOWN_MAX = IdempotencyKey.KEY_LENGTH_MAX;
    private static final String SCOPE = "What the request asked for, such as order.create.";
    private static final String KEY = "The client's key.";
    private static final String TENANT = "Whose key; that of no tenant unless given.";

    /** Refusals that are about what was typed. */
    private static final Set<String> USAGE = Set.of(
            "audit.invalid",
            "idempotency.key-invalid",
            "idempotency.scope-invalid",
            "idempotency.tenant-invalid",
            "idempotency.page-invalid");

    private final Terminal terminal;
    private final GlobalOptions options;

    public IdempotencyCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description = {
                "Show keys, by tenant, scope and key: those that are done in steps and not answered, unless another --state is"
                        + " given. Answers are not shown."
            },
            footer = {
                "%nExamples:",
                "  postroom idempotency list",
                "  postroom idempotency list --tenant t42 --scope order.create --state failed -o json"
            })
    int list(
            @Mixin OutputOption output,
            @Option(
                            names = "--tenant",
                            paramLabel = "TENANT",
                            converter = AnyText.class,
                            description = "Only those of this one; '' for those of no tenant.")
                    @Nullable
                    String tenant,
            @Option(names = "--scope", paramLabel = "SCOPE", description = "Only those of this one.") @Nullable
                    String scope,
            @Option(
                            names = "--state",
                            paramLabel = "WORD",
                            description = "running, completed, failed or all; running unless given.")
                    @Nullable
                    String state,
            @Mixin LimitOption limit,
            @Option(
                            names = "--after",
                            arity = "3",
                            converter = AnyText.class,
                            hideParamSyntax = true,
                            paramLabel = "TENANT SCOPE KEY",
                            description =
                                    "Go on after this one, the last of the page before: its tenant, scope and key.")
                    @Nullable
                    List<String> after) {
        int page = limit.page();
        KeyFilter filter = new KeyFilter(tenant, scope, state(state == null ? "running" : state));
        return told(() -> {
            IdempotencyKey last = after == null ? null : new IdempotencyKey(after.get(0), after.get(1), after.get(2));
            List<KeyDetails> keys = open().list(filter, last, page);
            KeyListing.of(keys, output.format()).print(terminal, output.format());
            if (keys.size() == page) {
                IdempotencyKey end = keys.get(page - 1).key();
                terminal.say("there may be more: --after '" + shown(end.tenant()) + "' " + end.scope() + " '"
                        + shown(end.key()) + "'");
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "show",
            description = "Show a key: where it is, how far its steps are, who may go on. Its answer is not shown.",
            footer = {
                "%nExample:",
                "  postroom idempotency show order.create 8e03978e-40d5-43e8-bc93-6894a57f9324 --tenant t42"
            })
    int show(
            @Mixin OutputOption output,
            @Parameters(index = "0", paramLabel = "SCOPE", description = SCOPE) String scope,
            @Parameters(index = "1", paramLabel = "KEY", description = KEY) String key,
            @Option(
                            names = "--tenant",
                            paramLabel = "TENANT",
                            defaultValue = "",
                            converter = AnyText.class,
                            description = TENANT)
                    String tenant) {
        return told(() -> {
            print(find(open(), new IdempotencyKey(tenant, scope, key)), output.format());
            return ExitCode.OK;
        });
    }

    @Command(
            name = "release",
            description = {
                "Take a running key from whoever has it, so that the next request with it goes on at once after the last step"
                        + " that was done. Whoever had it, if still alive, is refused at its next step.",
                "With --forget the key is gone, answered or not, and the next request with it is done from the beginning: what"
                        + " was done before is done again."
            },
            footer = {
                "%nExamples:",
                "  postroom idempotency release payment.capture k-17 --tenant t42 --dry-run",
                "  postroom idempotency release payment.capture k-17 --tenant t42 --reason 'node 3 hangs' --yes"
            })
    int release(
            @Mixin OutputOption output,
            @Parameters(index = "0", paramLabel = "SCOPE", description = SCOPE) String scope,
            @Parameters(index = "1", paramLabel = "KEY", description = KEY) String key,
            @Option(
                            names = "--tenant",
                            paramLabel = "TENANT",
                            defaultValue = "",
                            converter = AnyText.class,
                            description = TENANT)
                    String tenant,
            @Option(names = "--forget", description = "Let the next request begin anew.") boolean forget,
            @Mixin OperatorOptions operator,
            @Mixin PlanOptions risk) {
        IdempotencyKeys.Act act = risk.isDryRun() ? null : act(operator.act());
        return told(() -> {
            IdempotencyKeys keys = open();
            KeyDetails seen = find(keys, new IdempotencyKey(tenant, scope, key));
            print(seen, output.format());
            if (!forget && seen.state() != KeyState.RUNNING) {
                throw new CommandException(
                        ExitCode.FAILURE,
                        "could not release " + seen.key() + ": it is " + seen.state()
                                + ", nobody has it; --forget lets the next request begin anew");
            }
            terminal.say((act == null ? "would " : "about to ") + meaning(seen, forget));
            if (act == null) {
                return ExitCode.OK;
            }
            if (!risk.isYes()) {
                Confirmation.of(terminal).require((forget ? "forget " : "release ") + shown(key), scope);
            }
            if (forget) {
                keys.forget(seen, act);
            } else {
                keys.release(seen, act);
            }
            terminal.say(forget ? "forgotten" : "released");
            return ExitCode.OK;
        });
    }

    private static String meaning(KeyDetails seen, boolean forget) {
        String owner = seen.leased()
                ? "; somebody has it until " + seen.leasedUntil() + " and is refused at the next step"
                : "";
        if (forget) {
            return "forget " + seen.key() + ", which is " + seen.state() + ": the next request with it is done from the"
                    + " beginning, "
                    + (seen.state() == KeyState.RUNNING
                            ? Counted.of(seen.steps(), "step") + " that " + (seen.steps() == 1 ? "was" : "were")
                                    + " done happen again"
                            : "and what it did happens again")
                    + owner;
        }
        return "release " + seen.key() + ": the next request with it goes on after "
                + (seen.steps() == 0
                        ? "none of its steps"
                        : Counted.of(seen.steps(), "step") + ", the last was " + seen.step())
                + owner;
    }

    private static KeyDetails find(IdempotencyKeys keys, IdempotencyKey key) {
        return keys.find(key)
                .orElseThrow(
                        () -> new CommandException(
                                ExitCode.NOT_FOUND,
                                "could not find " + key
                                        + keys.holder(key)
                                                .map(holder ->
                                                        ": its command of one transaction has not ended; " + holder)
                                                .orElse(
                                                        ": it was never used or has been purged; look at the scope and --tenant")));
    }

    private void print(KeyDetails key, OutputFormat format) {
        if (format == OutputFormat.TABLE) {
            KeyListing.facts(key).print(terminal, format);
        } else {
            KeyListing.of(List.of(key), format).print(terminal, format);
        }
    }

    private static @Nullable KeyState state(String word) {
        if (word.equals("all")) {
            return null;
        }
        return Stream.of(KeyState.values())
                .filter(each -> each.toString().equals(word))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "--state is '" + shown(word) + "', it must be running, completed, failed or all"
                                + Suggestion.didYouMean(word, List.of("running", "completed", "failed", "all"))));
    }

    private static IdempotencyKeys.Act act(Act operator) {
        return new IdempotencyKeys.Act(operator.actor(), operator.reason());
    }

    private static int told(java.util.function.IntSupplier work) {
        try {
            return work.getAsInt();
        } catch (PostroomException e) {
            if (USAGE.contains(e.code())) {
                throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
            }
            throw e;
        }
    }

    private static String shown(String text) {
        return Quoted.text(text, SHOWN_MAX);
    }

    private IdempotencyKeys open() {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom.idempotencyKeys();
    }
}
