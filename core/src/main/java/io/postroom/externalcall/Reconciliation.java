package io.postroom.externalcall;

import io.postroom.PostroomException;
import io.postroom.audit.Audit;
import io.postroom.postgres.Database;
import io.postroom.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Ends a call as somebody says who has looked at the provider. The end and its audit entry are one transaction. */
final class Reconciliation {
    private final Database database;
    private final Audit audit;
    private final ExternalCallTable table;
    private final Telemetry telemetry;

    Reconciliation(Database database, Audit audit, ExternalCallTable table, Telemetry telemetry) {
        this.database = database;
        this.audit = audit;
        this.table = table;
        this.telemetry = telemetry;
    }

    ExternalCall reconcile(String key, CallState outcome, @Nullable String reference, String actor, String reason) {
        check(key, outcome, reference, actor, reason);
        return database.transactPromptly(tx -> {
            ExternalCallTable.Locked locked = table.lock(tx, key, Duration.ZERO)
                    .orElseThrow(() -> new PostroomException(
                            "externalcall.unknown",
                            "could not reconcile external call " + shown(key)
                                    + ": there is none with this key; postroom externalcall list shows them"));
            ExternalCall call = locked.call();
            if (call.state() == outcome && (reference == null || reference.equals(call.reference()))) {
                return call;
            }
            requireOpen(locked);
            ExternalCallTable.End end = new ExternalCallTable.End(outcome, reference, reason);
            ExternalCall ended = table.reconcile(tx, key, end);
            audit.record(tx, actor, "externalcall reconcile", "externalcall " + key, reason, details(call, end));
            telemetry.externalCall(call.operation().name(), "reconciled");
            return ended;
        });
    }

    private static void requireOpen(ExternalCallTable.Locked locked) {
        ExternalCall call = locked.call();
        if (call.state().isFinal()) {
            throw refused(
                    "ended",
                    call,
                    "it is " + call.state().word() + " since " + call.endedAt()
                            + ", and that is final; "
                            + (call.state() == CallState.DECLINED
                                    ? "begin the next revision if it must be tried again"
                                    : "to take it back at the provider is an operation of its own"));
        }
        if (locked.leased()) {
            throw refused(
                    "is-calling",
                    call,
                    "attempt " + call.attempts() + " may call until " + call.leasedUntil() + "; wait until then");
        }
    }

    private static Map<String, Object> details(ExternalCall call, ExternalCallTable.End end) {
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("from", call.state().word());
        details.put("to", end.state().word());
        details.put("attempts", call.attempts());
        if (end.reference() != null) {
            details.put("reference", end.reference());
        }
        return details;
    }

    private static void check(String key, CallState outcome, @Nullable String reference, String actor, String reason) {
        List<String> problems = new ArrayList<>(Audit.problems(actor, reason));
        if (!outcome.isFinal()) {
            problems.add("the outcome is " + outcome.word() + ", it must be done or declined");
        }
        if (reference != null && outcome == CallState.DECLINED) {
            problems.add("what was declined has no reference; leave it out, or say that it is done");
        }
        if (reference != null
                && (reference.isBlank()
                        || reference.length() > ExternalCalls.REFERENCE_LENGTH_MAX
                        || reference.chars().anyMatch(Character::isISOControl))) {
            problems.add("the reference is " + reference.length() + " characters, it must be 1 to "
                    + ExternalCalls.REFERENCE_LENGTH_MAX + " without control characters");
        }
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "externalcall.reconciliation-invalid",
                    "could not reconcile external call " + shown(key) + ": " + String.join("; ", problems));
        }
    }

    private static PostroomException refused(String code, ExternalCall call, String fact) {
        return new PostroomException(
                "externalcall." + code, "could not reconcile external call " + call.key() + ": " + fact);
    }

    private static String shown(String key) {
        String text = key.replaceAll("\\p{C}", "?");
        return text.length() > ExternalOperation.KEY_LENGTH_MAX
                ? text.substring(0, ExternalOperation.KEY_LENGTH_MAX) + "…"
                : text;
    }
}
