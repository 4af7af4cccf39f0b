package io.postroom.server.deadletter;

import io.postroom.PostroomException;
import io.postroom.deadletter.Cause;
import io.postroom.deadletter.DeadLetterFilter;
import io.postroom.server.terminal.CommandException;
import io.postroom.server.terminal.ExitCode;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Suggestion;
import io.postroom.server.terminal.Times;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Which dead letters are meant: those that fit every option that is given. */
final class FilterOptions {
    static final String NAMES = "--subscription, --type, --tenant, --aggregate-type, --aggregate-id, --error-class,"
            + " --fingerprint, --cause, --since or --until";

    @Option(names = "--subscription", paramLabel = "NAME", description = "Only those of this subscription.")
    private @Nullable String subscription;

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
            description = "Only errors with this fingerprint; list --group-by error shows them.")
    private @Nullable String fingerprint;

    @Option(names = "--cause", paramLabel = "CAUSE", description = "Only rejected, exhausted or crashed.")
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
        try {
            return DeadLetterFilter.builder()
                    .owner(subscription)
                    .eventTypes(eventTypes)
                    .tenants(tenants)
                    .aggregateType(aggregateType)
                    .aggregateId(aggregateId)
                    .errorClass(errorClass)
                    .fingerprint(fingerprint)
                    .cause(cause())
                    .ids(ids)
                    .buriedFrom(time("--since", since))
                    .buriedTo(time("--until", until))
                    .build();
        } catch (PostroomException e) {
            throw new CommandException(ExitCode.USAGE, e.getMessage(), e);
        }
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

    private static @Nullable Instant time(String option, @Nullable String text) {
        try {
            return text == null ? null : Times.parse(text, Instant.now());
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, "could not read " + option + ": " + e.getMessage(), e);
        }
    }
}
