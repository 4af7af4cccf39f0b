package io.postroom.server.job;

import io.postroom.Postroom;
import io.postroom.PostroomException;
import io.postroom.job.Enqueued;
import io.postroom.job.Job;
import io.postroom.job.JobBoard;
import io.postroom.job.JobDetails;
import io.postroom.job.JobFilter;
import io.postroom.job.JobState;
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
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.OutputOption;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import io.postroom.subscription.Act;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The jobs' commands: thin words around {@link JobBoard}. */
@Command(
        name = "job",
        description = "Look at jobs, enqueue, retry and cancel them, pause and resume their queues.",
        synopsisSubcommandLabel = "COMMAND")
public final class JobCommand {
    private final Terminal terminal;
    private final GlobalOptions options;

    public JobCommand(Terminal terminal, GlobalOptions options) {
        this.terminal = terminal;
        this.options = options;
    }

    @Command(
            name = "list",
            description =
                    "Show jobs, newest first: those that have not ended and those that have, as long as these are kept.",
            footer = {
                "%nExamples:",
                "  postroom job list --queue mail --state running",
                "  postroom job list --state failed --kind mail.send -o json"
            })
    int list(
            @Mixin OutputOption output,
            @Option(names = "--queue", paramLabel = "NAME", description = "Only of this queue.") @Nullable String queue,
            @Option(names = "--kind", paramLabel = "KIND", description = "Only of this kind.") @Nullable String kind,
            @Option(
                            names = "--state",
                            paramLabel = "STATE",
                            description = "Only those that are ready, running, done, failed or cancelled.")
                    @Nullable
                    String state,
            @Option(names = "--tenant", paramLabel = "ID", description = "Only of this tenant.") @Nullable
                    String tenant,
            @Option(names = "--batch", paramLabel = "ID", description = "Only of this batch.") @Nullable Long batch,
            @Mixin LimitOption limit,
            @Option(
                            names = "--before",
                            paramLabel = "ID",
                            description = "Go on after this one, the last of the page before.")
                    @Nullable
                    Long before) {
        int page = limit.page();
        JobFilter filter = new JobFilter(queue, kind, state == null ? null : state(state), tenant, batch);
        List<JobDetails> jobs = open().jobBoard().list(filter, before, page);
        JobListing.rows(jobs).print(terminal, output.format());
        if (jobs.size() >= page) {
            terminal.say(
                    "there may be more: --before " + jobs.get(jobs.size() - 1).id());
        }
        return ExitCode.OK;
    }

