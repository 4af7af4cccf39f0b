package io.postroom.archive;

import io.postroom.PostroomException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long messages stay in the outbox before their day is archived, and how long before it is dropped from the archive; null: never.
 * Both are counted from the end of the day, and a day that somebody needs stays however old it is.
 */
public record Retention(Duration archiveAfter, @Nullable Duration dropAfter) {
    public static final Duration ARCHIVE_AFTER_MIN = Duration.ofDays(1);
    public static final Duration AFTER_MAX = Duration.ofDays(36_500);

    /** Archived after a week, never dropped. */
    public static final Retention USUAL = new Retention(Duration.ofDays(7), null);

    public Retention {
        List<String> problems = problems(archiveAfter, dropAfter);
        if (!problems.isEmpty()) {
            throw new PostroomException(
                    "archive.retention-invalid", "could not use retention: " + String.join("; ", problems));
        }
    }

    /** Everything that is wrong with a retention; empty if nothing is. */
    public static List<String> problems(Duration archiveAfter, @Nullable Duration dropAfter) {
        List<String> problems = new ArrayList<>();
        if (archiveAfter.compareTo(ARCHIVE_AFTER_MIN) < 0 || archiveAfter.compareTo(AFTER_MAX) > 0) {
            problems.add("archive-after is " + days(archiveAfter) + ", the range is 1 to " + AFTER_MAX.toDays()
                    + " days; readers rely on yesterday being in the outbox");
        }
        if (dropAfter != null && dropAfter.compareTo(AFTER_MAX) > 0) {
            problems.add("drop-after is " + days(dropAfter) + ", the most is " + AFTER_MAX.toDays() + " days");
        }
        if (dropAfter != null && dropAfter.compareTo(archiveAfter) < 0) {
            problems.add("drop-after is " + days(dropAfter) + " and archive-after " + days(archiveAfter)
                    + "; only what is archived is dropped, so drop no earlier");
        }
        return problems;
    }

    private static String days(Duration after) {
        return after.toDays() > 0 && after.equals(Duration.ofDays(after.toDays()))
                ? after.toDays() + (after.toDays() == 1 ? " day" : " days")
                : after.toString();
    }

    /** The same, but that archived days are dropped. */
    public Retention dropAfter(Duration dropAfter) {
        return new Retention(archiveAfter, dropAfter);
    }
}
