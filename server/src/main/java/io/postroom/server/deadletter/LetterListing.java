package io.postroom.server.deadletter;

import io.postroom.deadletter.Burial;
import io.postroom.deadletter.DeadLetter;
import io.postroom.deadletter.DeadLetterGroup;
import io.postroom.deadletter.DeadLetterRow;
import io.postroom.deadletter.GroupBy;
import io.postroom.deadletter.PatchPreview;
import io.postroom.deadletter.Redrive;
import io.postroom.deadletter.RedrivePlan;
import io.postroom.deadletter.RedriveRequest;
import io.postroom.deadletter.Resolution;
import io.postroom.deadletter.ResolvedLetter;
import io.postroom.message.Message;
import io.postroom.server.terminal.Listing;
import io.postroom.server.terminal.OutputFormat;
import io.postroom.server.terminal.Quoted;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Dead letters, their groups and redrives as listings. A table shows less than JSON: it has to fit a screen. */
final class LetterListing {
    private static final int ERROR_LENGTH_MAX = 60;

    /** Of a dead letter as JSON. */
    private static final List<String> COLUMNS = List.of(
            "id",
            "subscription",
            "position",
            "messageId",
            "tenantId",
            "aggregateType",
            "aggregateId",
            "eventType",
            "cause",
            "attempts",
            "errorClass",
            "error",
            "fingerprint",
            "buriedAt",
            "buriedBy");

    private LetterListing() {}

    static Listing rows(List<DeadLetterRow> rows, OutputFormat format) {
        if (format == OutputFormat.TABLE) {
            Listing table = new Listing(
                    "id",
                    "subscription",
                    "eventType",
                    "aggregateType",
                    "aggregateId",
                    "cause",
                    "attempts",
                    "error",
                    "buriedAt");
            rows.forEach(row -> table.row(
                    row.id(),
                    row.owner(),
                    row.eventType(),
                    row.key().aggregateType(),
                    row.key().aggregateId(),
                    row.burial().cause().word(),
                    row.burial().attempts(),
                    cut(row.burial().error()),
                    row.burial().buriedAt()));
            return table;
        }
        Listing listing = new Listing(COLUMNS.toArray(String[]::new));
        rows.forEach(row -> listing.row(values(row).toArray()));
        return listing;
    }

    static Listing resolved(List<ResolvedLetter> rows, OutputFormat format) {
        if (format == OutputFormat.TABLE) {
            Listing table = new Listing(
                    "id",
                    "subscription",
                    "eventType",
                    "aggregateType",
                    "aggregateId",
                    "error",
                    "buriedAt",
                    "resolution",
                    "resolvedAt",
                    "resolvedBy");
            rows.forEach(row -> table.row(
                    row.letter().id(),
                    row.letter().owner(),
                    row.letter().eventType(),
                    row.letter().key().aggregateType(),
                    row.letter().key().aggregateId(),
                    cut(row.letter().burial().error()),
                    row.letter().burial().buriedAt(),
                    row.action().resolution(),
                    row.at(),
                    row.by()));
            return table;
        }
        List<String> columns = new ArrayList<>(COLUMNS);
        columns.addAll(List.of("resolution", "resolvedAt", "resolvedBy", "redrive", "patched"));
        Listing listing = new Listing(columns.toArray(String[]::new));
        for (ResolvedLetter row : rows) {
            List<@Nullable Object> values = values(row.letter());
            values.add(row.action().resolution());
            values.add(row.at());
            values.add(row.by());
            values.add(row.redrive());
            values.add(row.patched());
            listing.row(values.toArray());
        }
        return listing;
    }

    private static List<@Nullable Object> values(DeadLetterRow row) {
        List<@Nullable Object> values = new ArrayList<>();
        values.add(row.id());
        values.add(row.owner());
        values.add(row.position());
        values.add(row.messageId());
        values.add(row.key().tenantId());
        values.add(row.key().aggregateType());
        values.add(row.key().aggregateId());
        values.add(row.eventType());
        values.add(row.burial().cause().word());
        values.add(row.burial().attempts());
        values.add(row.burial().errorClass());
        values.add(row.burial().error());
        values.add(row.burial().fingerprint());
        values.add(row.burial().buriedAt());
        values.add(row.burial().buriedBy());
        return values;
    }

    static Listing groups(List<DeadLetterGroup> groups, Set<GroupBy> by, OutputFormat format) {
        List<String> columns = new ArrayList<>();
        by.forEach(dimension -> columns.addAll(columns(dimension)));
        columns.addAll(
                List.of("letters", "keys", "tenants", "firstBuriedAt", "lastBuriedAt", "sampleId", "sampleError"));
        List<String> distinct = columns.stream().distinct().toList();
        Listing listing = new Listing(distinct.toArray(String[]::new));
        for (DeadLetterGroup group : groups) {
            Map<String, @Nullable Object> values = values(group);
            values.put("sampleError", format == OutputFormat.TABLE ? cut(group.sampleError()) : group.sampleError());
            listing.row(distinct.stream().map(values::get).toArray());
        }
        return listing;
    }

    private static List<String> columns(GroupBy by) {
        return switch (by) {
            case ERROR -> List.of("errorClass", "fingerprint");
            case TYPE -> List.of("eventType");
            case OWNER -> List.of("subscription");
            case TENANT -> List.of("tenantId");
            case KEY -> List.of("tenantId", "aggregateType", "aggregateId");
            case CAUSE -> List.of("cause");
        };
    }

