package io.postroom.diagnosis;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that is known about one message and one subscription.
 *
 * @param letters the dead letters of the message for this subscription, newest first
 * @param settlement when its lane was first known to be past it
 * @param head what holds up its key, if anything
 * @param skip where an operator skipped it, or may have
 * @param now the database's time
 */
record Facts(
        Found message,
        long position,
        DiagnosisTable.Target target,
        DiagnosisTable.@Nullable Delivery delivery,
        List<DiagnosisTable.Letter> letters,
        DiagnosisTable.Attempts attempts,
        DiagnosisTable.@Nullable Settlement settlement,
        DiagnosisTable.@Nullable KeyHead head,
        DiagnosisTable.@Nullable Skip skip,
        DiagnosisTable.JournalEnd end,
        Instant now) {

    /** How long ago a time was; never negative. */
    Duration since(Instant time) {
        Duration age = Duration.between(time, now);
        return age.isNegative() ? Duration.ZERO : age;
    }

    boolean isAhead(@Nullable Instant time) {
        return time != null && time.isAfter(now);
    }
}