    private static JobState state(String word) {
        List<String> known =
                Arrays.stream(JobState.values()).map(JobState::word).toList();
        return Arrays.stream(JobState.values())
                .filter(state -> state.word().equals(word))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "could not read --state: '" + Quoted.text(word, 20) + "' is none of " + known
                                + Suggestion.didYouMean(word, known)));
    }

    @Command(
            name = "show",
            description = {
                "Show a job whole, with its payload and the attempts that did not end with it done.",
                "Values of payload, result and progress are masked unless they are shown to everybody or revealed."
            },
            footer = {
                "%nExamples:",
                "  postroom job show 42 -o json | jq .attempts",
                "  postroom job show 42 --reveal --reason 'ticket 4711' -o json | jq .payload"
            })
    int show(
            @Mixin OutputOption output,
            @Mixin RevealOptions revealing,
            @Parameters(paramLabel = "ID", description = "Its number, such as 42; job list shows them.") long id) {
        Reveal reveal = revealing.read(terminal);
        Postroom postroom = open();
        JobDetails job = postroom.jobBoard()
                .find(id)
                .orElseThrow(() -> new CommandException(
                        ExitCode.NOT_FOUND, "could not find job " + id + ": there is none, or it was forgotten"));
        Payloads shown = reveal.of(postroom, "job " + id, Map.of());
        JobListing.show(terminal, job, postroom.jobBoard().attempts(id), shown, output.format());
        Reveal.tell(terminal, shown);
        return ExitCode.OK;
    }

    @Command(
            name = "retry",
            description = {
                "Let jobs run now: one that failed comes back with its attempts counted anew, as a redrive of its dead letter"
                        + " does; one that waits for its time or its next attempt waits no longer."
            },
            footer = {"%nExample:", "  postroom job retry 42 43 --reason 'the mail server is back'"})
    int retry(
            @Mixin OperatorOptions operator,
            @Parameters(
                            arity = "1..100",
                            paramLabel = "ID",
                            description = "Their numbers, such as 42 43, 100 at most; job list shows them.")
                    List<Long> ids) {
        Act act = operator.act();
        JobBoard board = open().jobBoard();
        return each(
                ids,
                id -> "job " + id + " "
                        + board.retry(id, act.actor(), act.reason()).sentence());
    }

    @Command(
            name = "cancel",
            description = "End jobs that are not done: at once if they wait; the handler is told of those that run.",
            footer = {"%nExample:", "  postroom job cancel 42 --reason 'ordered by mistake'"})
    int cancel(
            @Mixin OperatorOptions operator,
            @Parameters(
                            arity = "1..100",
                            paramLabel = "ID",
                            description = "Their numbers, such as 42 43, 100 at most; job list shows them.")
                    List<Long> ids) {
        Act act = operator.act();
        JobBoard board = open().jobBoard();
        return each(
                ids,
                id -> "job " + id + " "
                        + board.cancel(id, act.actor(), act.reason()).sentence());
    }

    /** Goes on with the others if one cannot be. */
    private int each(List<Long> ids, LongFunction<String> act) {
        int failed = 0;
        int code = ExitCode.FAILURE;
        for (long id : ids) {
            try {
                terminal.say(act.apply(id));
            } catch (PostroomException e) {
                if (!e.code().startsWith("job.")) {
                    throw e;
                }
                terminal.say(e.getMessage());
                failed++;
                code = e.code().equals("job.unknown") ? ExitCode.NOT_FOUND : code;
            }
        }
        return failed == 0 ? ExitCode.OK : failed < ids.size() ? ExitCode.PARTIAL : code;
    }

    @Command(
            name = "enqueue",
            description = "Enqueue a job, and print its number.",
            footer = {
                "%nExamples:",
                "  postroom job enqueue mail.send '{\"to\":\"ann@example.org\"}' --queue mail",
                "  postroom job enqueue report.build --run-after 2h --unique monthly"
            })
    int enqueue(
            @Mixin OutputOption output,
            @Parameters(index = "0", paramLabel = "KIND", description = "What is to be done.") String kind,
            @Parameters(
                            index = "1",
                            arity = "0..1",
                            paramLabel = "PAYLOAD",
                            description = "JSON; an empty object unless given.")
                    @Nullable
                    String payload,
            @Option(names = "--queue", paramLabel = "NAME", description = "Where it waits; default unless given.")
                    @Nullable
                    String queue,
            @Option(
                            names = "--priority",
                            paramLabel = "N",
                            description = "0 to 999, smaller goes first; 100 unless given.")
                    @Nullable
                    Integer priority,
            @Option(names = "--run-at", paramLabel = "TIME", description = "Not before; such as 2026-11-15T10:00:00Z.")
                    @Nullable
                    String runAt,
            @Option(names = "--run-after", paramLabel = "DURATION", description = "Not before so long from now.")
                    @Nullable
                    Duration runAfter,
            @Option(names = "--tenant", paramLabel = "ID", description = "The tenant it is for.") @Nullable
                    String tenant,
            @Option(
                            names = "--unique",
                            paramLabel = "KEY",
                            description = "Only if no job of this kind and tenant with this key waits or runs.")
                    @Nullable
                    String unique,
            @Option(
                            names = "--retry",
                            paramLabel = "POLICY",
                            description = "A policy of its own, such as 'exponential first=1s attempts=8'.")
                    @Nullable
                    String retry,
            @Option(names = "--deadline", paramLabel = "DURATION", description = "For one attempt.") @Nullable
                    Duration deadline) {
        Job.Builder job = Job.of(kind, payload == null ? "{}" : payload).tenantId(tenant);
        if (queue != null) {
            job.queue(queue);
        }
        if (priority != null) {
            job.priority(priority);
        }
        if (runAt != null) {
            job.runAt(time(runAt));
        }
        if (runAfter != null) {
            job.runAfter(runAfter);
        }
        if (unique != null) {
            job.unique(unique);
        }
        if (retry != null) {
            job.retry(retry);
        }
        if (deadline != null) {
            job.deadline(deadline);
        }
        Postroom postroom = open();
        Enqueued enqueued;
        try {
            enqueued = postroom.database().transact(tx -> postroom.jobs().offer(tx, job.build()));
        } catch (PostroomException e) {
            throw e.code().startsWith("job.") ? new CommandException(ExitCode.USAGE, e.getMessage()) : e;
        }
        if (enqueued.skipped()) {
            terminal.say("nothing was enqueued: job " + enqueued.id() + " has the unique key already");
        }
        if (output.format() == OutputFormat.TABLE) {
            terminal.print(enqueued.id() + "\n");
        } else {
            terminal.print("{\"id\":" + enqueued.id() + ",\"skipped\":" + enqueued.skipped() + "}\n");
        }
        return ExitCode.OK;
    }

    private static Instant time(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not read --run-at: '" + Quoted.text(text, 40)
                            + "' is not a time; write 2026-11-15T10:00:00Z");
        }
    }

    private Postroom open() {
        return open(terminal, options);
    }

    /** The database that the options name, with a schema that fits. */
    static Postroom open(Terminal terminal, GlobalOptions options) {
        DatabaseUrl url = DatabaseUrl.find(options.url(), terminal.environment());
        Postroom postroom = Postroom.builder(Connections.single(url, Connections.SHORT))
                .schema(SchemaChoice.of(options.schema(), terminal.environment())
                        .name())
                .build();
        SchemaCheck.require(postroom, terminal);
        return postroom;
    }
}
