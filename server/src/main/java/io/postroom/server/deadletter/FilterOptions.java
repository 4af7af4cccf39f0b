package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.Cause;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Times;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which dead letters are meant: those that fit every option that is given. */
final class FilterOptions {
    static final String NAMES =
            "--subscription, --queue, --type, --tenant, --aggregate-type, --aggregate-id, --error-class,"
                    + " --fingerprint, --cause, --since or --until";

    private static final Pattern FINGERPRINT = Pattern.compile("[0-9a-f]{16}");

    @Option(names = "--subscription", paramLabel = "NAME", description = "Only those of this subscription.")
    private @Nullable String subscription;

    @Option(names = "--queue", paramLabel = "NAME", description = "Only jobs of this queue.")
    private @Nullable String queue;

    @Option(names = "--type", paramLabel = "TYPE", description = "Only this event type. May be given several times.")
    private List<String> eventTypes = List.of();

    @Option(names = "--tenant", paramLabel = "ID", description = "Only this tenant. May be given several times.")
    private List<String> tenants = List.of();

    @Option(names = "--aggregate-type", paramLabel = "TYPE", description = "Only this aggregate type.")
    private @Nullable String aggregateType;

    @Option(names = "--aggregate-id", paramLabel = "ID", description = "Only this aggregate.")
    private @Nullable String aggregateId;

    @Option(names = "--error-class", paramLabel = "CLASS", description = "Only this error class, such as http.503.")
    private @Nullable String errorClass;

    @Option(
            names = "--fingerprint",
            paramLabel = "HEX",
            description = "Only errors with this fingerprint, 16 digits; list --group-by error shows them.")
    private @Nullable String fingerprint;

    @Option(
            names = "--cause",
            paramLabel = "CAUSE",
            description = "Only rejected, exhausted or crashed; with list --resolved also skipped.")
    private @Nullable String cause;

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "Buried then or later: 2026-11-15T10:00:00Z, 15m or now-2h.")
    private @Nullable String since;

    @Option(names = "--until", paramLabel = "TIME", description = "Buried before then.")
    private @Nullable String until;

    /** The filter, with single ones if any are named. */
    DeadLetterFilter filter(List<Long> ids) {
        if (subscription != null && queue != null) {
            throw new CommandException(
                    ExitCode.USAGE, "could not use both --subscription and --queue: no dead letter has both; give one");
        }
        try {
            return DeadLetterFilter.builder()
                    .owner(queue == null ? subscription : queue)
                    .sources(sources())
                    .eventTypes(eventTypes)
                    .tenants(tenants)
                    .aggregateType(aggregateType)
                    .aggregateId(aggregateId)
                    .errorClass(errorClass)
                    .fingerprint(fingerprint())
                    .cause(cause())
                    .ids(ids)
                    .buriedFrom(Times.option("--since", since))
                    .buriedTo(Times.option("--until", until))
                    .build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
    }

    /**
     * The filter of an act that was asked for before: a time that is given as that long ago is another now, and meant the same then.
     */
    DeadLetterFilter again(DeadLetterFilter now, DeadLetterFilter before) {
        boolean sameSince = isAgo(since) && before.buriedFrom() != null;
        boolean sameUntil = isAgo(until) && before.buriedTo() != null;
        return DeadLetterFilter.builder()
                .owner(now.owner())
                .sources(now.sources())
                .eventTypes(now.eventTypes())
                .tenants(now.tenants())
                .aggregateType(now.aggregateType())
                .aggregateId(now.aggregateId())
                .errorClass(now.errorClass())
                .fingerprint(now.fingerprint())
                .cause(now.cause())
                .ids(now.ids())
                .buriedFrom(sameSince ? before.buriedFrom() : now.buriedFrom())
                .buriedTo(sameUntil ? before.buriedTo() : now.buriedTo())
                .build();
    }

    private Set<String> sources() {
        return queue != null ? DeadLetterFilter.JOBS : subscription != null ? DeadLetterFilter.SUBSCRIPTIONS : Set.of();
    }

    private static boolean isAgo(@Nullable String time) {
        return time != null && Times.isAgo(time);
    }

    private @Nullable String fingerprint() {
        if (fingerprint != null && !FINGERPRINT.matcher(fingerprint).matches()) {
            throw new CommandException(
                    ExitCode.USAGE,
                    "could not read --fingerprint: '" + Quoted.text(fingerprint, 40)
                            + "' is not a fingerprint, which has 16 hexadecimal digits; postroom deadletter list"
                            + " --group-by error shows them");
        }
        return fingerprint;
    }

    private @Nullable Cause cause() {
        if (cause == null) {
            return null;
        }
        List<String> words = Arrays.stream(Cause.values()).map(Cause::word).toList();
        return Arrays.stream(Cause.values())
                .filter(known -> known.word().equals(cause))
                .findFirst()
                .orElseThrow(() -> new CommandException(
                        ExitCode.USAGE,
                        "could not read --cause: '" + Quoted.text(cause, 20) + "' is none of " + words
                                + Suggestion.didYouMean(cause, words)));
    }
}
