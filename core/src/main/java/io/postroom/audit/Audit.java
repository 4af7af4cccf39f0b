package io.postroom.audit;

import io.postroom.PostroomException;
import io.postroom.postgres.Database;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The record of what operators did. An entry is written in the transaction of its act: both are there, or neither.
 *
 * <p>Safe for use by many threads.
 */
public final class Audit {
    public static final int ACTOR_LENGTH_MAX = 200;
    public static final int ACTION_LENGTH_MAX = 100;
    public static final int SUBJECT_LENGTH_MAX = 500;
    public static final int REASON_LENGTH_MAX = 1_000;
    public static final int DETAILS_LENGTH_MAX = 65_536;
    public static final int PAGE_MAX = 1_000;

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Database database;
    private final AuditTable table;

    public Audit(Database database) {
        this.database = database;
        this.table = new AuditTable(database.schema());
    }

    /**
     * Writes an entry in the caller's transaction.
     *
     * @param action noun and verb, as on the command line: {@code subscription pause}
     * @param subject what it was done to: {@code subscription billing}
     * @param details facts as a program reads them: strings, numbers, booleans, lists and maps of these
     */
    public void record(
            Connection tx, String actor, String action, String subject, String reason, Map<String, ?> details) {
        List<String> problems = problems(actor, reason);
        check(problems, "action", action, ACTION_LENGTH_MAX);
        check(problems, "subject", subject, SUBJECT_LENGTH_MAX);
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "audit.invalid", "could not record " + shown(action) + ": " + String.join("; ", problems));
        }
        table.insert(tx, new AuditTable.Act(actor, action, subject, reason), details(action, details));
    }

    /** What is wrong with an actor and a reason; empty if nothing is. */
    public static List<String> problems(String actor, String reason) {
        List<String> problems = new ArrayList<>();
        check(problems, "actor", actor, ACTOR_LENGTH_MAX);
        check(problems, "reason", reason, REASON_LENGTH_MAX);
        return problems;
    }

    /**
     * A page of entries, newest first.
     *
     * @param before the id of the last entry of the page before, or null for the first page
     */
    public List<AuditEntry> list(AuditFilter filter, @Nullable Long before, int limit) {
        if (limit < 1 || limit > PAGE_MAX) {
            throw new PostroomException(
                    "audit.page-invalid",
                    "could not list the audit: the page is " + limit + " entries, the range is 1 to " + PAGE_MAX);
        }
        return database.run(tx -> table.list(tx, filter, before, limit));
    }

    static void check(List<String> problems, String name, String value, int lengthMax) {
        int length = value.codePointCount(0, value.length());
        if (value.isBlank() || length > lengthMax) {
            problems.add(name + " is " + (value.isBlank() ? "empty" : length + " characters") + ", the range is 1 to "
                    + lengthMax);
        }
        if (value.codePoints().anyMatch(Character::isISOControl)) {
            problems.add(name + " has a control character, such as a line break; write it in one line");
        }
    }

    private static String details(String action, Map<String, ?> details) {
        try {
            String text = JSON.writeValueAsString(details);
            if (text.length() > DETAILS_LENGTH_MAX) {
                throw new PostroomException(
                        "audit.invalid",
                        "could not record " + shown(action) + ": details are " + text.length()
                                + " characters as JSON, the limit is " + DETAILS_LENGTH_MAX);
            }
            return text;
        } catch (JacksonException e) {
            throw new IllegalArgumentException("details of " + shown(action) + " cannot be written as JSON", e);
        }
    }

    private static String shown(String action) {
        String text = action.replaceAll("\\p{Cntrl}", "?");
        return "'" + (text.length() > 60 ? text.substring(0, 60) + "…" : text) + "'";
    }
}
