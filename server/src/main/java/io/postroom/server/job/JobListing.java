package io.postroom.server.job;

import io.postroom.job.JobAttempt;
import io.postroom.job.JobDetails;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import io.postroom.server.terminal.Terminal;
import io.postroom.server.web.Payloads;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Jobs as they are printed. */
final class JobListing {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final String[] COLUMNS = {
        "id", "queue", "kind", "state", "waits", "priority", "attempt", "runAt", "worker", "endedAt", "error"
    };

    private JobListing() {}

    static Listing rows(List<JobDetails> jobs) {
        Listing listing = new Listing(COLUMNS);
        for (JobDetails job : jobs) {
            listing.row(
                    job.id(),
                    job.queue(),
                    job.kind(),
                    job.state().word(),
                    job.waits(),
                    job.priority(),
                    job.attempt(),
                    job.runAt(),
                    job.worker(),
                    job.endedAt(),
                    job.error());
        }
        return listing;
    }

    /** The same columns, of what pages list. */
    static Listing list(List<JobRow> jobs) {
        Listing listing = new Listing(COLUMNS);
        for (JobRow job : jobs) {
            listing.row(
                    job.id(),
                    job.queue(),
                    job.kind(),
                    job.state().word(),
                    job.waits(),
                    job.priority(),
                    job.attempt(),
                    job.runAt(),
                    job.worker(),
                    job.endedAt(),
                    job.error());
        }
        return listing;
    }

    static void show(
            Terminal terminal, JobDetails job, List<JobAttempt> attempts, Payloads shown, OutputFormat format) {
        if (format != OutputFormat.TABLE) {
            terminal.print(JSON.writeValueAsString(object(job, attempts, shown::carried)) + "\n");
            return;
        }
        Listing listing = new Listing("fact", "value");
        facts(job).forEach((fact, value) -> {
            if (value != null) {
                listing.row(fact, value);
            }
        });
        listing.print(terminal, format);
        if (!attempts.isEmpty()) {
            terminal.print("\n");
            Listing history = new Listing("attempt", "at", "took", "worker", "outcome", "errorClass", "error");
            attempts.forEach(each -> history.row(
                    each.attempt(),
                    each.at(),
                    each.duration(),
                    each.worker(),
                    each.outcome(),
                    each.errorClass(),
                    each.error()));
            history.print(terminal, format);
        }
        print(terminal, "PAYLOAD", job.payload(), shown);
        print(terminal, "PROGRESS", job.progress(), shown);
        print(terminal, "RESULT", job.result(), shown);
    }

    private static void print(Terminal terminal, String title, @Nullable String json, Payloads shown) {
        if (json != null) {
            terminal.print("\n" + title + "\n" + harmless(shown.readable(json)) + "\n");
        }
    }

    /** A job with its attempts as JSON has it, and with what is shown of what it carries. */
    static Map<String, @Nullable Object> object(
            JobDetails job, List<JobAttempt> attempts, Function<@Nullable String, @Nullable String> shown) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        facts(job).forEach((fact, value) -> object.put(fact, value instanceof Instant ? value.toString() : value));
        object.put("headers", job.headers());
        object.put("payload", json(shown.apply(job.payload())));
        object.put("result", json(shown.apply(job.result())));
        object.put("progress", json(shown.apply(job.progress())));
        object.put("attempts", attempts.stream().map(JobListing::attempt).toList());
        return object;
    }

    private static Map<String, @Nullable Object> facts(JobDetails job) {
        Map<String, @Nullable Object> facts = new LinkedHashMap<>();
        facts.put("id", job.id());
        facts.put("queue", job.queue());
        facts.put("kind", job.kind());
        facts.put("state", job.state().word());
        facts.put("waits", job.waits());
        facts.put("priority", job.priority());
        facts.put("tenantId", job.tenantId());
        facts.put("runAt", job.runAt());
        facts.put("attempt", job.attempt());
        facts.put("fence", job.fence());
        facts.put("worker", job.worker());
        facts.put("claimedAt", job.claimedAt());
        facts.put("cancelAskedAt", job.cancelAskedAt());
        facts.put("uniqueKey", job.uniqueKey());
        facts.put("batch", job.batch());
        facts.put("createdAt", job.createdAt());
        facts.put("endedAt", job.endedAt());
        facts.put("endedBy", job.endedBy());
        facts.put("errorClass", job.errorClass());
        facts.put("error", job.error());
        return facts;
    }

    private static Map<String, @Nullable Object> attempt(JobAttempt attempt) {
        Map<String, @Nullable Object> object = new LinkedHashMap<>();
        object.put("attempt", attempt.attempt());
        object.put("at", attempt.at().toString());
        object.put("seconds", attempt.duration().toMillis() / 1000.0);
        object.put("worker", attempt.worker());
        object.put("outcome", attempt.outcome());
        object.put("errorClass", attempt.errorClass());
        object.put("error", attempt.error());
        return object;
    }

    private static @Nullable JsonNode json(@Nullable String text) {
        return text == null ? null : JSON.readTree(text);
    }

    /** With nothing that a terminal would obey; JSON knows how to write it otherwise. */
    private static String harmless(String json) {
        return Quoted.text(json, json.length());
    }
}