    private static Map<String, @Nullable Object> values(DeadLetterGroup group) {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        values.put("subscription", group.owner());
        values.put("eventType", group.eventType());
        values.put("errorClass", group.errorClass());
        values.put("fingerprint", group.fingerprint());
        values.put("cause", group.cause() == null ? null : group.cause().word());
        values.put("tenantId", group.tenantId());
        values.put("aggregateType", group.aggregateType());
        values.put("aggregateId", group.aggregateId());
        values.put("letters", group.letters());
        values.put("keys", group.keys());
        values.put("tenants", group.tenants());
        values.put("firstBuriedAt", group.firstBuriedAt());
        values.put("lastBuriedAt", group.lastBuriedAt());
        values.put("sampleId", group.sampleId());
        return values;
    }

    /** One dead letter for people, without its payload. */
    static Listing facts(DeadLetter letter) {
        return facts(letter, true);
    }

    /** The same, with a row for each header or without. */
    static Listing facts(DeadLetter letter, boolean headers) {
        Message message = letter.message();
        Burial burial = letter.burial();
        Resolution resolution = letter.resolution();
        Listing listing = new Listing("field", "value")
                .row("id", letter.id())
                .row("source", letter.source())
                .row("subscription", letter.owner())
                .row("position", letter.position())
                .row("messageId", message.id())
                .row("tenantId", message.tenantId())
                .row("aggregateType", message.aggregateType())
                .row("aggregateId", message.aggregateId())
                .row("aggregateVersion", message.aggregateVersion())
                .row("eventType", message.eventType())
                .row("eventVersion", message.eventVersion())
                .row("occurredAt", message.occurredAt())
                .row("availableAt", message.availableAt());
        if (headers) {
            new TreeMap<>(message.headers()).forEach((name, value) -> listing.row("header " + name, value));
        }
        listing.row("cause", burial.cause().word())
                .row("attempts", burial.attempts())
                .row("errorClass", burial.errorClass())
                .row("error", burial.error())
                .row("fingerprint", burial.fingerprint())
                .row("buriedAt", burial.buriedAt())
                .row("buriedBy", burial.buriedBy())
                .row("origin", letter.origin())
                .row(
                        "resolution",
                        resolution == null ? "open" : resolution.action().resolution());
        if (resolution != null) {
            listing.row("resolvedAt", resolution.at())
                    .row("resolvedBy", resolution.by())
                    .row("redrive", resolution.redrive());
        }
        return listing;
    }

    static Listing redrives(List<Redrive> redrives, OutputFormat format) {
        boolean table = format == OutputFormat.TABLE;
        Listing listing = table
                ? new Listing("id", "action", "state", "total", "done", "skipped", "actor", "createdAt", "note")
                : new Listing(
                        "id",
                        "action",
                        "state",
                        "total",
                        "done",
                        "skipped",
                        "skips",
                        "rate",
                        "canary",
                        "actor",
                        "reason",
                        "createdAt",
                        "endedAt",
                        "note");
        for (Redrive redrive : redrives) {
            RedriveRequest request = redrive.request();
            if (table) {
                listing.row(
                        request.id(),
                        request.action().word(),
                        redrive.state().word(),
                        redrive.total(),
                        redrive.done(),
                        redrive.skipped(),
                        request.actor(),
                        redrive.createdAt(),
                        redrive.note() == null ? null : cut(redrive.note()));
            } else {
                listing.row(
                        request.id(),
                        request.action().word(),
                        redrive.state().word(),
                        redrive.total(),
                        redrive.done(),
                        redrive.skipped(),
                        skips(redrive),
                        request.rate(),
                        request.canary(),
                        request.actor(),
                        request.reason(),
                        redrive.createdAt(),
                        redrive.endedAt(),
                        redrive.note());
            }
        }
        return listing;
    }

    private static List<Map<String, Object>> skips(Redrive redrive) {
        return redrive.skips().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(skip -> Map.<String, Object>of("reason", skip.getKey(), "letters", skip.getValue()))
                .toList();
    }

    static Listing plan(
            RedrivePlan plan, @Nullable Duration duration, List<PatchPreview> previews, OutputFormat format) {
        List<String> columns = new ArrayList<>(List.of(
                "letters",
                "lettersExact",
                "keys",
                "tenants",
                "orderConflicts",
                "orderConflictsExact",
                "firstBuriedAt",
                "lastBuriedAt",
                "estimatedSeconds"));
        List<@Nullable Object> values = new ArrayList<>();
        values.add(plan.letters());
        values.add(plan.exact());
        values.add(plan.keys());
        values.add(plan.tenants());
        values.add(plan.conflicts().keys());
        values.add(plan.conflicts().exact());
        values.add(plan.firstBuriedAt());
        values.add(plan.lastBuriedAt());
        values.add(duration);
        if (format != OutputFormat.TABLE && !previews.isEmpty()) {
            columns.add("samples");
            values.add(previews.stream().map(LetterListing::sample).toList());
        }
        return new Listing(columns.toArray(String[]::new)).row(values.toArray());
    }

    private static Map<String, @Nullable Object> sample(PatchPreview preview) {
        Map<String, @Nullable Object> sample = new LinkedHashMap<>();
        sample.put("id", preview.id());
        sample.put("problem", preview.problem());
        sample.put("diff", preview.diff());
        return sample;
    }

    private static String cut(String error) {
        return Quoted.text(error, ERROR_LENGTH_MAX);
    }
}
